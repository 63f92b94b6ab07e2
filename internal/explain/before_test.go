package explain_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// The recording of a whole step begins when the model is there already: its
// weights are as large as their gradients, and as each of AdamW's states.
func TestParametersFromBeforeTheRecording(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	e := explain.Explain(inputs(read(t, filepath.Join(dir, "snapshots", "002-fullstep-settings-annotations.pickle")))[0])
	c := e.Moment.ByCategory
	near := func(a, b unit.Bytes) bool { return (a-b)*100 < a && (b-a)*100 < a }
	if !near(c[tape.Parameter], c[tape.Gradient]) || !near(2*c[tape.Parameter], c[tape.OptimizerState]) || c[tape.Unknown]*100 > e.Moment.Requested {
		t.Errorf("%v", c)
	}
}

func TestBlocksFromBeforeThatMatchNothingStayUnknown(t *testing.T) {
	tp := &tape.Tape{}
	for i := range 4 {
		at := uint64(1+i) << 30
		tp.AddInitial(tape.Segment{Addr: at, Bytes: 20 * unit.MiB, Blocks: []tape.SegmentBlock{
			{Addr: at, Bytes: 20 * unit.MiB, Requested: 20*unit.MiB - unit.Bytes(i), State: tape.Active, Block: tape.NoBlock},
		}})
	}
	backward := tp.InternSite([]tape.Frame{{Name: "torch::autograd::Engine::evaluate_function"}, {Name: "main", File: "train.py", Line: 3}})
	step := tp.InternSite([]tape.Frame{{Name: "step", File: "site-packages/torch/optim/sgd.py", Line: 3}})
	tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 30 * unit.MiB, Site: backward})
	tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 512, Site: step})
	e := explain.Explain(explain.Input{Tape: tp})
	if got := e.Peak.ByCategory[tape.Parameter]; got != 0 {
		t.Errorf("%d bytes are taken for parameters", got)
	}
	if got := e.Peak.ByCategory[tape.Gradient]; got != 30*unit.MiB {
		t.Errorf("gradients %d of %v", got, e.Peak.ByCategory)
	}
}
