package alloc

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestReplayTakesPrivatePoolsFromMarks(t *testing.T) {
	marks := map[int]string{1: "1.0", 2: "2.0", 3: "1.0", 4: "", 5: "not a pool"}
	for name, c := range map[string]struct {
		marked bool
		want   unit.Bytes
	}{
		"all from the default pool":               {false, 2 * unit.MiB},
		"a small segment for each of three pools": {true, 6 * unit.MiB},
	} {
		tp := &tape.Tape{}
		for i := range 6 {
			if pool, ok := marks[i]; ok && c.marked {
				tp.Marks = append(tp.Marks, tape.Mark{Event: i, Kind: tape.MarkPool, Name: pool})
			}
			tp.Append(tape.Event{Kind: tape.Alloc, Block: tape.NoBlock, Bytes: 1000})
		}
		line, err := Replay(tp, Settings{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := line.Devices[0].Peak.Reserved; got != c.want {
			t.Errorf("%s: reserved %s, want %s", name, got, c.want)
		}
		if got := len(line.Segments(0, 1)); c.marked && got != 2 {
			t.Errorf("%s: %d segments after event 1, want 2", name, got)
		}
	}
}
