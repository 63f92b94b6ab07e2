package estimate

import (
	"github.com/plimsoll-dev/plimsoll/tape"
)

// layers lists the layers with what each keeps for the backward pass: the
// activations that its forward pass allocates and that live when the backward
// pass begins.
func (r *run) layers() []Layer {
	out := make([]Layer, 0, len(r.played.Layers))
	var last tape.BlockID
	for _, span := range r.played.Layers {
		last = max(last, span.Last)
	}
	begin := r.backwardAfter(last)
	for _, span := range r.played.Layers {
		l := Layer{Name: span.Name, Parameters: span.Parameters, Saved: span.Saved, Output: span.Output}
		if l.Output == nil {
			l.Output = []int64{}
		}
		for id := span.First; begin >= 0 && id < span.Last; id++ {
			b := r.tape.Block(id)
			if b.Category == tape.Activation && (b.Free < 0 || b.Free >= begin) {
				l.Saved += b.Bytes
			}
		}
		out = append(out, l)
	}
	return out
}

// backwardAfter is the event at which the backward pass begins that follows
// the allocation of the block before next; -1 when none does in the same step.
func (r *run) backwardAfter(next tape.BlockID) int {
	if next == 0 || int(next) > r.tape.Blocks() {
		return -1
	}
	begin := r.tape.Block(next - 1).Alloc
	end := r.tape.Len()
	for _, e := range r.played.StepEnds {
		if e > begin {
			end = e
			break
		}
	}
	for i := max(begin, 0); i < end; i++ {
		if r.tape.Event(i).Phase == tape.Backward {
			return i
		}
	}
	return -1
}
