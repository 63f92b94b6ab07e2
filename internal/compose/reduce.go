package compose

import (
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// accumulator is the bytes of a partial result of a reduction, fp32.
const accumulator = 4

var (
	innerStaging   = ask("reduce_inner")
	innerCounters  = ask("reduce_inner_semaphores")
	middleStaging  = ask("reduce_middle")
	middleCounters = ask("reduce_middle_semaphores")
)

// ask returns a kernel function, which is looked up when it is first needed.
func ask(name string) func(d kernel.Device, args ...int64) int64 {
	find := sync.OnceValue(func() kernel.Function {
		f, ok := kernel.Lookup(name)
		if !ok {
			f.Eval = func(kernel.Device, []int64) int64 { return 0 }
		}
		return f
	})
	return func(d kernel.Device, args ...int64) int64 { return find().Eval(d, args) }
}

// reduceInner are the buffers of a reduction over the fast dimension.
func reduceInner(shape func(p Param) (outputs, inputs int64)) []size {
	return []size{
		func(p Param, d kernel.Device) int64 {
			outputs, inputs := shape(p)
			return innerStaging(d, outputs, inputs, accumulator)
		},
		func(p Param, d kernel.Device) int64 {
			outputs, inputs := shape(p)
			return innerCounters(d, outputs, inputs)
		},
	}
}

// reduceMiddle are the buffers of a reduction over the dimension before the
// fastest one.
func reduceMiddle(shape func(p Param) (fast, outputs, inputs int64)) []size {
	return []size{
		func(p Param, d kernel.Device) int64 {
			fast, outputs, inputs := shape(p)
			return middleStaging(d, fast, outputs, inputs, accumulator)
		},
		func(p Param, d kernel.Device) int64 {
			fast, outputs, inputs := shape(p)
			return middleCounters(d, fast, outputs, inputs)
		},
	}
}
