package compose

import "github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"

// accumulator is the bytes of a partial result of a reduction, fp32.
const accumulator = 4

var (
	innerStaging   = ask("reduce_inner")
	innerCounters  = ask("reduce_inner_semaphores")
	middleStaging  = ask("reduce_middle")
	middleCounters = ask("reduce_middle_semaphores")
	accumulation   = ask("reduce_accumulation")
)

// ask returns a kernel function. That there is one of every name that is asked for
// is seen as soon as the package is used.
func ask(name string) func(d kernel.Device, args ...int64) int64 {
	f, ok := kernel.Lookup(name)
	if !ok {
		panic("compose: no kernel function is called " + name)
	}
	return func(d kernel.Device, args ...int64) int64 { return f.Eval(d, args) }
}

// A loan is blocks that live while a statement runs.
type loan struct {
	around int64 // a block that lives as long as all of them
	turns  []turn
}

// A turn is blocks that are taken together and given back, some times over.
type turn struct {
	blocks []int64
	times  int64
}

// mostTurns is how often a turn is written. That many parts of a reduction have
// 128 GiB; asking for the same blocks once more never takes more.
const mostTurns = 64

// loans are what a statement takes for a while on account of a parameter.
type loans func(p Param, d kernel.Device) loan

// allOf lends what the norm of a whole parameter takes, rowsOf and columnsOf what a
// reduction of each of its rows and columns takes.
func allOf(p Param, d kernel.Device) loan {
	n := p.Elements()
	return inParts(n, 1, p.Element, accumulation(d, 1, n, p.Element), func(n int64) []int64 {
		return []int64{innerStaging(d, 1, n, accumulator), innerCounters(d, 1, n)}
	})
}

func rowsOf(p Param, d kernel.Device) loan {
	if !p.matrix() {
		return loan{}
	}
	rows, columns := product(p.batch(), p.rows()), p.columns()
	return inParts(rows, columns, p.Element, accumulation(d, rows, columns, p.Element), func(rows int64) []int64 {
		return []int64{innerStaging(d, rows, columns, accumulator), innerCounters(d, rows, columns)}
	})
}

func columnsOf(p Param, d kernel.Device) loan {
	if !p.matrix() {
		return loan{}
	}
	batch, rows, columns := p.batch(), p.rows(), p.columns()
	around := accumulation(d, product(batch, columns), rows, p.Element)
	if batch > 1 {
		return inParts(batch, product(rows, columns), p.Element, around, func(batch int64) []int64 {
			outputs := product(batch, columns)
			return []int64{middleStaging(d, columns, outputs, rows, accumulator), middleCounters(d, columns, outputs, rows)}
		})
	}
	return inParts(rows, columns, p.Element, around, func(rows int64) []int64 {
		return []int64{middleStaging(d, columns, columns, rows, accumulator), middleCounters(d, columns, columns, rows)}
	})
}

// inParts lends what each part of a reduction takes.
func inParts(n, step, element, around int64, part func(n int64) []int64) loan {
	l := loan{around: around}
	for _, p := range kernel.Parts(n, step, element) {
		l.turns = append(l.turns, turn{part(p.Steps), min(p.Count, mostTurns)})
	}
	return l
}
