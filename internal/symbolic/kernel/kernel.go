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

	// Operators are the names under at::_ops of which one is on the allocation's stack.
	Operators []string

	// Decides says that the operators ask for nothing else, and that the function tells
	// whether they are called at all.
	Decides bool

	// Once says that a call of an operator asks for it once, after those of its functions
	// that stand before it.
	Once bool

	Eval func(d Device, args []int64) int64
}

// table is every function, those of one kernel together.
var table = slices.Concat(
	reductions(),
	largeReductions(),
	layerNorm(),
	batchNorm(),
	embedding(),
	embeddingBefore(),
	efficientAttention(),
	flashAttention(),
	cudnnAttention(),
	alibi(),
	indices(),
	matmul(),
	quantized(),
)

// Lookup returns the function of that name.
func Lookup(name string) (Function, bool) {
	i := slices.IndexFunc(table, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return Function{}, false
	}
	return table[i], true
}

// All returns every function, those of one kernel together.
func All() []Function { return slices.Clone(table) }
