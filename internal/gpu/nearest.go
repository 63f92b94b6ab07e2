package gpu

import (
	"cmp"
	"slices"
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
	type near struct {
		card     Card
		distance int
	}
	var found []near
	for _, c := range table() {
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
		if best <= max(1, len(want)/3) {
			found = append(found, near{c, best})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var cards []Card
	for _, n := range found[:min(3, len(found))] {
		cards = append(cards, n.card)
	}
	return cards
}
