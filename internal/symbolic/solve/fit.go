package solve

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// A site is where a recording was made.
type site struct {
	dims   symbolic.Dims
	device kernel.Device
}

// A fitter finds formulas of values at sites.
type fitter struct {
	sites     []site
	monomials []monomial
	byShape   map[string][]int // index of monomials by the ratios of their values
	rests     []monomial       // what is missing to a multiple, for conditions
	solved    map[string]fitted
	known     map[string][]symbolic.Expr // proved, by operator
	guards    map[string]guarded
	pixels    *pixels // nil but for models of images
	constants []int64 // of a script: what its formulas may have beside symbols
	calls     *int    // of kernels' functions that may still be tried, where they are bounded
	turn      string  // function whose turn in the present call of an operator is over, "" for none
}

type monomial struct {
	factors []symbolic.Factor
	less    string // a dimension that is taken off
	values  []int64
	weight  int // simpler ones first
}

func (m monomial) expr() symbolic.Expr {
	terms := []symbolic.Term{{Num: 1, Den: 1, Factors: m.factors}}
	if m.less != "" {
		terms = append(terms, symbolic.Term{Num: -1, Den: 1, Factors: []symbolic.Factor{{Dim: m.less}}})
	}
	return symbolic.Sum(terms...)
}

type fitted struct {
	expr  symbolic.Expr
	error float64
}

// newFitter enumerates the monomials of the given atoms. Each atom may be used
// up to its power; degree bounds their number in a product.
func newFitter(sites []site, atoms []atom, degree int) *fitter {
	f := &fitter{sites: sites, byShape: map[string][]int{}, solved: map[string]fitted{}, known: map[string][]symbolic.Expr{}, guards: map[string]guarded{}}
	f.enumerate(atoms, nil, degree, 0, nil)
	slices.SortStableFunc(f.monomials, func(a, b monomial) int { return a.weight - b.weight })
	for _, a := range atoms {
		if a.factor.Func == "" || a.with != nil {
			continue
		}
		m := monomial{factors: []symbolic.Factor{a.factor}, less: a.group, values: make([]int64, len(sites))}
		for i, s := range sites {
			m.values[i] = a.values[i] - s.dims[a.group]
		}
		f.rests = append(f.rests, m)
	}
	for _, window := range []string{"w", "T"} {
		m := monomial{factors: []symbolic.Factor{{Dim: "S"}}, less: window, values: make([]int64, len(sites))}
		_, ok := sites[0].dims[window]
		for i, s := range sites {
			m.values[i] = s.dims["S"] - s.dims[window]
		}
		if ok {
			f.rests = append(f.rests, m)
		}
	}
	f.index()
	return f
}

func (f *fitter) index() {
	for i, m := range f.monomials {
		key := shape(m.values)
		f.byShape[key] = append(f.byShape[key], i)
	}
}

// among is the fitter of some of the sites.
func (f *fitter) among(has []bool) *fitter {
	few := &fitter{constants: f.constants, calls: f.calls, turn: f.turn, byShape: map[string][]int{}, solved: map[string]fitted{}, known: map[string][]symbolic.Expr{}, guards: map[string]guarded{}}
	for i, h := range has {
		if h {
			few.sites = append(few.sites, f.sites[i])
		}
	}
	for _, m := range f.monomials {
		few.monomials = append(few.monomials, m.among(has))
	}
	for _, m := range f.rests {
		few.rests = append(few.rests, m.among(has))
	}
	few.index()
	return few
}

func (m monomial) among(has []bool) monomial {
	m.values = pick(m.values, has)
	return m
}

// An atom is a factor that monomials may have.
type atom struct {
	factor symbolic.Factor
	with   []symbolic.Factor // that are always with it: an area's width
	group  string            // atoms of one group share a power
	power  int
	weight int
	values []int64
	alone  bool // never in a product
}

func (f *fitter) enumerate(atoms []atom, used []symbolic.Factor, degree, weight int, values []int64) {
	if values == nil {
		values = slices.Repeat([]int64{1}, len(f.sites))
	}
	f.monomials = append(f.monomials, monomial{factors: used, values: values, weight: weight})
	if degree == 0 {
		return
	}
	for i, a := range atoms {
		if powers(atoms, used, a.group) >= a.power || a.alone && len(used) > 0 {
			continue
		}
		next := make([]int64, len(values))
		for k, v := range values {
			if a.factor.Invert {
				if a.values[k] == 0 || v%a.values[k] != 0 {
					next = nil
					break
				}
				next[k] = v / a.values[k]
			} else {
				next[k] = v * a.values[k]
			}
		}
		if next == nil {
			continue
		}
		rest := atoms[i:]
		if a.alone {
			rest = nil
		}
		f.enumerate(rest, append(append(slices.Clone(used), a.factor), a.with...), degree-1, weight+a.weight, next)
	}
}

