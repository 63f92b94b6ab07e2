package solve

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// scriptMode is the mode of a recording of a user's script: its whole run, once.
const scriptMode = "script"

// A Script is the run of a user's script, recorded at some values of what is
// varied.
type Script struct {
	Dims   symbolic.Dims
	Device kernel.Device
	Labels []string
	Events []ScriptEvent
	Parts  []ScriptPart // the first begins at the first event
	Params []ScriptParam
}

// A ScriptEvent is an allocation, or the free of one.
type ScriptEvent struct {
	Free     bool
	Alloc    int // its number, or the number of what is freed
	Bytes    int64
	Label    int
	Category tape.Category
}

// A ScriptPart is where a part begins.
type ScriptPart struct {
	At   int
	Name string
}

// A ScriptParam is a parameter of the script's models.
type ScriptParam struct {
	Name, DType string
	Shape       []int64
	Trained     bool
}

// Recording is the script for Solve and Verify.
func (s *Script) Recording() (*Recording, error) {
	r := &Recording{Job: Job{Mode: scriptMode, Dims: s.Dims, Device: s.Device}, Labels: s.Labels}
	for _, e := range s.Events {
		r.events = append(r.events, event{e.Free, e.Bytes, e.Label, e.Alloc})
		if !e.Free {
			if e.Alloc != len(r.categories) {
				return nil, fmt.Errorf("allocation %d is the %d-th", e.Alloc, len(r.categories))
			}
			r.categories = append(r.categories, e.Category)
		} else if e.Alloc < 0 || e.Alloc >= len(r.categories) {
			return nil, fmt.Errorf("allocation %d is freed before it is made", e.Alloc)
		}
	}
	for _, p := range s.Parts {
		r.marks = append(r.marks, mark{p.At, symbolic.Script, p.Name, -1})
	}
	for _, p := range s.Params {
		r.places.Parameters = append(r.places.Parameters, tensor{p.Name, p.Shape, p.DType, p.Trained, -1})
	}
	return r, r.check(len(r.categories))
}

// Formula is the formula of a number that each of some recordings of a script has,
// and the most that it is off by, as a share.
func Formula(recordings []*Recording, values []int64) (e symbolic.Expr, off float64) {
	sites := make([]site, len(recordings))
	for i, r := range recordings {
		sites[i] = site{r.Job.Dims, r.Job.Device}
	}
	found := newFitter(sites, scriptAtoms(recordings), scriptDegree).fit("", values, everywhere(len(values)))
	return found.expr, found.error
}

// scriptDegree is how many factors a product has at most.
const scriptDegree = 4

// isScript reports whether a recording is of a script.
func (r *Recording) isScript() bool { return r.Job.Mode == scriptMode }

// scriptAtoms are the factors that sizes of a script may have: what is varied,
// up to its fourth power, since a script may vary anything, and what kernels
// round it up to.
func scriptAtoms(recordings []*Recording) []atom {
	var list []atom
	for _, name := range slices.Sorted(maps.Keys(recordings[0].Job.Dims)) {
		a := atom{factor: symbolic.Factor{Dim: name}, group: name, power: 4, weight: 10}
		a.values = valuesOf(recordings, symbolic.Product(1, 1, name))
		if constant(a.values) {
			continue
		}
		list = append(list, a)
		list = append(list, roundedUp(recordings, a)...)
	}
	return list
}

// orderScript puts the parts of scripts in the order of time: what a recording
// has more than others stands between what all have.
func (s *solver) orderScript() {
	var names union
	for _, r := range s.recs {
		var list []string
		for i := range r.pieces {
			list = append(list, r.pieces[i].part.name)
		}
		names.merge(list)
	}
	for place, id := range names.order {
		key := partKey{symbolic.Script, names.tokens[id], ""}
		if p := s.parts[key]; p != nil {
			p.order = place
		}
	}
}

// withEmpty are the bodies of a script's part, with one of no events for each
// recording that does not have the part.
func (s *solver) withEmpty(bodies []body) []body {
	if !s.recs[0].isScript() {
		return bodies
	}
	for _, r := range s.recs {
		if !slices.ContainsFunc(bodies, func(b body) bool { return b.rec == r }) {
			bodies = append(bodies, body{rec: r})
		}
	}
	return bodies
}

