package compose

import "github.com/plimsoll-dev/plimsoll/tape"

// All tensors of a Scaler are of one fp32 or int32 element, but for one of fp64.
const (
	scalarBytes = 4
	doubleBytes = 8
)

// A Scaler writes what torch.amp.GradScaler takes in a step, as
// torch/amp/grad_scaler.py (2.15) does it. Its scale and the scaled loss are part of
// a pass.
type Scaler struct {
	unscaled bool
	found    tape.BlockID // found_inf of this step
}

// Unscale writes scaler.unscale_(optimizer).
func (s *Scaler) Unscale(w *tape.Writer) {
	w.Phase = tape.Step
	scale := temporary(w, doubleBytes)
	inverse := temporary(w, doubleBytes)
	w.Free(scale)
	factor := temporary(w, scalarBytes)
	w.Free(inverse)
	s.check(w, factor)
	s.unscaled = true
}

// check looks for infinities in the gradients while it multiplies them by factor,
// and frees factor. Both of its inputs are copied for the device.
func (s *Scaler) check(w *tape.Writer, factor tape.BlockID) {
	found := temporary(w, scalarBytes)
	s.found = temporary(w, scalarBytes)
	copied := temporary(w, scalarBytes)
	w.Free(copied)
	w.Free(factor)
	w.Free(found)
}

// Step writes scaler.step(optimizer) and scaler.update().
func (s *Scaler) Step(w *tape.Writer, o *Optimizer, grads []tape.BlockID) {
	w.Phase = tape.Step
	if o.rule.found {
		s.fusedStep(w, o, grads)
	} else {
		if !s.unscaled {
			s.Unscale(w)
		}
		o.Step(w, grads)
	}
	w.Free(s.found)
	s.unscaled = false
}

// fusedStep hands scale and found_inf to an optimizer that looks at them itself.
func (s *Scaler) fusedStep(w *tape.Writer, o *Optimizer, grads []tape.BlockID) {
	scale := tape.NoBlock
	if !s.unscaled {
		s.check(w, temporary(w, scalarBytes))
	}
	sum := temporary(w, scalarBytes)
	if !s.unscaled {
		scale = temporary(w, scalarBytes)
	}
	o.Step(w, grads)
	if scale != tape.NoBlock {
		w.Free(scale)
	}
	w.Free(sum)
}