func powers(atoms []atom, used []symbolic.Factor, group string) int {
	n := 0
	for _, u := range used {
		for _, a := range atoms {
			if a.group == group && a.factor.String() == u.String() && a.factor.Invert == u.Invert {
				n++
				break
			}
		}
	}
	return n
}

// shape is the same for values with the same ratios.
func shape(values []int64) string {
	var g int64
	for _, v := range values {
		g = symbolic.GCD(g, v)
	}
	if g == 0 {
		return "0"
	}
	var b strings.Builder
	for _, v := range values {
		v /= g
		for range 8 {
			b.WriteByte(byte(v))
			v >>= 8
		}
	}
	return b.String()
}

// fit returns the formula of values; at sites where present is false there is
// none. It is exact, or marked with its largest relative error.
func (f *fitter) fit(label string, values []int64, present []bool) fitted {
	if f.pixels != nil && (strings.HasSuffix(label, " raw") || strings.HasPrefix(label, zeroed)) { // what was allocated before counts
		return f.search(label, values, present)
	}
	key := label + fmt.Sprint(pick(values, present)) + mask(present) + f.turn
	if f.pixels != nil && f.pixels.convolved {
		key += " convolved"
	}
	if done, ok := f.solved[key]; ok {
		return done
	}
	done := f.search(label, values, present)
	f.solved[key] = done
	if done.error == 0 && count(present) >= enough {
		f.known[label] = append(f.known[label], done.expr)
	}
	return done
}

func (f *fitter) search(label string, values []int64, present []bool) fitted {
	if f.constants != nil && strings.HasSuffix(label, " raw") { // a kernel's own buffer, whatever else it looks like
		want := pick(values, present)
		if !constant(want) || !all(present) {
			if k, found := f.kernel(label, values, present, false); found {
				return fitted{expr: k}
			}
		}
	}
	if k, found := f.kernelOf(decisions(label), values, present, false); found {
		return fitted{expr: k}
	}
	e, ok := f.one(values, present)
	// A number, or a product that some recordings lack, may be better explained
	// by a kernel's rule.
	number := ok && (len(e.Terms) == 0 || len(e.Terms[0].Factors) == 0)
	if ok && all(present) && !number {
		return fitted{expr: e}
	}
	if k, found := f.kernel(label, values, present, number && all(present)); found {
		return fitted{expr: k}
	}
	if ok && f.proved(e, values, present) {
		return fitted{expr: e}
	}
	// Where the allocation is another event, a kernel's rule need not be 0.
	few := count(present)
	if ok && few > 1 && few < enough {
		if k, found := f.kernelAmong(label, values, present); found {
			return fitted{expr: k}
		}
	}
	if ok {
		return fitted{expr: e, error: 1}
	}
	if e, ok := f.two(values, present); ok {
		return fitted{expr: e}
	}
	if e, ok := f.common(values, present); ok {
		return fitted{expr: e}
	}
	if few >= 4 && few < len(present) {
		if k, found := f.kernelAmong(label, values, present); found {
			return fitted{expr: k}
		}
	}
	return f.near(values, present)
}

// kernelAmong is a kernel's function that is right where there are values, whatever it
// is elsewhere.
func (f *fitter) kernelAmong(label string, values []int64, present []bool) (symbolic.Expr, bool) {
	few := pick(values, present)
	return f.among(present).kernel(label, few, everywhere(len(few)), false)
}

// enough is how many values prove a product.
const enough = 3

// natural is the largest coefficient that two values prove: an accident gives
// another.
const natural = 64

// proved reports whether the values are enough to believe in a product, since
// any size at all agrees with one recording. What is no more than a block of the
// allocator is one whatever it is.
func (f *fitter) proved(e symbolic.Expr, values []int64, present []bool) bool {
	few := pick(values, present)
	if len(few) >= min(enough, len(f.sites)) || slices.Max(few) <= block {
		return true
	}
	if len(few) < enough-1 || len(e.Terms) != 1 {
		return false
	}
	t := e.Terms[0]
	plain := t.Num <= natural || f.constants != nil // coefficients of scripts have tensors' extents in them
	return len(t.Factors) > 0 && t.Den == 1 && plain
}

