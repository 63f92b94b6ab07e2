package corpus

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A training is a made-up run of a small language model: enough of its shape
// (weights that stay, activations that pile up and go, optimizer state that
// arrives in the first step) for a chart to look like one.
type training struct {
	tape   *tape.Tape
	addr   uint64
	held   unit.Bytes // segments
	used   unit.Bytes // of the held
	clock  int64
	phase  tape.Phase
	layers int
	hidden unit.Bytes // bytes of one hidden state
}

// Training returns the tape of three steps with so many layers, on device 0.
// tokens scale the activations.
func Training(layers, tokens int) *tape.Tape {
	t := &training{
		tape: &tape.Tape{}, addr: 0x7f0000000000, clock: 1_700_000_000_000_000,
		layers: layers, hidden: unit.Bytes(tokens) * 2048 * 2,
	}
	t.run()
	return t.tape
}

func (t *training) run() {
	t.enterPhase(tape.Load)
	weights := t.load()
	var state []tape.BlockID
	for step := 1; step <= 3; step++ {
		t.enterPhase(tape.Forward)
		input := t.alloc(t.hidden/2048, tape.Input, "train.py", 38, "main")
		saved := t.forward()
		t.enterPhase(tape.Loss)
		logits := t.alloc(t.hidden*16, tape.Activation, "model.py", 140, "forward")
		t.enterPhase(tape.Backward)
		t.free(t.alloc(t.hidden*16, tape.Temporary, "train.py", 44, "main"))
		grads := t.backward(saved)
		t.free(logits)
		t.enterPhase(tape.Step)
		if step == 1 {
			state = t.state(weights)
		}
		t.free(t.alloc(t.weight()*2, tape.Temporary, "train.py", 47, "main"))
		t.mark(tape.MarkStep, "", int64(step))
		t.enterPhase(tape.Idle)
		for _, g := range grads {
			t.free(g)
		}
		t.free(input)
	}
	_ = state
}

// weight is the bytes of one matrix of a layer.
func (t *training) weight() unit.Bytes { return 2048 * 2048 * 4 * 2 }

func (t *training) load() []tape.BlockID {
	var out []tape.BlockID
	for range t.layers {
		for range 3 {
			out = append(out, t.alloc(t.weight(), tape.Parameter, "train.py", 21, "build_model"))
		}
		t.alloc(2048*4, tape.Buffer, "train.py", 21, "build_model")
	}
	return out
}

func (t *training) forward() [][]tape.BlockID {
	t.mark(tape.MarkModuleEnter, "", 0)
	var saved [][]tape.BlockID
	for i := range t.layers {
		var keep []tape.BlockID
		for _, part := range []string{"attn", "mlp"} {
			name := fmt.Sprintf("layers.%d.%s", i, part)
			t.mark(tape.MarkModuleEnter, name, 0)
			line := 61
			if part == "mlp" {
				line = 88
			}
			for k := range 4 {
				keep = append(keep, t.alloc(t.hidden*unit.Bytes(1+k%2*2), tape.Activation, "model.py", line+k, "forward"))
				t.free(t.alloc(t.hidden*2, tape.Temporary, "model.py", line+k, "forward"))
			}
			t.mark(tape.MarkModuleExit, name, 0)
		}
		saved = append(saved, keep)
	}
	t.mark(tape.MarkModuleExit, "", 0)
	return saved
}

func (t *training) backward(saved [][]tape.BlockID) []tape.BlockID {
	var grads []tape.BlockID
	for i := t.layers - 1; i >= 0; i-- {
		name := fmt.Sprintf("layers.%d.mlp", i)
		t.mark(tape.MarkModuleEnter, name, 1)
		for k := len(saved[i]) - 1; k >= 0; k-- {
			flow := t.alloc(t.hidden*3, tape.Temporary, "", 0, "")
			t.free(saved[i][k])
			t.free(flow)
			if k%3 == 0 {
				grads = append(grads, t.alloc(t.weight(), tape.Gradient, "", 0, ""))
			}
		}
		t.mark(tape.MarkModuleExit, name, 1)
	}
	return grads
}

func (t *training) state(weights []tape.BlockID) []tape.BlockID {
	var out []tape.BlockID
	for range weights {
		for range 2 {
			out = append(out, t.alloc(t.weight(), tape.OptimizerState, "train.py", 47, "main"))
		}
	}
	return out
}

// alloc appends a segment first when the held ones are used up.
func (t *training) alloc(size unit.Bytes, c tape.Category, file string, line int, function string) tape.BlockID {
	size = size.RoundUp(512)
	if t.used+size > t.held {
		segment := max(size, 20*unit.MiB).RoundUp(2 * unit.MiB)
		t.append(tape.Event{Kind: tape.SegmentAlloc, Bytes: segment})
		t.held += segment
	}
	t.used += size
	b := tape.BlockID(t.tape.Blocks())
	t.append(tape.Event{Kind: tape.Alloc, Bytes: size, Category: c, Site: t.site(file, line, function)})
	return b
}

func (t *training) free(b tape.BlockID) {
	t.used -= t.tape.Block(b).Bytes
	t.append(tape.Event{Kind: tape.FreeRequested, Block: b})
	t.append(tape.Event{Kind: tape.Free, Block: b})
}

func (t *training) append(e tape.Event) {
	t.clock += 37 + int64(e.Bytes/unit.MiB)
	t.addr += uint64(e.Bytes)
	e.Addr, e.Time, e.Phase = t.addr, t.clock, t.phase
	t.tape.Append(e)
}

func (t *training) enterPhase(p tape.Phase) {
	t.phase = p
	t.mark(tape.MarkPhase, "", int64(p))
}

func (t *training) mark(k tape.MarkKind, name string, value int64) {
	t.tape.Marks = append(t.tape.Marks, tape.Mark{Event: t.tape.Len(), Kind: k, Name: name, Value: value})
}

// site is the stack of a line of the user's, under a line of PyTorch's.
func (t *training) site(file string, line int, function string) tape.SiteID {
	if file == "" {
		return 0
	}
	return t.tape.InternSite([]tape.Frame{
		{Name: "forward", File: "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", Line: 134},
		{Name: function, File: "/home/ada/llm/" + file, Line: line},
		{Name: "<module>", File: "/home/ada/llm/train.py", Line: 60},
	})
}
