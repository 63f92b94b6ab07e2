package family

import (
	"cmp"
	"slices"
	"strings"
)

// longestName is the longest text that is compared with names: a longer one
// is no misspelling.
const longestName = 80

// Nearest returns at most three of the names that are close to name, the
// closest first.
func Nearest(name string, names []string) []string {
	want := compact(name)
	if want == "" || len(want) > longestName {
		return nil
	}
	type near struct {
		name     string
		distance int
	}
	var found []near
	for _, n := range names {
		have := compact(n)
		d := editDistance(want, have)
		if d <= max(1, len(want)/3) {
			found = append(found, near{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.name)
	}
	return out
}

// compact drops what people leave out or write differently.
func compact(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// editDistance is the number of bytes to insert, delete or replace to turn a
// into b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
