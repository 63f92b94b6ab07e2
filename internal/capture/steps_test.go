package capture

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func TestEachStepHasItsOwnPeak(t *testing.T) {
	tp := &tape.Tape{}
	brief := func(bytes unit.Bytes) {
		b := tape.BlockID(tp.Blocks())
		tp.Append(tape.Event{Kind: tape.Alloc, Block: tape.NoBlock, Bytes: bytes})
		tp.Append(tape.Event{Kind: tape.FreeRequested, Block: b})
		tp.Append(tape.Event{Kind: tape.Free, Block: b})
	}
	mark := func(kind tape.MarkKind, value int64) {
		tp.Marks = append(tp.Marks, tape.Mark{Event: tp.Len(), Kind: kind, Value: value})
	}
	brief(90 * unit.MiB) // while the model is built
	mark(tape.MarkPhase, int64(tape.Forward))
	brief(60 * unit.MiB) // in the first step
	mark(tape.MarkStep, 1)
	brief(30 * unit.MiB)
	mark(tape.MarkPhase, int64(tape.Forward))
	mark(tape.MarkStep, 2)
	brief(80 * unit.MiB) // after the last

	r := Recording{Recording: &attribute.Recording{Tape: tp}, steps: []helperStep{{Step: 1, Allocated: 90 * unit.MiB}, {Step: 2, Allocated: 90 * unit.MiB}}}
	a, err := whatif.New("", "2.15.0")
	if err != nil {
		t.Fatal(err)
	}
	r.again(Options{Card: Card{Capacity: unit.GiB}}, a)
	got := r.stepPeaks(a)
	if len(got) != 2 || got[0].Allocated != 60*unit.MiB || got[1].Allocated != 30*unit.MiB || got[1].Reserved < 90*unit.MiB {
		t.Errorf("got %+v", got)
	}
	r.steps = append(r.steps, helperStep{Step: 3, Allocated: 90 * unit.MiB})
	if got := r.stepPeaks(a); got[0].Allocated != 90*unit.MiB {
		t.Errorf("with a mark too few: %+v", got)
	}
	r.steps = r.steps[:2]
	r.again(Options{Card: Card{Capacity: 100 * unit.MiB}}, a)
	if r.room != whatif.Endless {
		t.Errorf("a recording that fits was replayed in %s", r.room)
	}
}

// TestStepsAreReplayedAsTheWhole asks for what fits only where the cache is given
// back: the steps' peaks are of the same replay.
func TestStepsAreReplayedAsTheWhole(t *testing.T) {
	tp := &tape.Tape{}
	for step, bytes := range []unit.Bytes{60 * unit.MiB, 70 * unit.MiB, 80 * unit.MiB} {
		if step == 0 {
			tp.Marks = append(tp.Marks, tape.Mark{Kind: tape.MarkPhase, Value: int64(tape.Forward)})
		}
		b := tape.BlockID(tp.Blocks())
		tp.Append(tape.Event{Kind: tape.Alloc, Block: tape.NoBlock, Bytes: bytes})
		tp.Append(tape.Event{Kind: tape.FreeRequested, Block: b})
		tp.Append(tape.Event{Kind: tape.Free, Block: b})
		tp.Marks = append(tp.Marks, tape.Mark{Event: tp.Len(), Kind: tape.MarkStep, Value: int64(step + 1)})
	}
	r := Recording{Recording: &attribute.Recording{Tape: tp}, steps: []helperStep{{Step: 1}, {Step: 2}, {Step: 3}}}
	a, err := whatif.New("", "2.15.0")
	if err != nil {
		t.Fatal(err)
	}
	r.again(Options{Card: Card{Capacity: 100 * unit.MiB}}, a)
	steps := r.stepPeaks(a)
	if len(steps) != 3 || r.replay.Reserved > 100*unit.MiB || steps[2].Reserved != r.replay.Reserved {
		t.Errorf("%+v, and of the whole %s", steps, r.replay.Reserved)
	}
}
