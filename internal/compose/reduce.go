package compose

import (
	"math"
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

// A loan is blocks that live while a statement runs. They are taken together, and
// a statement's loans one after the other.
type loan []int64

// loans are what a statement takes for a while on account of a parameter.
type loans func(p Param, d kernel.Device) []loan

// allOf lends what the norm of a whole parameter takes, rowsOf and columnsOf what a
// reduction of each of its rows and columns takes.
func allOf(p Param, d kernel.Device) []loan {
	return inParts(p.Elements(), 1, p.Element, func(n int64) loan {
		return loan{innerStaging(d, 1, n, accumulator), innerCounters(d, 1, n)}
	})
}

func rowsOf(p Param, d kernel.Device) []loan {
	if !p.matrix() {
		return nil
	}
	columns := p.columns()
	return inParts(p.batch()*p.rows(), columns, p.Element, func(rows int64) loan {
		return loan{innerStaging(d, rows, columns, accumulator), innerCounters(d, rows, columns)}
	})
}

func columnsOf(p Param, d kernel.Device) []loan {
	if !p.matrix() {
		return nil
	}
	rows, columns := p.rows(), p.columns()
	if p.batch() > 1 {
		return inParts(p.batch(), rows*columns, p.Element, func(batch int64) loan {
			return loan{middleStaging(d, columns, batch*columns, rows, accumulator), middleCounters(d, columns, batch*columns, rows)}
		})
	}
	return inParts(rows, columns, p.Element, func(rows int64) loan {
		return loan{middleStaging(d, columns, columns, rows, accumulator), middleCounters(d, columns, columns, rows)}
	})
}

// inParts halves a tensor of n steps of some elements along its slowest dimension
// until 32-bit offsets reach all of each part, as the kernel does. (It adds the
// parts of 16-bit tensors up in an fp32 copy of the result, which is left out here.)
func inParts(n, step, element int64, part func(n int64) loan) []loan {
	last := n*step - 1
	if n <= 1 || last < math.MaxInt32 && 1+last*element <= math.MaxInt32 {
		return []loan{part(n)}
	}
	return append(inParts(n/2, step, element, part), inParts(n-n/2, step, element, part)...)
}
