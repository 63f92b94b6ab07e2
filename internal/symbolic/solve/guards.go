package solve

import (
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

type guarded struct {
	guard symbolic.Guard
	ok    bool
}

// thresholds are limits at which PyTorch works in another way; where one lies
// between what was recorded, it is the limit that is meant.
var thresholds = []int64{
	3072,  // EmbeddingBackwardKernel.cu: indices from which on it sorts
	65536, // layer_norm_kernel.cu: rows from which on gradients are summed in two steps
	1024,  // Sort.cpp: 4,096 elements are sorted in one block, those of tokens with 4 experts each,
	2048,  // and with 2
	-1,    // a sequence less a window, which is in the way from the same length on
	0,     // what is missing to a multiple: nothing, or something
}

// guard finds a condition that is true where present is.
func (f *fitter) guard(present []bool) guarded {
	key := mask(present)
	if g, ok := f.guards[key]; ok {
		return g
	}
	g := f.searchGuard(present)
	f.guards[key] = g
	return g
}

func (f *fitter) searchGuard(present []bool) guarded {
	// What most likely makes a difference comes first: a window, the batch and
	// the length, yes and no together, what is missing to a multiple, one dimension
	// of the model. Only then products, which part few recordings by accident.
	var windows, runs, further, singles, products []monomial
	for _, m := range f.rests {
		if m.less == "w" {
			windows = append(windows, m)
		}
	}
	for _, m := range f.monomials[:min(len(f.monomials), maxPaired)] {
		switch {
		case madeOf(m.factors, "BSTHWXY") && len(m.factors) <= 2:
			runs = append(runs, m)
		case madeOf(m.factors, "BSTHWXY"):
			further = append(further, m)
		case len(m.factors) == 1:
			singles = append(singles, m)
		default:
			products = append(products, m)
		}
	}
	for _, m := range slices.Concat(windows, runs) {
		if c, ok := divide(m, present); ok {
			return guarded{symbolic.Guard{c}, true}
		}
	}
	if g, ok := f.plain(present); ok {
		return guarded{g, true}
	}
	for _, m := range slices.Concat(further, f.rests, singles, products, f.slopes()) {
		if c, ok := divide(m, present); ok {
			return guarded{symbolic.Guard{c}, true}
		}
	}
	// Two conditions: one that is true for all that are present, and a second
	// that parts the rest.
	list := slices.Concat(f.rests, f.monomials[:min(len(f.monomials), 120)])
	for _, m := range list {
		for _, n := range list {
			if g, ok := divideTwice(m, n, present); ok {
				return guarded{g, true}
			}
		}
	}
	return guarded{}
}

// An answer is where a condition is true.
type answer struct {
	cond symbolic.Cond
	yes  []bool
}

// plain is a guard of one or two conditions that are yes or no, whatever was recorded:
// one example or more, a length that is a multiple or not.
func (f *fitter) plain(present []bool) (symbolic.Guard, bool) {
	var answers []answer
	for _, m := range f.monomials {
		if len(m.factors) == 1 && m.factors[0].Dim == "B" {
			answers = append(answers, m.more(1, false), m.more(1, true))
		}
	}
	for _, m := range f.rests {
		if m.factors[0].Func == "up" {
			answers = append(answers, m.more(0, false), m.more(0, true))
		}
	}
	for i, a := range answers {
		if slices.Equal(a.yes, present) {
			return symbolic.Guard{a.cond}, true
		}
		for _, b := range answers[:i] {
			if slices.Equal(pairs(a.yes, b.yes, true), present) {
				return symbolic.Guard{b.cond, a.cond}, true
			}
			// None of both sides is ever below its limit, so that one of them is above
			// it where their sum is above that of the limits.
			if !a.cond.Not && !b.cond.Not && slices.Equal(pairs(a.yes, b.yes, false), present) {
				terms := slices.Concat(b.cond.Left.Terms, a.cond.Left.Terms)
				return symbolic.Guard{{Left: symbolic.Sum(terms...), More: a.cond.More + b.cond.More}}, true
			}
		}
	}
	return nil, false
}

// more is where a monomial is above a limit, or where it is not.
func (m monomial) more(limit int64, not bool) answer {
	a := answer{cond: symbolic.Cond{Left: m.expr(), More: limit, Not: not}}
	for _, v := range m.values {
		a.yes = append(a.yes, (v > limit) != not)
	}
	return a
}

// pairs is where both of two conditions are true, or where one is.
func pairs(a, b []bool, both bool) []bool {
	out := make([]bool, len(a))
	for i := range a {
		out[i] = a[i] && b[i] || !both && (a[i] || b[i])
	}
	return out
}

// slopes are conditions that single operators have: heads that are not a power of two.
func (f *fitter) slopes() []monomial {
	heads := slices.IndexFunc(f.monomials, func(m monomial) bool { return len(m.factors) == 1 && m.factors[0].Dim == "a" })
	if heads < 0 {
		return nil
	}
	fn, _ := kernel.Lookup("alibi_further_slopes")
	of := &f.monomials[heads]
	m := monomial{factors: []symbolic.Factor{{Func: fn.Name, Args: []symbolic.Expr{of.expr()}}}, values: make([]int64, len(of.values))}
	for i, heads := range of.values {
		m.values[i] = fn.Eval(kernel.Device{}, []int64{heads})
	}
	return []monomial{m}
}

// divide is a limit of a monomial between present and absent.
func divide(m monomial, present []bool) (symbolic.Cond, bool) {
	lowP, highP, lowA, highA := limits(m.values, present)
	e := m.expr()
	switch {
	case highA < lowP:
		return symbolic.Cond{Left: e, More: between(highA, lowP)}, true
	case highP < lowA:
		return symbolic.Cond{Left: e, More: between(highP, lowA), Not: true}, true
	}
	return symbolic.Cond{}, false
}

func limits(values []int64, present []bool) (lowP, highP, lowA, highA int64) {
	lowP, highP, lowA, highA = math.MaxInt64, math.MinInt64, math.MaxInt64, math.MinInt64
	for i, v := range values {
		if present[i] {
			lowP, highP = min(lowP, v), max(highP, v)
		} else {
			lowA, highA = min(lowA, v), max(highA, v)
		}
	}
	return
}

// between returns a limit from low, which is below it or equal, to high.
func between(low, high int64) int64 {
	for _, t := range thresholds {
		if t >= low && t < high {
			return t
		}
	}
	return low + (high-low-1)/2
}

// divideTwice is a guard of two conditions: a limit of m, which all that are present keep and
// some of the others do not, and one of n, which parts those that are left.
func divideTwice(m, n monomial, present []bool) (symbolic.Guard, bool) {
	lowP, highP, _, _ := limits(m.values, present)
	for _, not := range []bool{false, true} {
		out := make([]int, 0, len(present))
		limit := int64(math.MinInt64)
		for i, v := range m.values {
			fails := !present[i] && (!not && v < lowP || not && v > highP)
			if fails {
				out = append(out, i)
				if not {
					v = -v
				}
				limit = max(limit, v)
			}
		}
		if len(out) == 0 {
			continue
		}
		left := monomial{factors: n.factors, less: n.less}
		var p []bool
		for i := range present {
			if !slices.Contains(out, i) {
				left.values = append(left.values, n.values[i])
				p = append(p, present[i])
			}
		}
		if all(p) {
			continue
		}
		second, ok := divide(left, p)
		if !ok {
			continue
		}
		c := symbolic.Cond{Left: m.expr(), More: between(limit, lowP)}
		if not {
			c.More, c.Not = between(highP, -limit), true
		}
		return symbolic.Guard{c, second}, true
	}
	return nil, false
}
