package gpu

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/spelling"
)

// nearest returns at most three cards whose spelling is close to name, the
// closest first, and none when nothing is close.
func nearest(name string) []Card {
	want := strings.Join(significant(chunks(name)), "")
	if want == "" || len(want) > longestName {
		return nil
	}
	words, _ := wordsOf(name)
	return spelling.Closest(want, table(), func(c Card) int {
		best := len(want)
		if covers(words, strings.Fields(c.Family)) {
			best = 1 // the family with a word too many: "3080 laptop"
		}
		for _, written := range []string{c.Family, c.Name, c.DeviceName} {
			have := strings.Join(significant(chunks(written)), "")
			if have != "" {
				best = min(best, spelling.Distance(want, have))
			}
		}
		return best
	})
}
