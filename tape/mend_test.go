package tape_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// Recordings that lack a free are mended, and frees of nothing are left out.
func TestMend(t *testing.T) {
	var b tape.Builder
	for i, c := range []struct {
		kind        tape.Kind
		addr        uint64
		freed, left bool
	}{
		{tape.Alloc, 1, false, false},
		{tape.Alloc, 1, true, false},
		{tape.Free, 2, false, true},
		{tape.Free, 1, false, false},
		{tape.Free, 1, false, true},
	} {
		freed, left, err := b.Mend(tape.Event{Kind: c.kind, Addr: c.addr, Bytes: 512})
		if err != nil || freed != c.freed || left != c.left {
			t.Errorf("event %d: freed %v, left %v, %v", i, freed, left, err)
		}
	}
	if n := b.Tape().Len(); n != 4 {
		t.Errorf("%d events, want the first block's free among them", n)
	}
}
