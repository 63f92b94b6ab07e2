package spelling

import (
	"cmp"
	"slices"
)

// Closest are at most three of a list, the closest first: those that are as far from a
// name as a third of its bytes at most, or as one.
func Closest[T any](name string, list []T, distance func(T) int) []T {
	type near struct {
		of       T
		distance int
	}
	var found []near
	for _, x := range list {
		if d := distance(x); d <= max(1, len(name)/3) {
			found = append(found, near{x, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var out []T
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.of)
	}
	return out
}
