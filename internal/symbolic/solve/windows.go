package solve

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A premise is a condition that models with windows look at, and where it holds.
type premise struct {
	cond  symbolic.Cond
	holds []bool
}

// premises are the conditions of an image that is cut into windows: there is
// more than one of them, it had to be padded to whole windows, or to an even
// number of pixels.
func premises(recordings []*Recording) []premise {
	var list []premise
	add := func(e symbolic.Expr, more int64) {
		p := premise{cond: symbolic.Cond{Left: e, More: more}}
		for _, v := range valuesOf(recordings, e) {
			p.holds = append(p.holds, v > more)
		}
		if slices.Contains(p.holds, true) && slices.Contains(p.holds, false) {
			list = append(list, p)
		}
	}
	known := extentsOf(recordings)
	part := func(e, of [2]int64, size int64) {
		h, w := extent("H", e), extent("W", e)
		oh, ow := extent("H", of), extent("W", of)
		add(less(size*size, []symbolic.Factor{h, w}, []symbolic.Factor{oh, ow}), 0)
		add(less(size, []symbolic.Factor{h}, []symbolic.Factor{oh}), 0)
		add(less(size, []symbolic.Factor{w}, []symbolic.Factor{ow}), 0)
	}
	for _, c := range cutsOf(recordings) {
		if c.size > 2 {
			h, w := extent("H", c.into), extent("W", c.into)
			add(product(h, w), 1)
			add(product(h), 1)
			add(product(w), 1)
		}
		part(c.into, c.of, c.size)
	}
	if half(recordings[0].Job.Precision) {
		for _, e := range known {
			for _, more := range depthwise {
				add(product(extent("W", e)), more)
			}
		}
	}
	if len(list) > 0 {
		add(symbolic.Product(1, 1, "B"), 1)
	}
	return list
}

// A cut is an extent that is cut into windows of a size, or into pairs of pixels, after
// it was padded to whole ones.
type cut struct {
	of, into [2]int64
	size     int64
}

// cutsOf are those that recordings know.
func cutsOf(recordings []*Recording) []cut {
	known := extentsOf(recordings)
	var list []cut
	for _, of := range known {
		for _, size := range []int64{7, 8} {
			into := [2]int64{of[0] + (size-1)*of[1], size * of[1]}
			if of[1] < 4 || !slices.Contains(known, into) {
				continue
			}
			list = append(list, cut{of, into, size})
			if half := [2]int64{of[0] + of[1], 2 * of[1]}; slices.Contains(known, half) {
				list = append(list, cut{of, half, 2})
			}
		}
	}
	return list
}

// depthwise are the widths up to which PyTorch convolves each channel by
// itself, in float16 and without cuDNN: Convolution.cpp,
// check_cudnn_depthwise_workload_with_filter. It looks at the width only.
var depthwise = []int64{6, 27}

func half(precision string) bool { return precision != "fp32" }

// less is n times a product minus another product.
func less(n int64, a, b []symbolic.Factor) symbolic.Expr {
	return symbolic.Sum(symbolic.Term{Num: n, Den: 1, Factors: a}, symbolic.Term{Num: -1, Den: 1, Factors: b})
}

// maxPremises bounds the conditions that are true together.
const maxPremises = 3

// premised is a guard of a few premises.
func (p *pixels) premised(present []bool) guarded {
	for n := 1; n <= maxPremises; n++ {
		if g := p.premisedBy(n, 0, present, everywhere(len(present)), nil); g != nil {
			return guarded{g, true}
		}
	}
	absent := make([]bool, len(present))
	for i, is := range present {
		absent[i] = !is
	}
	for n := 2; n <= maxPremises; n++ {
		if g := p.premisedBy(n, 0, absent, everywhere(len(present)), nil); g != nil {
			return guarded{opposite(g), true}
		}
	}
	return guarded{}
}

// opposite is the guard that holds where another does not: where the largest of
// what its conditions are missed by is above 0.
func opposite(g symbolic.Guard) symbolic.Guard {
	var by symbolic.Expr
	for i, c := range g {
		sign, more := int64(-1), c.More+1 // c is Left > More
		if c.Not {
			sign, more = 1, -c.More
		}
		missed := symbolic.Sum(symbolic.Term{Num: more, Den: 1})
		for _, t := range c.Left.Terms {
			t.Num *= sign
			missed = symbolic.Sum(append(missed.Terms, t)...)
		}
		if i == 0 {
			by = missed
		} else {
			by = product(symbolic.Factor{Func: "max", Args: []symbolic.Expr{by, missed}})
		}
	}
	return symbolic.Guard{{Left: by, More: 0}}
}

// premisedBy adds n premises from the at-th on to a guard that holds at some
// recordings already.
func (p *pixels) premisedBy(n, at int, present, holds []bool, so symbolic.Guard) symbolic.Guard {
	if n == 0 {
		if slices.Equal(holds, present) {
			return slices.Clone(so)
		}
		return nil
	}
	for i := at; i < len(p.premises); i++ {
		for _, not := range []bool{false, true} {
			next, ok, fewer := slices.Clone(holds), true, false
			for k, t := range p.premises[i].holds {
				if next[k] && t == not {
					next[k], fewer = false, true
					ok = ok && !present[k]
				}
			}
			if !ok || !fewer {
				continue
			}
			c := p.premises[i].cond
			c.Not = not
			if g := p.premisedBy(n-1, i+1, present, next, append(so, c)); g != nil {
				return g
			}
		}
	}
	return nil
}
