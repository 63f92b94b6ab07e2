package solve

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// pixels is what is known of a model of images, whose channels are numbers and
// whose sizes depend on the batch and on what is left of an image: on areas.
type pixels struct {
	channels []int64
	blocks   []blockSize
	byValue  []map[int64][]int // by recording: blocks by their bytes there
	recs     []*cutRecording
	// near are the blocks that were allocated shortly before the one that is
	// being solved; what a kernel sums is mostly among them.
	near []int
}

// A blockSize is the bytes of an allocation in all recordings.
type blockSize struct{ values []int64 }

// areaAtoms are the batch and the areas that an image shrinks to.
func areaAtoms(recordings []*Recording) []atom {
	var list []atom
	for _, name := range []string{"B", "H", "W"} {
		if v := valuesOf(recordings, symbolic.Product(1, 1, name)); name == "B" && !constant(v) {
			list = append(list, atom{factor: symbolic.Factor{Dim: name}, group: name, power: 1, weight: 10, values: v})
		}
	}
	for _, e := range extentsOf(recordings) {
		h, w := extent("H", e), extent("W", e)
		a := atom{factor: h, with: []symbolic.Factor{w}, group: "area", power: 1, weight: 12 + int(e[1]), values: valuesOf(recordings, product(h, w))}
		if !constant(a.values) {
			list = append(list, a)
		}
	}
	return list
}

func product(factors ...symbolic.Factor) symbolic.Expr {
	return symbolic.Expr{Terms: []symbolic.Term{{Num: 1, Den: 1, Factors: factors}}}
}

// extentsOf are those that a recording noted: a height H becomes
// floor((H+a)/q).
func extentsOf(recordings []*Recording) [][2]int64 {
	for _, r := range recordings {
		if len(r.Extents) > 0 {
			return r.Extents
		}
	}
	return nil
}

// extent is the factor floor((dim+a)/q).
func extent(dim string, e [2]int64) symbolic.Factor {
	if e == [2]int64{0, 1} {
		return symbolic.Factor{Dim: dim}
	}
	in := symbolic.Product(1, 1, dim)
	if e[0] != 0 {
		in = symbolic.Sum(in.Terms[0], symbolic.Term{Num: e[0], Den: 1})
	}
	return symbolic.Factor{Func: "down", Args: []symbolic.Expr{in, symbolic.Const(e[1])}}
}

// pixelsOf gathers the channels and the sizes of all blocks.
func (s *solver) pixelsOf() *pixels {
	p := &pixels{byValue: make([]map[int64][]int, len(s.recs)), recs: s.recs}
	channels := map[int64]bool{1: true}
	for _, t := range s.recs[0].places.Parameters {
		for _, n := range t.shape {
			channels[n] = true
		}
	}
	p.channels = slices.Sorted(maps.Keys(channels))
	type slot struct {
		part partKey
		slot int
	}
	sizes := map[slot][]int64{}
	for _, r := range s.recs {
		for i := range r.pieces {
			q := &r.pieces[i]
			if !isWanted(q.part.scope) {
				continue
			}
			for _, a := range q.allocs {
				k := slot{q.part, r.slots[a]}
				if sizes[k] == nil {
					sizes[k] = make([]int64, len(s.recs))
				}
				sizes[k][r.n] = r.bytesOf(a)
			}
		}
	}
	known := map[string]bool{}
	for i := range p.byValue {
		p.byValue[i] = map[int64][]int{}
	}
	for _, v := range sizes {
		key := fmt.Sprint(v)
		if known[key] || slices.Contains(v, 0) || constant(v) {
			continue
		}
		known[key] = true
		p.blocks = append(p.blocks, blockSize{v})
	}
	slices.SortFunc(p.blocks, func(a, b blockSize) int { return slices.Compare(b.values, a.values) })
	for n, b := range p.blocks {
		for i, v := range b.values {
			p.byValue[i][v] = append(p.byValue[i][v], n)
		}
	}
	return p
}

// shortlyBefore bounds how far back a kernel's input is looked for.
const shortlyBefore = 40

// at notes what was allocated before an allocation.
func (p *pixels) at(r *cutRecording, alloc int) {
	p.near = p.near[:0]
	for a := alloc - 1; a >= max(0, alloc-shortlyBefore); a-- {
		for _, n := range p.byValue[r.n][r.bytesOf(a)] {
			if !slices.Contains(p.near, n) {
				p.near = append(p.near, n)
			}
		}
	}
}

// A shaped is a tensor as rows of a width, as kernels see it.
type shaped struct{ rows, width argument }

// kernelOfPixels is a function whose arguments are the shape of a tensor that
// was allocated before: rows of some channels each, or channels of rows.
func (f *fitter) kernelOfPixels(label string, values []int64, present []bool, constant bool) (symbolic.Expr, bool) {
	for _, fn := range candidates(label) {
		if len(fn.Args) == 0 {
			if e, ok := f.call(fn, values, present, nil); ok {
				return e, true
			}
			continue
		}
		if constant {
			continue
		}
		for _, n := range f.pixels.near {
			for _, element := range []int64{4, 2} {
				if e, ok := f.shaped(fn, values, present, f.pixels.blocks[n].values, element); ok {
					return e, true
				}
			}
		}
	}
	return symbolic.Expr{}, false
}

// shaped tries a tensor's shapes as arguments of a function.
func (f *fitter) shaped(fn kernel.Function, values []int64, present []bool, bytes []int64, element int64) (symbolic.Expr, bool) {
	batch := make([]int64, len(f.sites))
	for i, s := range f.sites {
		batch[i] = s.dims["B"]
	}
	for _, c := range f.pixels.channels {
		each := slices.Repeat([]int64{c}, len(f.sites))
		stay := []argument{{symbolic.Const(c), each}}
		if fn.Args[0] == "fast: elements of the fastest dimension, which stays" || c > 1 {
			stay = append(stay, argument{symbolic.Product(c, 1, "B"), scaled(batch, c)})
		}
		for _, out := range stay {
			rest, ok := f.quotient(bytes, out.values, element)
			if !ok {
				continue
			}
			lists, ok := shapeArguments(fn, argument{symbolic.Const(c), each}, out, rest)
			if !ok {
				continue
			}
			if e, ok := f.call(fn, values, present, lists); ok {
				return e, true
			}
		}
	}
	return symbolic.Expr{}, false
}

// quotient is the elements of a tensor over what stays of them, as a formula.
func (f *fitter) quotient(bytes, out []int64, element int64) (argument, bool) {
	rest := make([]int64, len(bytes))
	for i, b := range bytes {
		if b%(out[i]*element) != 0 {
			return argument{}, false
		}
		rest[i] = b / (out[i] * element)
	}
	e, ok := f.one(rest, slices.Repeat([]bool{true}, len(rest)))
	return argument{e, rest}, ok
}

// shapeArguments puts a shape into the order of a function's arguments.
func shapeArguments(fn kernel.Function, width, outputs, rest argument) ([][]argument, bool) {
	lists := make([][]argument, len(fn.Args))
	for i, a := range fn.Args {
		switch name := argumentName(a); name {
		case "outputs":
			lists[i] = []argument{outputs}
		case "fast", "width", "channels":
			lists[i] = []argument{width}
		case "inputs", "rows", "reduced":
			lists[i] = []argument{rest}
		case "accumulator", "element":
			for _, n := range []int64{4, 2, 8} {
				lists[i] = append(lists[i], argument{symbolic.Const(n), slices.Repeat([]int64{n}, len(rest.values))})
			}
		default:
			return nil, false
		}
	}
	return lists, true
}
