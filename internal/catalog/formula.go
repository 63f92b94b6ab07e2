package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Formula gives the closed form of what lives at the peak, category by
// category: the sum of the formulas of all blocks.
func (s *source) Formula(r recipe.Recipe, d kernel.Device) (map[string]string, []estimate.Symbol, error) {
	run, err := s.begin(r, d)
	if err != nil {
		return nil, nil, err
	}
	made := map[tape.BlockID]origin{}
	run.plan.Trace = func(b tape.BlockID, part *symbolic.Part, op *symbolic.Op) { made[b] = origin{part, op} }
	var w tape.Writer
	played, err := run.play(&w)
	if err != nil {
		return nil, nil, s.missing(err)
	}
	f := &formula{run: run, made: made, params: run.tape.Params, dims: played.Dims}
	for _, t := range played.Params {
		if t.Trainable {
			f.trained += t.Elements()
		}
	}
	return f.write(w.Tape(), s)
}

// An origin is what made a block.
type origin struct {
	part *symbolic.Part
	op   *symbolic.Op
}

type formula struct {
	*run
	made    map[tape.BlockID]origin
	params  []symbolic.Param
	trained int64 // elements
	dims    symbolic.Dims
}

// write sums up what lives at the peak.
func (f *formula) write(t *tape.Tape, s *source) (map[string]string, []estimate.Symbol, error) {
	recorded, composed := map[tape.Category]*closed{}, map[tape.Category]int64{}
	all, rest := newClosed(), int64(0)
	for _, b := range liveAtPeak(t) {
		block := t.Block(b)
		o, ok := f.made[b]
		if !ok {
			composed[block.Category] += int64(block.Bytes)
			rest += int64(block.Bytes)
			continue
		}
		if recorded[block.Category] == nil {
			recorded[block.Category] = newClosed()
		}
		at := fmt.Sprintf("%s %d", o.part.Name, o.op.Slot)
		recorded[block.Category].add(o.part.Stack, at, o.op.Bytes)
		all.add(o.part.Stack, at, o.op.Bytes)
	}
	layers, names := map[string]int64{}, f.counts(s)
	for stack, kinds := range f.env.Kinds {
		layers[stack] = int64(len(kinds))
	}
	out := map[string]string{}
	for _, c := range tape.Categories() {
		text := ""
		if recorded[c] != nil {
			text = recorded[c].text(layers, names)
		}
		if text = joined(text, f.composed(composed[c], layers, names)); text != "" {
			out[c.String()] = text
		}
	}
	out["peak"] = joined(all.text(layers, names), f.composed(rest, layers, names))
	return out, f.symbols(s, all, names), nil
}

func joined(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + " + " + b
}

// composed is what the optimizer and its like take, as a multiple of what is
// trained.
func (f *formula) composed(bytes int64, layers map[string]int64, names map[string]string) string {
	if bytes == 0 {
		return ""
	}
	if f.trained == 0 || bytes < f.trained {
		return strconv.FormatInt(bytes, 10)
	}
	each := bytes / f.trained
	text := f.elements(layers, names)
	if each > 1 {
		text = fmt.Sprintf("%d*(%s)", each, text)
	}
	if more := bytes % f.trained; more > 0 {
		text += " + " + strconv.FormatInt(more, 10)
	}
	return text
}

// elements is the number of trained elements.
func (f *formula) elements(layers map[string]int64, names map[string]string) string {
	c := newClosed()
	tensors := 0
	eachParam(f.params, f.env.Kinds, func(p *symbolic.Param) {
		if p.Trainable {
			tensors++
			c.add(p.Stack, p.Name, product(p.Shape))
		}
	})
	return c.text(layers, names)
}

// eachParam calls yield once for each layer that has a parameter.
func eachParam(list []symbolic.Param, kinds map[string][]string, yield func(p *symbolic.Param)) {
	for i := range list {
		p := &list[i]
		if p.Stack == "" {
			yield(p)
			continue
		}
		for k := range kinds[p.Stack] {
			if p.Class == "" || p.Class == symbolic.Position(kinds[p.Stack], k, p.Level) {
				yield(p)
			}
		}
	}
}

// product multiplies sizes out.
func product(shape []symbolic.Expr) symbolic.Expr {
	out := symbolic.Const(1)
	for _, e := range shape {
		var terms []symbolic.Term
		for _, a := range out.Terms {
			for _, b := range e.Terms {
				terms = append(terms, symbolic.Term{Num: a.Num * b.Num, Den: a.Den * b.Den, Factors: append(slices.Clone(a.Factors), b.Factors...)})
			}
		}
		out = symbolic.Sum(terms...)
	}
	return out
}

// liveAtPeak are the blocks that live when most bytes do.
func liveAtPeak(t *tape.Tape) []tape.BlockID {
	var now, peak unit.Bytes
	at := -1
	for i := range t.Len() {
		switch e := t.Event(i); e.Kind {
		case tape.Alloc:
			now += e.Bytes.RoundUp(512)
			if now > peak {
				peak, at = now, i
			}
		case tape.Free:
			now -= t.Block(e.Block).Bytes.RoundUp(512)
		}
	}
	var live []tape.BlockID
	for b := range tape.BlockID(t.Blocks()) {
		if block := t.Block(b); block.Alloc <= at && (block.Free < 0 || block.Free > at) {
			live = append(live, b)
		}
	}
	return live
}

// counts are the symbols that count the layers of stacks.
func (f *formula) counts(s *source) map[string]string {
	names := map[string]string{}
	if row, ok := family.Lookup(s.model.Family); ok {
		for _, stack := range row.Stacks {
			names[stack.Name] = stack.Count.Name
		}
	}
	return names
}

// ofRun are the symbols that the recipe gives a value.
var ofRun = map[string]string{
	"B": "examples of a micro-batch",
	"S": "length of a sequence",
	"H": "height of an image",
	"W": "width of an image",
	"A": "rank of the adapters",
	"D": "cards that share the work",
	"Y": "tokens that the cache holds",
}

// symbols explains what the formulas depend on, the functions of kernels too.
func (f *formula) symbols(s *source, c *closed, counts map[string]string) []estimate.Symbol {
	meanings := maps.Clone(ofRun)
	if row, ok := family.Lookup(s.model.Family); ok {
		maps.Copy(meanings, row.Meanings())
	}
	names, calls := map[string]bool{}, map[string]bool{}
	note := func(e symbolic.Expr) {
		e.Names(func(n string) { names[n] = true })
		e.Calls(func(n string) { calls[n] = true })
	}
	for p, e := range c.exprs {
		note(e)
		if n := counts[p.stack]; n != "" {
			names[n] = true
		}
	}
	for i := range f.params {
		for _, e := range f.params[i].Shape {
			note(e)
		}
	}
	var list []estimate.Symbol
	for _, n := range slices.Sorted(maps.Keys(names)) {
		if meanings[n] == "" && symbolic.DerivedFromShards(n) {
			meanings[n] = "follows from the sizes of all shards"
		}
		list = append(list, estimate.Symbol{Name: n, Value: f.dims[n], Meaning: meanings[n]})
	}
	for _, n := range slices.Sorted(maps.Keys(calls)) {
		if k, ok := kernel.Lookup(n); ok {
			list = append(list, estimate.Symbol{Name: n + "()", Meaning: k.Doc})
		}
	}
	return list
}
