package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// Formula gives the closed form of what lives after an event, category by
// category: the sum of the formulas of all blocks.
func (s *source) Formula(r recipe.Recipe, d kernel.Device, event int) (map[string]string, []estimate.Symbol, error) {
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
	f := &formula{run: run, made: made, dims: played.Dims, names: s.counts(), layers: map[string]int64{}}
	for stack, kinds := range f.env.Kinds {
		f.layers[stack] = int64(len(kinds))
	}
	for _, p := range played.Params {
		if p.Trainable {
			f.trained = append(f.trained, p.Elements())
		}
	}
	out, all := f.write(w.Tape(), event)
	meanings := maps.Clone(ofRun)
	if row, ok := family.Lookup(s.model.Family); ok {
		maps.Copy(meanings, row.Meanings())
	}
	return out, f.symbols(meanings, all), nil
}

// An origin is what made a block.
type origin struct {
	part *symbolic.Part
	op   *symbolic.Op
}

type formula struct {
	*run
	made    map[tape.BlockID]origin
	trained []int64 // elements of each tensor
	dims    symbolic.Dims
	layers  map[string]int64  // of each stack
	names   map[string]string // of the symbols that count them
}

// write sums up what lives after an event.
func (f *formula) write(t *tape.Tape, event int) (map[string]string, *closed) {
	recorded, composed := map[tape.Category]*closed{}, map[tape.Category][]int64{}
	all := newClosed()
	for _, b := range liveAfter(t, event) {
		block := t.Block(b)
		o, ok := f.made[b]
		if !ok {
			composed[block.Category] = append(composed[block.Category], int64(block.Bytes))
			continue
		}
		if recorded[block.Category] == nil {
			recorded[block.Category] = newClosed()
		}
		at := fmt.Sprintf("%s %d", o.part.Name, o.op.Slot)
		recorded[block.Category].add(o.part.Stack, at, o.op.Bytes)
		all.add(o.part.Stack, at, o.op.Bytes)
	}
	out := map[string]string{}
	var rest multiple
	for _, c := range tape.Categories() {
		text := ""
		if recorded[c] != nil {
			text = recorded[c].text(f.layers, f.names)
		}
		of := multipleOf(f.trained, composed[c])
		rest = multiple{rest.element + of.element, rest.tensor + of.tensor, rest.other + of.other}
		if text = joined(text, f.text(of)); text != "" {
			out[c.String()] = text
		}
	}
	out["peak"] = joined(all.text(f.layers, f.names), f.text(rest))
	return out, all
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

// liveAfter are the blocks that live right after an event.
func liveAfter(t *tape.Tape, event int) []tape.BlockID {
	var live []tape.BlockID
	for b := range tape.BlockID(t.Blocks()) {
		if block := t.Block(b); block.Alloc <= event && (block.Free < 0 || block.Free > event) {
			live = append(live, b)
		}
	}
	return live
}

// text writes what the optimizer and its like take. What is no multiple of
// anything is given as a number, and said to be one of this model.
func (f *formula) text(m multiple) string {
	text := ""
	for _, part := range []struct {
		bytes int64
		each  func(p *symbolic.Param) symbolic.Expr
	}{
		{m.element, func(p *symbolic.Param) symbolic.Expr { return product(p.Shape) }},
		{m.tensor, func(*symbolic.Param) symbolic.Expr { return symbolic.Const(1) }},
	} {
		if part.bytes == 0 {
			continue
		}
		sum := f.overTrained(part.each)
		if strings.Contains(sum, " ") {
			sum = "(" + sum + ")"
		}
		if part.bytes > 1 {
			sum = fmt.Sprintf("%d*%s", part.bytes, sum)
		}
		text = joined(text, sum)
	}
	if m.other > 0 {
		text = joined(text, fmt.Sprintf("[%d bytes for this model, no closed form]", m.other))
	}
	return text
}

// overTrained sums over what is trained.
func (f *formula) overTrained(each func(p *symbolic.Param) symbolic.Expr) string {
	c := newClosed()
	f.tape.EachParam(f.env.Kinds, func(p *symbolic.Param, _ int) {
		if p.Trainable {
			c.add(p.Stack, p.Name, each(p))
		}
	})
	return c.text(f.layers, f.names)
}

// product multiplies sizes out.
func product(shape []symbolic.Expr) symbolic.Expr {
	out := symbolic.Const(1)
	for _, e := range shape {
		out = symbolic.Times(out, e)
	}
	return out
}

// counts are the symbols that count the layers of stacks.
func (s *source) counts() map[string]string {
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
func (f *formula) symbols(meanings map[string]string, c *closed) []estimate.Symbol {
	names, calls := map[string]bool{}, map[string]bool{}
	note := func(e symbolic.Expr) {
		e.Names(func(n string) { names[n] = true })
		e.Calls(func(n string) { calls[n] = true })
	}
	for p, e := range c.exprs {
		note(e)
		if n := f.names[p.stack]; n != "" {
			names[n] = true
		}
	}
	for i := range f.tape.Params {
		for _, e := range f.tape.Params[i].Shape {
			note(e)
		}
	}
	list := []estimate.Symbol{} // a list also where the numbers are all there is
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
