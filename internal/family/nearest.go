package family

import (
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
	return spelling.Closest(want, names, func(n string) int { return spelling.Distance(want, compact(n)) })
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
