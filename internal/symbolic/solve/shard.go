package solve

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// gatherLabels are what makes the buffers of FSDP2's groups: what one card has, what
// all have, and then each parameter, whose memory comes back in the backward pass.
var gatherLabels = []string{"empty_memory_format", "raw"}

// A gathering is a group of parameters as all cards have it.
type gathering struct {
	found   []string // sizes as recordings say, in the order of the model
	rounded []symbolic.Expr
}

// roundShards says what recordings cannot, since the cards divide all extents in
// them: shards are the first extent divided and rounded up, and a gathered
// parameter is as large as all its shards.
func roundShards(t *symbolic.Tape) {
	groups := map[string]*gathering{}
	shards := map[string]symbolic.Expr{} // by what recordings say
	for i := range t.Params {
		p := &t.Params[i]
		if len(p.Shape) == 0 {
			continue
		}
		found, all := *p, true // a row alone is the first card's, and others have as much room for it
		if extent, ok := undivided(p.Shape[0]); ok {
			found.Shape = slices.Clone(p.Shape)
			p.Shape[0] = factor("ceil", extent, symbolic.Product(1, 1, symbolic.Cards))
			shards[sized(&found, elementOf(p.DType), false).String()] = sized(p, elementOf(p.DType), false)
			found.Shape[0], all = extent, false
		}
		for _, element := range []int64{2, 4} {
			key := fmt.Sprint(element, p.Stack, p.Class)
			if groups[key] == nil {
				groups[key] = &gathering{}
			}
			g := groups[key]
			g.found = append(g.found, sized(&found, element, all).String())
			g.rounded = append(g.rounded, sized(p, element, true))
		}
	}
	for i := range t.Parts {
		part := &t.Parts[i]
		for c := range part.Classes {
			ops := part.Classes[c].Ops
			if part.Scope == symbolic.Load {
				roundHomes(t, part, ops, shards)
			} else {
				roundGathered(ops, groups)
			}
		}
	}
}

// undivided is an expression without the cards that all of it is divided by.
func undivided(e symbolic.Expr) (symbolic.Expr, bool) {
	var terms []symbolic.Term
	for _, term := range e.Terms {
		at := slices.IndexFunc(term.Factors, func(f symbolic.Factor) bool { return f.Invert && f.Dim == symbolic.Cards })
		if at < 0 {
			return e, false
		}
		term.Factors = slices.Delete(slices.Clone(term.Factors), at, at+1)
		terms = append(terms, term)
	}
	return symbolic.Sum(terms...), len(terms) > 0
}

func factor(name string, args ...symbolic.Expr) symbolic.Expr {
	return symbolic.Sum(symbolic.Term{Num: 1, Den: 1, Factors: []symbolic.Factor{{Func: name, Args: args}}})
}

// sized is the bytes of a parameter's shard, or of times cards as many.
func sized(p *symbolic.Param, element int64, cards bool) symbolic.Expr {
	terms := []symbolic.Term{{Num: element, Den: 1}}
	for _, e := range p.Shape {
		var next []symbolic.Term
		for _, a := range terms {
			for _, b := range e.Terms {
				next = append(next, symbolic.Term{Num: a.Num * b.Num, Den: a.Den * b.Den, Factors: slices.Concat(a.Factors, b.Factors)})
			}
		}
		terms = next
	}
	if cards {
		for i := range terms {
			terms[i].Factors = append(terms[i].Factors, symbolic.Factor{Dim: symbolic.Cards})
		}
	}
	return symbolic.Sum(terms...)
}

// roundHomes rounds the blocks of parameters, and of such as were dropped for a
// shared one.
func roundHomes(t *symbolic.Tape, part *symbolic.Part, ops []symbolic.Op, rounded map[string]symbolic.Expr) {
	for i := range t.Params {
		p := &t.Params[i]
		if p.Home.Part != part.Name {
			continue
		}
		for o := range ops {
			if _, divided := undivided(ops[o].Bytes); divided && !ops[o].Free && ops[o].Slot == p.Home.Slot {
				ops[o].Bytes = sized(p, elementOf(p.DType), false)
			}
		}
	}
	for o := range ops {
		if e, ok := rounded[ops[o].Bytes.String()]; ok && !ops[o].Free {
			ops[o].Bytes = e
		}
	}
}

func elementOf(dtype string) int64 {
	if dtype == "float32" {
		return 4
	}
	return 2
}

// roundGathered rounds the parameters of groups, each of which comes at once.
func roundGathered(ops []symbolic.Op, groups map[string]*gathering) {
	var run []*symbolic.Op
	for o := 0; o <= len(ops); o++ {
		if o < len(ops) && ops[o].Free {
			continue
		}
		if o < len(ops) && slices.Contains(gatherLabels, ops[o].Label) {
			run = append(run, &ops[o])
			continue
		}
		for len(run) > 0 {
			run = run[max(1, roundGroup(run, groups)):]
		}
	}
}

// roundGroup rounds the largest group that a run begins with and returns its length.
func roundGroup(run []*symbolic.Op, groups map[string]*gathering) int {
	var best *gathering
	n := 0
	for _, g := range groups {
		if len(g.found) <= n || len(g.found) > len(run) {
			continue
		}
		same := true
		for i, found := range g.found {
			same = same && run[i].Bytes.String() == found
		}
		if same {
			best, n = g, len(g.found)
		}
	}
	for i, op := range run[:n] {
		op.Bytes = best.rounded[i]
	}
	return n
}