// elsewhere is what the same operator asked for in other places, if it gives the
// values: so what too few recordings have is proved.
func (f *fitter) elsewhere(label string, values []int64, present []bool) (symbolic.Expr, bool) {
	for _, known := range f.known[label] {
		if f.gives(known, values, present) {
			return known, true
		}
	}
	return symbolic.Expr{}, false
}

// block is the least that the allocator gives.
const block = 512

// one is a single monomial. Of several that are alike where the values are, it is one
// with a plain coefficient: few recordings may have a dimension of one size only, which
// is no part of a formula.
func (f *fitter) one(values []int64, present []bool) (symbolic.Expr, bool) {
	want := pick(values, present)
	same := true
	for _, v := range want {
		same = same && v == want[0]
	}
	if same {
		return symbolic.Const(want[0]), true
	}
	var best symbolic.Expr
	found := false
	for m := range f.alike(values, present) {
		i := first(present)
		g := symbolic.GCD(values[i], m.values[i])
		t := symbolic.Term{Num: values[i] / g, Den: m.values[i] / g, Factors: m.factors}
		plain := f.constants != nil || t.Den == 1 && t.Num <= natural
		if f.pixels != nil {
			plain = f.pixels.likely(m)
		}
		if plain || !found {
			best, found = symbolic.Sum(t), true
		}
		if plain {
			break
		}
	}
	return best, found
}

// alike are the monomials with the ratios of values where they are present, the
// simplest first.
func (f *fitter) alike(values []int64, present []bool) iter.Seq[monomial] {
	return func(yield func(monomial) bool) {
		if all(present) {
			for _, i := range f.byShape[shape(values)] {
				if !yield(f.monomials[i]) {
					return
				}
			}
			return
		}
		want := shape(pick(values, present))
		for _, m := range f.monomials {
			if shape(pick(m.values, present)) == want && !yield(m) {
				return
			}
		}
	}
}

// maxPaired bounds the monomials that sums are searched among.
const maxPaired = 700

// two is a sum of two monomials, or of one and a number.
func (f *fitter) two(values []int64, present []bool) (symbolic.Expr, bool) {
	want := pick(values, present)
	list := f.monomials[:min(len(f.monomials), maxPaired)]
	parts := int64(quarters)
	if f.constants != nil {
		parts = sixtyFourths
	}
	switch {
	case len(want) < 3:
		return symbolic.Expr{}, false
	case len(want) < 4: // few values are proof of simple sums only
		list = list[:min(len(list), 8)]
	case len(want) < 6:
		list = list[:min(len(list), 40)]
	}
	picked := make([][]int64, len(list))
	for i, m := range list {
		picked[i] = pick(m.values, present)
	}
	for j := range list {
		for i := range j {
			c1, c2, ok := pair(picked[i], picked[j], want, parts)
			if !ok {
				continue
			}
			e := symbolic.Sum(
				symbolic.Term{Num: c2, Den: parts, Factors: list[j].factors},
				symbolic.Term{Num: c1, Den: parts, Factors: list[i].factors})
			if f.gives(e, values, present) {
				return e, true
			}
		}
	}
	return symbolic.Expr{}, false
}

// common is a product times a sum of two dimensions, B*S*a*(n+r), which has more
// factors than those of two: a product that divides all values, and whose quotients
// are so many of one dimension and so many of another.
func (f *fitter) common(values []int64, present []bool) (symbolic.Expr, bool) {
	want := pick(values, present)
	if f.constants != nil || len(want) < 6 {
		return symbolic.Expr{}, false
	}
	var dims []monomial
	for _, m := range f.monomials {
		if len(m.factors) == 1 && m.factors[0].Func == "" {
			m.values = pick(m.values, present)
			dims = append(dims, m)
		}
	}
	for _, m := range f.monomials {
		rest := quotients(want, pick(m.values, present))
		if rest == nil {
			continue
		}
		for j := range dims {
			for i := range j {
				c1, c2, ok := pair(dims[i].values, dims[j].values, rest, 1)
				if !ok || max(c1, c2) > natural || min(c1, c2) < 0 {
					continue
				}
				return symbolic.Sum(
					symbolic.Term{Num: c1, Den: 1, Factors: slices.Concat(m.factors, dims[i].factors)},
					symbolic.Term{Num: c2, Den: 1, Factors: slices.Concat(m.factors, dims[j].factors)}), true
			}
		}
	}
	return symbolic.Expr{}, false
}

