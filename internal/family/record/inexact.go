package main

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// unlike is how far a tape is from what was recorded: the events in which its checks
// differ, and its formulas that are approximations.
func unlike(t *symbolic.Tape) (events, approximate int) {
	for _, c := range t.Checked {
		events += c.Events - c.Equal
	}
	t.EachOp(func(op *symbolic.Op) {
		if op.Error > 0 {
			approximate++
		}
	})
	return events, approximate
}

// inexactly reports whether the collection has a tape that differs from what was
// recorded.
func inexactly(c *symbolic.Collection, key string) bool {
	if !slices.Contains(c.Keys, key) {
		return false
	}
	t, err := c.Tape(key)
	if err != nil {
		return true
	}
	events, approximate := unlike(t)
	return events+approximate > 0
}

// closer reports whether a tape differs less from what was recorded than another.
func closer(t, than *symbolic.Tape) bool {
	events, approximate := unlike(t)
	eventsThan, approximateThan := unlike(than)
	return events < eventsThan || events == eventsThan && approximate < approximateThan
}

// better leaves, of tapes made anew, those that are closer to what was recorded than
// the collection's.
func better(c *symbolic.Collection, list []variant, tapes []*symbolic.Tape) ([]variant, []*symbolic.Tape) {
	var variants []variant
	var kept []*symbolic.Tape
	for i, t := range tapes {
		if t == nil {
			continue
		}
		if was, err := c.Tape(list[i].key()); err == nil && !closer(t, was) {
			continue
		}
		variants, kept = append(variants, list[i]), append(kept, t)
	}
	return variants, kept
}
