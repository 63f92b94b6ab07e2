package family

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/spelling"
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
		d := spelling.Distance(want, have)
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