// operatorsOf is a script's label without the module and the line.
func operatorsOf(label string) string {
	words := strings.Fields(label)
	for len(words) > 0 && (words[0][0] == '@' || strings.Contains(words[0], ":")) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// Bounds of what arguments of kernels' functions are searched among: a script's
// dimensions are numbers that nobody named.
const (
	mostConstants = 48
	mostCalls     = 1 << 20
	allCalls      = 1 << 27 // of all sizes of a script; sizes without a formula would take for ever
)

// constants are numbers that may be dimensions of a script's tensors: extents of
// its parameters, and the coefficients of sizes without the bytes of an element.
// Those that are there most come first.
func (s *solver) constants() []int64 {
	s.fit.calls = new(int)
	*s.fit.calls = allCalls
	times := map[int64]int{}
	for _, r := range s.recs {
		for _, p := range r.places.Parameters {
			for _, n := range p.shape {
				times[n]++
			}
		}
	}
	for _, values := range s.sizes() {
		e, ok := s.fit.one(values, everywhere(len(values)))
		if !ok || len(e.Terms) != 1 || e.Terms[0].Den != 1 {
			continue
		}
		for _, element := range []int64{1, 2, 4, 8} {
			if e.Terms[0].Num%element == 0 {
				times[e.Terms[0].Num/element]++
			}
		}
	}
	delete(times, 1)
	list := slices.SortedFunc(maps.Keys(times), func(a, b int64) int { return cmp.Or(times[b]-times[a], cmp.Compare(a, b)) })
	return append([]int64{1}, list[:min(len(list), mostConstants)]...)
}

// sizes are those of the slots that all recordings have, once each.
func (s *solver) sizes() [][]int64 {
	all := map[slotKey][]int64{}
	for _, r := range s.recs {
		for _, p := range r.pieces {
			for _, a := range p.allocs {
				at := slotKey{p.part.name, r.slots[a]}
				if len(all[at]) == r.n {
					all[at] = append(all[at], r.bytesOf(a))
				}
			}
		}
	}
	var list [][]int64
	seen := map[string]bool{}
	for _, values := range all {
		if key := fmt.Sprint(values); len(values) == len(s.recs) && !seen[key] {
			seen[key] = true
			list = append(list, values)
		}
	}
	return list
}

// scriptArguments lists what an argument of a kernel's function may be in a
// script: constants, products of what is varied, and products of both.
func (f *fitter) scriptArguments(name string) []argument {
	role := roles[name]
	var list []argument
	add := func(n int64, m *monomial) {
		t := symbolic.Term{Num: n, Den: 1}
		a := argument{values: slices.Repeat([]int64{n}, len(f.sites))}
		if m != nil {
			t.Factors = m.factors
			for i, v := range m.values {
				a.values[i] = n * v
			}
		}
		a.expr = symbolic.Sum(t)
		list = append(list, a)
	}
	for _, n := range role.numbers {
		add(n, nil)
	}
	if len(list) > 0 {
		return list
	}
	var products []*monomial
	for i := range f.monomials {
		m := &f.monomials[i]
		few := len(m.factors) > 0 && len(m.factors) <= 3 && !slices.ContainsFunc(m.factors, func(x symbolic.Factor) bool { return x.Func != "" })
		if few && name != "head" && name != "value" && name != "width" {
			products = append(products, m)
		}
	}
	plain := func() {
		for _, m := range products {
			add(1, m)
		}
	}
	if name == "inputs" || name == "rows" || name == "indices" { // what grows with the batch, most often
		plain()
	}
	for _, n := range f.constants[1:] {
		add(n, nil)
	}
	add(f.constants[0], nil)
	if len(list) == len(f.constants) {
		plain()
	}
	for _, m := range products { // what has a role is a dimension that was not varied, times one that was
		if role.degree > 0 && name != "sequences" && len(m.factors) > 1 {
			continue
		}
		for _, n := range f.constants[1:] {
			add(n, m)
		}
	}
	return list
}

// semaphores is the other buffer of the reduction whose partial results were the
// allocation before.
func (s *solver) semaphores(label string, values []int64, present, has []bool) (symbolic.Expr, bool) {
	if !strings.HasSuffix(label, " raw") || len(s.before.Terms) != 1 || len(s.before.Terms[0].Factors) != 1 {
		return symbolic.Expr{}, false
	}
	staging := s.before.Terms[0].Factors[0]
	fn, ok := kernel.Lookup(staging.Func + "_semaphores")
	if !ok || len(fn.Args) > len(staging.Args) {
		return symbolic.Expr{}, false
	}
	e := symbolic.Sum(symbolic.Term{Num: 1, Den: 1, Factors: []symbolic.Factor{{Func: fn.Name, Args: staging.Args[:len(fn.Args)]}}})
	for i, site := range s.fit.sites {
		want := int64(0)
		if present[i] {
			want = values[i]
		}
		if v, err := e.Eval(site.dims, site.device); has[i] && (err != nil || v != want) {
			return symbolic.Expr{}, false
		}
	}
	return e, true
}

// likely are the lists of a function's arguments with the usual one of what are
// numbers only, as the bytes of an element: where several are possible, it is meant.
func likely(fn kernel.Function, lists [][]argument) [][]argument {
	lists = slices.Clone(lists)
	for i, arg := range fn.Args {
		if len(roles[argumentName(arg)].numbers) > 0 {
			lists[i] = lists[i][:1]
		}
	}
	return lists
}

// bounded shortens the longest lists until few enough calls are left.
func bounded(lists [][]argument) {
	for {
		calls, longest := 1, 0
		for i, l := range lists {
			calls *= len(l)
			if len(l) > len(lists[longest]) {
				longest = i
			}
		}
		if calls <= mostCalls {
			return
		}
		lists[longest] = lists[longest][:len(lists[longest])*3/4]
	}
}