// quotients are a/b, nil where b does not divide all.
func quotients(a, b []int64) []int64 {
	list := make([]int64, len(a))
	for i := range a {
		if b[i] == 0 || a[i]%b[i] != 0 {
			return nil
		}
		list[i] = a[i] / b[i]
	}
	return list
}

// gives reports whether an expression has the values; each of its terms is
// rounded by itself, so that a sum of quarters may not.
func (f *fitter) gives(e symbolic.Expr, values []int64, present []bool) bool {
	for i, s := range f.sites {
		if !present[i] {
			continue
		}
		if v, err := e.Eval(s.dims, s.device); err != nil || v != values[i] {
			return false
		}
	}
	return true
}

// quarters and sixtyFourths are the smallest parts of a whole that coefficients of
// sums are made of: a script's have its tensors' extents in them.
const (
	quarters     = 4
	sixtyFourths = 64
)

// pair solves c1*a+c2*b = parts*want in whole numbers.
func pair(a, b, want []int64, parts int64) (c1, c2 int64, ok bool) {
	for k := 1; k < len(want); k++ {
		det := float64(a[0])*float64(b[k]) - float64(a[k])*float64(b[0])
		if math.Abs(det) < 0.5 {
			continue
		}
		x := float64(parts) * (float64(want[0])*float64(b[k]) - float64(want[k])*float64(b[0])) / det
		y := float64(parts) * (float64(a[0])*float64(want[k]) - float64(a[k])*float64(want[0])) / det
		c1, c2 = int64(math.Round(x)), int64(math.Round(y))
		if c1 == 0 || c2 == 0 || math.Abs(x-math.Round(x)) > 1e-3 || math.Abs(y-math.Round(y)) > 1e-3 || max(c1, -c1) > 1<<40 || max(c2, -c2) > 1<<40 {
			return 0, 0, false
		}
		for i := range want {
			if c1*a[i]+c2*b[i] != parts*want[i] {
				return 0, 0, false
			}
		}
		return c1, c2, true
	}
	return 0, 0, false
}

// near is the monomial with the smallest error. What it is off by is that of the
// recording that lies furthest from what the others alone would give, since the
// next one may lie as far.
func (f *fitter) near(values []int64, present []bool) fitted {
	best := fitted{error: math.Inf(1)}
	want := pick(values, present)
	for _, m := range f.monomials {
		got := pick(m.values, present)
		ratios := make([]float64, len(want))
		for i, v := range want {
			ratios[i] = float64(v) / float64(max(got[i], 1))
		}
		c, off := middle(ratios)
		if off < best.error-1e-9 {
			num, den := rational(c)
			if num > 0 {
				best = fitted{symbolic.Sum(symbolic.Term{Num: num, Den: den, Factors: m.factors}), off}
			}
		}
	}
	return best
}

// middle is a factor amid the ratios, and how far the lowest or the highest is
// from that of all others.
func middle(ratios []float64) (c, off float64) {
	slices.Sort(ratios)
	n := len(ratios)
	low, high := ratios[0], ratios[n-1]
	c = math.Sqrt(low * high)
	if n < 3 {
		return c, high/low - 1
	}
	return c, max(high/math.Sqrt(low*ratios[n-2]), math.Sqrt(ratios[1]*high)/low) - 1
}

// rational writes c with at most six digits.
func rational(c float64) (num, den int64) {
	den = 1
	for c < 1e5 && den < 1e6 {
		c *= 10
		den *= 10
	}
	return int64(math.Round(c)), den
}

func pick(values []int64, present []bool) []int64 {
	var list []int64
	for i, v := range values {
		if present[i] {
			list = append(list, v)
		}
	}
	return list
}

func count(present []bool) int {
	n := 0
	for _, p := range present {
		if p {
			n++
		}
	}
	return n
}

// everywhere is true of n recordings.
func everywhere(n int) []bool { return slices.Repeat([]bool{true}, n) }

// compared says whether two flags are the same in some recordings, and whether they are
// the opposite of one another in each.
func compared(a, b, among []bool) (same, other bool) {
	same, other = true, true
	for i, counts := range among {
		same = same && (!counts || a[i] == b[i])
		other = other && (!counts || a[i] != b[i])
	}
	return same, other
}

func all(present []bool) bool { return !slices.Contains(present, false) }

func first(present []bool) int { return slices.Index(present, true) }

func mask(present []bool) string {
	b := make([]byte, len(present))
	for i, p := range present {
		b[i] = '0'
		if p {
			b[i] = '1'
		}
	}
	return string(b)
}
