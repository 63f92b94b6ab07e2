package compose

import "github.com/plimsoll-dev/plimsoll/tape"

// A Finish is all that follows a backward pass up to zero_grad, in the order in
// which training loops do it. Clip and Scaler may be nil.
type Finish struct {
	Clip      *Clip
	Scaler    *Scaler
	Optimizer *Optimizer
}

// Step writes one step.
func (f *Finish) Step(w *tape.Writer, grads []tape.BlockID) {
	if f.Clip != nil {
		if f.Scaler != nil {
			f.Scaler.Unscale(w)
		}
		f.Clip.Clip(w, grads)
	}
	if f.Scaler != nil {
		f.Scaler.Step(w, f.Optimizer, grads)
		return
	}
	f.Optimizer.Step(w, grads)
}
