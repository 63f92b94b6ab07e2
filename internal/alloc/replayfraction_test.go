package alloc

import (
	"math"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Two blocks of 100 MiB, one after the other; the limit admits one.
func TestReplayFollowsTheShareOfMemory(t *testing.T) {
	for name, c := range map[string]struct {
		capacity unit.Bytes
		share    float64
		fails    bool
	}{
		"a share that is too small":         {unit.GiB - 24*unit.MiB, 0.15, true},
		"a share that is large enough":      {unit.GiB - 24*unit.MiB, 0.25, false},
		"the context counts for the share":  {unit.GiB - 24*unit.MiB, 200.0 / 1024, false},
		"another card's memory":             {2*unit.GiB - 24*unit.MiB, 0.15, false},
		"without end, that of the recorded": {0, 0.15, true},
		"what is no share":                  {0, math.NaN(), false},
	} {
		tp := &tape.Tape{Meta: map[string]string{"capacity_bytes": "1073741824", "context_bytes": "25165824"}}
		tp.Marks = append(tp.Marks, tape.Mark{Kind: tape.MarkFraction, Value: int64(math.Float64bits(c.share))})
		for range 2 {
			tp.Append(tape.Event{Kind: tape.Alloc, Block: tape.NoBlock, Bytes: 100 * unit.MiB})
		}
		l, err := Replay(tp, Settings{}, c.capacity)
		if err != nil {
			t.Fatal(err)
		}
		if failed := l.OOM != nil; failed != c.fails {
			t.Errorf("%s: out of memory is %v, want %v", name, failed, c.fails)
		}
	}
}
