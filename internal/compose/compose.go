// Package compose writes what happens to memory between the end of a backward
// pass and zero_grad: clipping, gradient scaling, the optimizer's step.
//
// All of it follows from the list of trainable parameters, so that a run of any
// model is its recorded passes with these events between them. Every rule is
// checked, event by event, against recordings of PyTorch (testdata).
//
// It frees no gradients: zero_grad is its caller's.
package compose

import (
	"math"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Param is a trainable parameter.
type Param struct {
	Shape   []int64
	Element int64 // bytes of an element of the parameter and of its gradient
}

// Elements returns how many numbers the parameter has, at most as many as an int64
// can say.
func (p Param) Elements() int64 { return product(p.Shape...) }

func (p Param) bytes() int64 { return product(p.Elements(), p.Element) }

// product stays at the largest number where the result has no room.
func product(factors ...int64) int64 {
	n := int64(1)
	for _, f := range factors {
		if f > 1 && n > math.MaxInt64/f {
			n = math.MaxInt64
			continue
		}
		n *= f
	}
	return n
}

// matrix tells whether the parameter has rows and columns.
func (p Param) matrix() bool { return len(p.Shape) > 1 }

// rows and columns are of the last two dimensions, batch is what is before them.
func (p Param) rows() int64    { return p.Shape[len(p.Shape)-2] }
func (p Param) columns() int64 { return p.Shape[len(p.Shape)-1] }
func (p Param) batch() int64   { return Param{Shape: p.Shape[:len(p.Shape)-2]}.Elements() }

// A size is the bytes that a statement asks for on account of a parameter; 0
// where the statement is not for it.
type size func(p Param, d kernel.Device) int64

// whole is a tensor like the parameter, one a single element of its type, and
// counter a number of steps on the GPU.
func whole(p Param, _ kernel.Device) int64   { return p.bytes() }
func one(p Param, _ kernel.Device) int64     { return p.Element }
func counter(_ Param, _ kernel.Device) int64 { return 4 }

// ceil returns how many steps cover n.
func ceil(n, step int64) int64 { return n/step + min(n%step, 1) }

// present calls f for each parameter that has a gradient.
func present(grads []tape.BlockID, f func(i int)) {
	for i, g := range grads {
		if g != tape.NoBlock {
			f(i)
		}
	}
}

// temporary writes a block that lives for a moment of a step.
func temporary(w *tape.Writer, bytes int64) tape.BlockID {
	return w.Alloc(unit.Bytes(bytes), tape.Temporary)
}

// freeReversed frees blocks as the end of a Python list frees them, last first.
func freeReversed(w *tape.Writer, blocks []tape.BlockID) {
	for i := len(blocks) - 1; i >= 0; i-- {
		w.Free(blocks[i])
	}
}
