package main

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// checkedTape differs from what was recorded in so many events.
func checkedTape(off int) *symbolic.Tape {
	return &symbolic.Tape{Checked: []symbolic.Check{{Events: 100, Equal: 100}, {Events: 100, Equal: 100 - off}}}
}

// A tape that was made anew takes the place of one only if it differs less.
func TestBetter(t *testing.T) {
	t.Parallel()
	rw, err := readRow("../families/llama.json")
	if err != nil {
		t.Fatal(err)
	}
	v := planOf(rw, "base")[0]
	for _, c := range []struct {
		was, is int
		found   bool
		taken   bool
	}{
		{was: 0, is: 0},
		{was: 4, is: 0, found: true, taken: true},
		{was: 4, is: 4, found: true},
		{was: 4, is: 8, found: true},
	} {
		all := symbolic.NewCollection()
		all.Add(v.key(), checkedTape(c.was))
		if got := inexactly(all, v.key()); got != c.found {
			t.Errorf("%d events off: found %v", c.was, got)
		}
		list, _ := better(all, []variant{v}, []*symbolic.Tape{checkedTape(c.is)})
		if got := len(list) == 1; got != c.taken {
			t.Errorf("%d events off instead of %d: taken %v", c.is, c.was, got)
		}
	}
	if list, _ := better(symbolic.NewCollection(), []variant{v}, []*symbolic.Tape{nil}); len(list) > 0 {
		t.Error("a tape that could not be made is taken")
	}
}
