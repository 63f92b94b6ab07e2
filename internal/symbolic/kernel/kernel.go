// Package kernel holds what PyTorch's kernels ask for by rules of their own:
// sizes that are no product of a model's dimensions, since the kernel looks at
// the card and at the shape before it decides how to work.
//
// Each function is small, has its source, and is checked against recordings.
package kernel

import "slices"

// Device is what kernels look at.
type Device struct {
	Capability               int // 80 for 8.0
	Multiprocessors          int
	ThreadsPerMultiprocessor int
}

// A Function returns the bytes of one allocation as it is requested, before the
// allocator rounds it, and 0 where none is made.
type Function struct {
	Name   string
	Args   []string // what the arguments mean
	Doc    string
	Source string // where the rule can be read
	Eval   func(d Device, args []int64) int64
}

// Lookup returns the function of that name.
func Lookup(name string) (Function, bool) {
	for _, f := range All() {
		if f.Name == name {
			return f, true
		}
	}
	return Function{}, false
}

// All returns every function, those of one kernel together.
func All() []Function {
	return slices.Concat(
		reductions(),
		layerNorm(),
		batchNorm(),
		embedding(),
		attention(),
		indices(),
		matmul(),
	)
}
