package solve

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// pixels is what is known of a model of images, whose channels are numbers and
// whose sizes depend on the batch and on what is left of an image: on areas.
type pixels struct {
	channels []int64
	blocks   []blockSize
	byValue  []map[int64][]int   // by recording: blocks by their bytes there
	bySlot   map[slotKey][]int64 // bytes in all recordings
	// near are the blocks that were allocated shortly before the one that is
	// being solved; what a kernel sums is mostly among them.
	near []int
	// result is the tensor before it, which a reduction writes, and count says
	// how many buffers the same operator has asked for.
	result  []int64
	count   int
	staging symbolic.Expr // what the buffer before was
	// convolved says that the image was, before the one that is being solved.
	convolved bool
	premises  []premise
	elements  []int64 // bytes of tensors' elements, what is likelier first
}

// A blockSize is the bytes of an allocation in all recordings.
type blockSize struct {
	values   []int64
	constant bool
}

// areaAtoms are the batch and the areas that an image shrinks to.
func areaAtoms(recordings []*Recording) []atom {
	var list []atom
	for _, name := range []string{"B", "H", "W"} {
		if v := valuesOf(recordings, symbolic.Product(1, 1, name)); name == "B" && !constant(v) {
			list = append(list, atom{factor: symbolic.Factor{Dim: name}, group: name, power: 1, weight: 10, values: v})
		}
	}
	add := func(e, f [2]int64, weight int) {
		h, w := extent("H", e), extent("W", f)
		a := atom{factor: h, with: []symbolic.Factor{w}, group: "area", power: 1, weight: weight, values: valuesOf(recordings, product(h, w))}
		if !constant(a.values) {
			list = append(list, a)
		}
	}
	for _, e := range extentsOf(recordings) {
		add(e, e, 12+int(e[1]))
	}
	for _, cut := range cutsOf(recordings) { // of one side only
		add(cut.of, cut.into, 100+int(cut.of[1]))
		add(cut.into, cut.of, 100+int(cut.of[1]))
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
	return symbolic.Factor{Func: "floor", Args: []symbolic.Expr{in, symbolic.Const(e[1])}}
}

// pixelsOf gathers the channels and the sizes of all blocks.
func (s *solver) pixelsOf() *pixels {
	p := &pixels{byValue: make([]map[int64][]int, len(s.recs)), bySlot: map[slotKey][]int64{}}
	if p.elements = []int64{4}; half(s.recs[0].Job.Precision) {
		p.elements = []int64{2, 4}
	}
	channels := map[int64]bool{1: true}
	for _, t := range s.recs[0].places.Parameters {
		for _, n := range t.shape {
			channels[n] = true
		}
	}
	p.channels = slices.Sorted(maps.Keys(channels))
	for _, r := range s.recs {
		for i := range r.pieces {
			q := &r.pieces[i]
			if !isWanted(q.part.scope) {
				continue
			}
			for _, a := range q.allocs {
				k := slotKey{q.part.name, r.slots[a]}
				if p.bySlot[k] == nil {
					p.bySlot[k] = make([]int64, len(s.recs))
				}
				p.bySlot[k][r.n] = r.bytesOf(a)
			}
		}
	}
	for k, v := range p.bySlot {
		if slices.Contains(v, 0) {
			delete(p.bySlot, k)
		}
	}
	known := map[string]bool{}
	for i := range p.byValue {
		p.byValue[i] = map[int64][]int{}
	}
	for _, v := range p.bySlot {
		key := fmt.Sprint(v)
		if known[key] {
			continue
		}
		known[key] = true
		p.blocks = append(p.blocks, blockSize{v, constant(v)})
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
const shortlyBefore = 100

// zeroed begins the label of counters that are a tensor.
const zeroed = "zeros "

// inWide is the count of the buffer in which a sum of 16 bits is kept.
const inWide = -2

// at notes what was allocated before an allocation, whose token says which of
// its operator's it is.
func (p *pixels) at(r *cutRecording, alloc int, token string) {
	p.near, p.result, p.convolved = p.near[:0], nil, r.isConvolved(alloc)
	var err error
	if p.count, err = strconv.Atoi(token[strings.LastIndexByte(token, '|')+1:]); err != nil {
		p.count = inWide
	}
	for a := alloc - 1; a >= max(0, alloc-shortlyBefore); a-- {
		if p.result == nil && !strings.HasSuffix(r.Labels[r.events[r.eventOf[a]].label], "raw") {
			p.result = p.bySlot[slotKey{r.pieces[r.homes[a].piece].part.name, r.slots[a]}]
		}
		for _, n := range p.byValue[r.n][r.bytesOf(a)] {
			if !slices.Contains(p.near, n) {
				p.near = append(p.near, n)
			}
		}
	}
}

// isConvolved reports whether an allocation comes after the first convolution of the
// image, or is its.
func (r *cutRecording) isConvolved(alloc int) bool {
	p := &r.pieces[r.homes[alloc].piece]
	return p.part.name != "batch" && (p.part.name != "forward" || slices.ContainsFunc(r.events[p.from:r.eventOf[alloc]+1], func(e event) bool {
		return !e.free && strings.HasPrefix(r.Labels[e.label], "cudnn_convolution")
	}))
}

// likely reports whether a product is what is meant where another has the same values: no
// tensor has the image's own pixels once that was convolved.
func (p *pixels) likely(m monomial) bool {
	return !p.convolved || !slices.ContainsFunc(m.factors, func(f symbolic.Factor) bool { return f.Dim == "W" })
}

// isAccumulation reports whether an allocation is where a sum of 16 bits, above
// 2 GiB, is kept in 32: of the buffers that its operator asks for, the others
// come in pairs.
func (r *cutRecording) isAccumulation(p *piece, at int) bool {
	label := r.events[at].label
	name := r.Labels[label]
	if !strings.HasPrefix(name, "sum_dim") && !strings.HasPrefix(name, "mean_dim") || !strings.HasSuffix(name, " raw") {
		return false
	}
	n := 0
	for _, e := range r.events[at:p.to] {
		switch {
		case e.free:
		case e.label == label:
			n++
		default:
			return n%2 == 1
		}
	}
	return n%2 == 1
}

// look notes what was allocated before an allocation of a body.
func (s *solver) look(op *symbolic.Op, p *part, b body, alloc int) {
	if s.fit.pixels != nil {
		s.fit.pixels.at(b.rec, alloc, p.union.tokens[op.Slot])
	}
}

// reduction is what a sum asks for: a staging buffer and counters, of each of
// its parts.
func (f *fitter) reduction(label string, values []int64, present []bool, constant bool) (symbolic.Expr, bool) {
	p := f.pixels
	if p.count%2 == 1 {
		return f.semaphores(values, present)
	}
	p.staging = symbolic.Expr{}
	sizes := p.elements
	if strings.HasPrefix(label, "any") || strings.HasPrefix(label, "all") {
		sizes = []int64{1}
	}
	for _, fn := range candidates(label, true) {
		if !strings.HasPrefix(fn.Name, "reduce") || p.count > 0 && !hasWord(fn.Name, "part") || hasWord(fn.Name, "accumulation") != (p.count == inWide) {
			continue
		}
		for _, element := range sizes {
			out, ok := f.quotient(p.result, slices.Repeat([]int64{1}, len(values)), element)
			if !ok {
				continue
			}
			if e, ok := f.reductionInto(out, fn, sizes, values, present, constant); ok {
				p.staging = e
				return e, true
			}
		}
	}
	return symbolic.Expr{}, false
}

// reductionInto is a sum into outputs of what was allocated shortly before.
func (f *fitter) reductionInto(out argument, fn kernel.Function, sizes, values []int64, present []bool, constant bool) (symbolic.Expr, bool) {
	images := f.images()
	tries := []summed{{images, sizes[0]}}
	for _, n := range f.pixels.near {
		block := &f.pixels.blocks[n]
		if block.constant && !constant {
			continue
		}
		for _, e := range sizes {
			if in, ok := f.quotient(block.values, out.values, e); ok {
				tries = append(tries, summed{in, e})
			}
		}
	}
	for _, in := range tries {
		for _, lists := range f.reductionArguments(fn, out, in, images) {
			if e, ok := f.call(fn, values, present, lists); ok {
				return e, true
			}
		}
	}
	return symbolic.Expr{}, false
}

// images are those of a batch.
func (f *fitter) images() argument {
	batch := make([]int64, len(f.sites))
	for i, s := range f.sites {
		batch[i] = s.dims["B"]
	}
	return argument{symbolic.Product(1, 1, "B"), batch}
}

// summed is how many elements are summed into one, and the bytes of each.
type summed struct {
	argument
	element int64
}

// reductionArguments are the ways to see a sum of inputs into outputs.
func (f *fitter) reductionArguments(fn kernel.Function, out argument, in summed, batch argument) [][][]argument {
	sh := tensorShape{batch: batch, outputs: out, rest: in.argument, part: int64(f.pixels.count / 2), element: in.element}
	var list [][][]argument
	add := func() {
		if lists, ok := sh.arguments(fn); ok {
			list = append(list, lists)
		}
	}
	switch fn.Args[0] {
	case "images":
		rest, ok := f.quotient(in.values, batch.values, 1)
		if sh.rest = rest; ok {
			add()
		}
	case "fast: elements of the fastest dimension, which stays", "fast":
		for _, c := range f.pixels.channels {
			if c > 1 && out.values[0]%c == 0 {
				sh.width = f.number(c)
				add()
			}
		}
	default:
		add()
	}
	return list
}

// semaphores are the counters to the staging buffer that was found.
func (f *fitter) semaphores(values []int64, present []bool) (symbolic.Expr, bool) {
	e := f.pixels.staging
	if len(e.Terms) == 0 {
		return e, false
	}
	call := e.Terms[0].Factors[0]
	fn, ok := kernel.Lookup(call.Func + "_semaphores")
	if !ok {
		if fn, ok = kernel.Lookup(strings.NewReplacer("_backward", "", "_staging", "_semaphores").Replace(call.Func)); !ok {
			return e, false
		}
	}
	staging, _ := kernel.Lookup(call.Func)
	var lists [][]argument
	for i, a := range staging.Args {
		if argumentName(a) == "accumulator" {
			continue
		}
		v := make([]int64, len(f.sites))
		for k, s := range f.sites {
			v[k], _ = call.Args[i].Eval(s.dims, s.device)
		}
		lists = append(lists, []argument{{call.Args[i], v}})
	}
	return f.call(fn, values, present, lists)
}

// kernelOfPixels is a function whose arguments are the shape of a tensor that
// was allocated before: rows of some channels each, or channels of rows.
func (f *fitter) kernelOfPixels(label string, values []int64, present []bool, constant bool) (symbolic.Expr, bool) {
	if strings.HasSuffix(label, "raw") && f.pixels.result != nil {
		if e, ok := f.reduction(label, values, present, constant); ok {
			return e, true
		}
	}
	if strings.HasSuffix(label, "raw") && f.pixels.count%2 == 1 || strings.HasPrefix(label, zeroed) {
		if e, ok := f.semaphores(values, present); ok {
			return e, true
		}
	}
	for _, fn := range candidates(label, true) {
		if strings.HasPrefix(fn.Name, "reduce") && strings.HasSuffix(label, "raw") {
			continue
		}
		if len(fn.Args) == 0 {
			if e, ok := f.call(fn, values, present, nil); ok {
				return e, true
			}
			continue
		}
		if constant {
			continue
		}
		if e, ok := f.ofNear(fn, values, present); ok {
			return e, true
		}
	}
	return symbolic.Expr{}, false
}

// ofNear is a function of the shape of a block that was allocated before.
func (f *fitter) ofNear(fn kernel.Function, values []int64, present []bool) (symbolic.Expr, bool) {
	for _, n := range f.pixels.near {
		if f.pixels.blocks[n].constant {
			continue
		}
		for _, element := range f.pixels.elements {
			if e, ok := f.shaped(fn, values, present, f.pixels.blocks[n].values, element); ok {
				f.pixels.staging = e
				return e, true
			}
		}
	}
	return symbolic.Expr{}, false
}

// shaped tries a tensor's shapes as arguments of a function.
func (f *fitter) shaped(fn kernel.Function, values []int64, present []bool, bytes []int64, element int64) (symbolic.Expr, bool) {
	sh := tensorShape{batch: f.images(), element: element}
	for _, c := range f.pixels.channels {
		sh.width = f.number(c)
		sh.outputs = sh.width
		tries := []argument{sh.width, {symbolic.Product(c, 1, "B"), scaled(sh.batch.values, c)}}
		if fn.Args[0] == "images" {
			tries = tries[1:]
		}
		for _, out := range tries {
			rest, ok := f.quotient(bytes, out.values, element)
			if !ok {
				continue
			}
			if sh.rest = rest; fn.Args[0] != "images" {
				sh.outputs = out
			}
			lists, ok := sh.arguments(fn)
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
	e, ok := f.one(rest, everywhere(len(rest)))
	return argument{e, rest}, ok
}

// A tensorShape is a tensor as a kernel may see it.
type tensorShape struct {
	batch, width, outputs, rest argument
	element, part               int64
}

// arguments puts a shape into the order of a function's arguments.
func (s tensorShape) arguments(fn kernel.Function) ([][]argument, bool) {
	lists := make([][]argument, len(fn.Args))
	number := func(i int, values ...int64) {
		for _, n := range values {
			lists[i] = append(lists[i], argument{symbolic.Const(n), slices.Repeat([]int64{n}, len(s.rest.values))})
		}
	}
	for i, a := range fn.Args {
		switch argumentName(a) {
		case "images":
			lists[i] = []argument{s.batch}
		case "outputs":
			lists[i] = []argument{s.outputs}
		case "fast", "width", "channels":
			lists[i] = []argument{s.width}
		case "inputs", "rows", "reduced":
			lists[i] = []argument{s.rest}
		case "accumulator":
			if number(i, 4); s.element == 1 { // of flags
				number(i, 1)
			}
		case "element":
			if number(i, s.element); !strings.HasPrefix(fn.Name, "reduce") { // of the weight
				number(i, 4, 2)
			}
		case "part":
			number(i, s.part)
		default:
			return nil, false
		}
	}
	return lists, true
}

// farOffset is the size from which on kernels' 32-bit offsets do not reach all
// of a tensor, so that they work on halves of it.
const farOffset = 1 << 31

// large is the condition that a block is beyond what offsets reach, or is not.
func (f *fitter) large(values []int64, present []bool) guarded {
	e, ok := f.one(values, everywhere(len(values)))
	if !ok {
		return guarded{}
	}
	far := make([]bool, len(values))
	for i, v := range values {
		far[i] = v > farOffset
	}
	same, other := compared(far, present, everywhere(len(far)))
	return guarded{symbolic.Guard{{Left: e, More: farOffset, Not: other}}, same || other}
}

// lastFree reports whether the i-th event of a body gives back a block that some
// recordings gave back before, and all others here: it then needs no condition,
// since a block is freed once.
func (s *solver) lastFree(events []happening, i int) bool {
	ref := events[i].example.ref
	freed := slices.Clone(events[i].present)
	for k, e := range events {
		if k == i || !e.example.free || e.example.ref != ref {
			continue
		}
		if k > i {
			return false
		}
		for r, p := range e.present {
			freed[r] = freed[r] || p
		}
	}
	return slices.Equal(freed, s.made[slotKey{ref.Part, ref.Slot}])
}

// An asked is what a kernel asked for in a body that is being solved, and the
// recordings in which it did.
type asked struct {
	at      int
	present []bool
	bytes   symbolic.Expr
	label   string
}

// whenOthers is the condition of an event that comes and goes with a kernel's
// request, of which the nearest is meant, or with a block above 2 GiB: the one
// that it frees, or one that was allocated before it.
func (s *solver) whenOthers(op *symbolic.Op, at int, present []bool) guarded {
	if g := s.fit.pixels.premised(present); g.ok {
		return g
	}
	f, best, g := s.fit, 0, guarded{}
	for _, a := range s.among {
		same, other := compared(a.present, present, everywhere(len(present)))
		far := max(a.at-at, at-a.at)
		if !op.Free && a.label != op.Label {
			far += len(s.fit.pixels.bySlot) // rather of the same operator
		}
		if (same || other) && (!g.ok || far < best) {
			best, g = far, guarded{symbolic.Guard{{Left: a.bytes, More: 0, Not: other}}, true}
		}
	}
	switch {
	case g.ok:
		return g
	case op.Free:
		v := f.pixels.bySlot[slotKey{op.Ref.Part, op.Ref.Slot}]
		if v == nil {
			return guarded{}
		}
		return f.large(v, present)
	}
	for _, n := range f.pixels.near {
		if g := f.large(f.pixels.blocks[n].values, present); g.ok {
			return g
		}
	}
	return guarded{}
}
