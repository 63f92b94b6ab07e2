package solve

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// shards are what a card has of the parameters.
func (s *solver) shards(r *cutRecording) []symbolic.Shard {
	list := make([]symbolic.Shard, len(r.places.Parameters))
	for n, t := range r.places.Parameters {
		tm := s.templateOf(r, t)
		if tm.stack != "" {
			list[n].Layer = fmt.Sprint(tm.stack, tm.index)
		}
		list[n].Elements = 1
		for _, extent := range t.shape {
			list[n].Elements *= extent
		}
	}
	return list
}

// gatherLabels are what makes the buffers of FSDP2's groups: what one card has, what
// all have, and then each parameter, whose memory comes back in the backward pass.
var gatherLabels = []string{"empty_memory_format", "raw"}

// A gathering is a group of parameters as all cards have it.
type gathering struct {
	found   []string // what recordings say, in the order of the model: values of sizes
	rounded []symbolic.Expr
}

// values are those that an expression has in all recordings, as text: what is equal
// may be written in several ways.
func (f *fitter) values(e symbolic.Expr) string {
	list := make([]int64, len(f.sites))
	for i, s := range f.sites {
		v, err := e.Eval(s.dims, s.device)
		if err != nil {
			return err.Error()
		}
		list[i] = v
	}
	return fmt.Sprint(list)
}

// roundShards says what recordings cannot, since the cards divide all extents in
// them: shards are the first extent divided and rounded up, and a gathered
// parameter is as large as all its shards.
func (f *fitter) roundShards(t *symbolic.Tape) {
	groups := map[string]*gathering{}
	shards := make([]shard, len(t.Params))
	for i := range t.Params {
		p := &t.Params[i]
		if len(p.Shape) == 0 {
			continue
		}
		found, all := *p, true // a row alone is the first card's, and others have as much room for it
		if extent, ok := undivided(p.Shape[0]); ok {
			found.Shape = slices.Clone(p.Shape)
			p.Shape[0] = factor("ceil", extent, symbolic.Product(1, 1, symbolic.Cards))
			shards[i] = shard{f.values(sized(&found, elementOf(p.DType), false)), sized(p, elementOf(p.DType), false)}
			found.Shape[0], all = extent, false
		}
		for _, element := range []int64{2, 4} {
			key := fmt.Sprint(element, p.Stack, p.Class)
			if groups[key] == nil {
				groups[key] = &gathering{}
			}
			g := groups[key]
			g.found = append(g.found, f.values(sized(&found, element, all)))
			g.rounded = append(g.rounded, sized(p, element, true))
		}
	}
	for i := range t.Parts {
		part := &t.Parts[i]
		for c := range part.Classes {
			ops := part.Classes[c].Ops
			if part.Scope == symbolic.Load {
				f.roundHomes(t, part, ops, shards)
			} else {
				f.roundGathered(ops, groups)
			}
		}
	}
}

// share is a formula of what each card has of something, in place of one that is not
// exact: that of all of it, divided. Cards need not divide each term of a sum.
func (f *fitter) share(found fitted, values []int64, present []bool) fitted {
	if found.error == 0 || f.sites[0].dims[symbolic.Cards] == 0 {
		return found
	}
	whole := slices.Clone(values)
	for i, s := range f.sites {
		whole[i] *= s.dims[symbolic.Cards]
	}
	all := f.fit("", whole, present)
	if all.error > 0 {
		return found
	}
	terms := slices.Clone(all.expr.Terms)
	for i, t := range terms {
		terms[i].Factors = append(slices.Clone(t.Factors), symbolic.Factor{Dim: symbolic.Cards, Invert: true})
	}
	return fitted{expr: symbolic.Sum(terms...)}
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

// sized is the bytes of a parameter's shard, or of those of all cards.
func sized(p *symbolic.Param, element int64, cards bool) symbolic.Expr {
	bytes := symbolic.Const(element)
	for _, e := range p.Shape {
		bytes = symbolic.Times(bytes, e)
	}
	if cards {
		bytes = symbolic.Times(bytes, symbolic.Product(1, 1, symbolic.Cards))
	}
	return bytes
}

// A shard is what a card has of a parameter.
type shard struct {
	found   string // what recordings say: values of its size, "" where cards do not share it
	rounded symbolic.Expr
}

// roundHomes rounds the blocks of parameters, and of such as were dropped for a
// shared one.
func (f *fitter) roundHomes(t *symbolic.Tape, part *symbolic.Part, ops []symbolic.Op, shards []shard) {
	for o := range ops {
		op := &ops[o]
		if _, divided := undivided(op.Bytes); !divided || op.Free {
			continue
		}
		found := f.values(op.Bytes)
		for i, s := range shards {
			if s.found != found {
				continue
			}
			op.Bytes = s.rounded
			if home := t.Params[i].Home; home.Part == part.Name && home.Slot == op.Slot {
				break
			}
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
func (f *fitter) roundGathered(ops []symbolic.Op, groups map[string]*gathering) {
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
			run = run[max(1, f.roundGroup(run, groups)):]
		}
	}
}

// roundGroup rounds the largest group that a run begins with and returns its length.
func (f *fitter) roundGroup(run []*symbolic.Op, groups map[string]*gathering) int {
	var best *gathering
	n := 0
	for _, g := range groups {
		if len(g.found) <= n || len(g.found) > len(run) {
			continue
		}
		same := true
		for i, found := range g.found {
			same = same && f.values(run[i].Bytes) == found
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
