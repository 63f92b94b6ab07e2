package symbolic

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Env is where a tape is played.
type Env struct {
	Dims   Dims
	Device kernel.Device
	Kinds  map[string][]string // of each layer, by stack
}

// A Plan says how much is played.
type Plan struct {
	Train  bool
	Micros []int // micro-batches of each optimizer step; of each pass of an evaluation 1
	Decode int   // tokens that are generated after the passes
	Sites  bool  // events say which layer and operator made them
	// Paths are the modules of stacks, "model.layers", for sites that people see;
	// without them sites name parts and say all that is known of an operator.
	Paths map[string]string
	Ready Step // called once, when the model is there and before the first step; may be nil
	// Forward is called before each forward pass, when the batch is there; may be nil.
	Forward func(w *tape.Writer)
	// Trace is told which op of which part made each block; may be nil.
	Trace func(b tape.BlockID, part *Part, op *Op)
}

// A Tensor is a parameter at its dimensions.
type Tensor struct {
	Name      string
	Shape     []int64
	DType     string
	Trainable bool
	Layer     string // "layers.3", empty outside of layers
	Block     tape.BlockID
	Grad      tape.BlockID // NoBlock when there is none now, or it is in another block than where recordings first had it
	Graded    bool         // it gets a gradient
}

// Elements returns the number of elements.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, s := range t.Shape {
		n = times(n, s)
	}
	return n
}

// Step is called after the backward pass of each optimizer step; the gradients
// are dropped after it.
type Step func(w *tape.Writer, params []Tensor) error

// Played says what was played.
type Played struct {
	Params []Tensor
	Starts []int // the event at which each step begins, and the end of the last
	Layers []Layer
	Dims   Dims // what expressions saw in the end: given and derived
	// Error is what the blocks of any one moment may be off by, where formulas give
	// sizes only roughly: each size times its largest relative error in recordings.
	Error unit.Bytes
}

// A Layer is one layer of a stack and the blocks of its first forward pass.
type Layer struct {
	Name        string
	First, Last tape.BlockID // First <= block < Last
}

// Play writes the whole run to w.
func (t *Tape) Play(env Env, plan Plan, w *tape.Writer, step Step) (*Played, error) {
	p, err := t.newPlayer(env, plan, w)
	if err != nil {
		return nil, err
	}
	return p.run(step)
}

// run plays the whole run.
func (p *player) run(step Step) (*Played, error) {
	plan, w := &p.plan, p.w
	if err := p.play(Load); err != nil {
		return nil, err
	}
	params, err := p.params()
	if err != nil {
		return nil, err
	}
	out := &p.played
	out.Params = params
	if plan.Ready != nil {
		w.Phase, w.Site = tape.Step, 0
		if err := plan.Ready(w, params); err != nil {
			return nil, err
		}
	}
	for s, micros := range plan.Micros {
		out.Starts = append(out.Starts, w.Tape().Len())
		if err := p.step(s, micros); err != nil {
			return nil, err
		}
		if plan.Train {
			w.Phase, w.Site = tape.Step, 0
			p.gradients(params)
			if step != nil {
				if err := step(w, params); err != nil {
					return nil, err
				}
			}
			p.runs[ofOwn] = p.firstMicro
			if err := p.play(Zero); err != nil {
				return nil, err
			}
		}
		w.Mark(tape.MarkStep, "", int64(s+1))
	}
	if err := p.decode(); err != nil {
		return nil, err
	}
	out.Starts = append(out.Starts, w.Tape().Len())
	out.Dims = p.env.Dims
	return out, nil
}

// step plays the micro-batches of step s.
func (p *player) step(s, micros int) error {
	for m := range micros {
		scope := Steady
		switch {
		case m > 0:
			scope = Accumulate
		case s == 0:
			scope = First
		}
		own := p.newRun()
		p.runs[ofOwn] = own
		if m == 0 {
			p.firstMicro = own
		}
		if scope == First {
			p.runs[ofFirst] = own
		}
		if err := p.play(scope); err != nil {
			return err
		}
	}
	return nil
}

// phaseOf is the phase of a part, by its name.
func phaseOf(part *Part) tape.Phase {
	switch {
	case part.Scope == Load:
		return tape.Load
	case part.Scope == Zero:
		return tape.Step
	case part.Scope == Script:
		return scriptPhase(part.Name)
	case part.Name == "batch" || part.Name == "end":
		return tape.Idle
	case part.Name == "loss":
		return tape.Loss
	case IsBackward(part.Name):
		return tape.Backward
	}
	return tape.Forward
}

// IsBackward reports whether a part belongs to the backward pass, by its name.
func IsBackward(part string) bool {
	return part == "backward" || part == "drop" || strings.HasSuffix(part, ".backward") || strings.HasSuffix(part, ".bottom")
}
