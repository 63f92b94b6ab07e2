package symbolic

import (
	"fmt"
	"slices"
)

// leading is the part of a pass that leads to the layers.
const leading = "forward"

// Graft is the tape of a model whose layers, and what leads to them, do what they do
// in one tape, and whose head and all else what they do in another. Both tapes are of
// models with the same layers, and only what an attention mask brings with it may be
// in one of them alone: so a way to use a model without padding that was not recorded
// is put together from one that was, with another head.
//
// A block that a part of one tape makes and a part of the other gives back is found
// by its operator and size, a gradient by its parameter. What cannot be told is an
// error.
func Graft(layers, head *Tape) (*Tape, error) {
	g := &grafter{layers: layers, head: head, kept: map[string]bool{}, toLayers: map[slotOf]int{}, toHead: map[slotOf]int{}}
	if err := sameParts(layers, head); err != nil {
		return nil, err
	}
	for i := range layers.Parts {
		if p := &layers.Parts[i]; keeps(p) {
			g.kept[p.Name] = true
		}
	}
	g.align()
	out := *head
	out.Checked = slices.Concat(layers.Checked, head.Checked)
	out.Parts = nil
	for i := range layers.Parts {
		part, err := g.part(&layers.Parts[i], &head.Parts[i])
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", part.Scope, part.Name, err)
		}
		out.Parts = append(out.Parts, part)
	}
	var err error
	if out.Params, err = g.params(); err != nil {
		return nil, err
	}
	return &out, out.check()
}

// keeps reports whether a part is one of the layers, or leads to them.
func keeps(p *Part) bool { return p.Scope != Load && (p.Stack != "" || p.Name == leading) }

// A grafter holds two tapes while one gets the other's head.
type grafter struct {
	layers, head *Tape
	kept         map[string]bool // parts by name that are those of the layers' tape
	toLayers     map[slotOf]int  // of slots in kept parts of the head's tape, those of the layers'
	toHead       map[slotOf]int  // of slots in other parts of the layers' tape, those of the head's
}

// align finds the slots that hold the same in both tapes.
func (g *grafter) align() {
	for i := range g.head.Params {
		p := &g.head.Params[i]
		if q := g.twin(p); q != nil && p.Stack != "" && p.Grad.Part == q.Grad.Part {
			g.toLayers[slotOf{p.Grad.Part, p.Grad.Slot}] = q.Grad.Slot
		}
	}
	for i := range g.layers.Parts {
		p, q := &g.layers.Parts[i], &g.head.Parts[i]
		for c := range p.Classes {
			k := max(q.class(p.Classes[c].Key), 0)
			for _, pair := range common(allocations(p.Classes[c].Ops), allocations(q.Classes[k].Ops)) {
				to, from, slot := g.toHead, pair[0].Slot, pair[1].Slot
				if g.kept[p.Name] {
					to, from, slot = g.toLayers, pair[1].Slot, pair[0].Slot
				}
				if _, there := to[slotOf{p.Name, from}]; !there {
					to[slotOf{p.Name, from}] = slot
				}
			}
		}
	}
}

// twin is a parameter of the head's tape in that of the layers, nil for none.
func (g *grafter) twin(p *Param) *Param {
	for i := range g.layers.Params {
		if q := &g.layers.Params[i]; q.Name == p.Name && q.Class == p.Class {
			return q
		}
	}
	return nil
}

// common is the longest common subsequence of two lists of allocations.
func common(a, b []*Op) [][2]*Op {
	same := func(i, k int) bool { return a[i].Label == b[k].Label && a[i].Bytes.String() == b[k].Bytes.String() }
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			longest[i][k] = max(longest[i+1][k], longest[i][k+1])
			if same(i, k) {
				longest[i][k] = max(longest[i][k], longest[i+1][k+1]+1)
			}
		}
	}
	var list [][2]*Op
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case same(i, k) && longest[i][k] == longest[i+1][k+1]+1:
			list = append(list, [2]*Op{a[i], b[k]})
			i, k = i+1, k+1
		case longest[i+1][k] >= longest[i][k+1]:
			i++
		default:
			k++
		}
	}
	return list
}

// part is a part of the graft: p of the layers' tape or q of the head's.
func (g *grafter) part(p, q *Part) (Part, error) {
	if !keeps(p) {
		out := *q
		if q.Stack == "" {
			out.Classes = []Class{{Ops: g.outside(p.Classes[0].Ops, q.Classes[0].Ops, q.Name)}}
		}
		return out, nil
	}
	out := *p
	out.Classes = slices.Clone(p.Classes)
	for c := range out.Classes {
		k := max(q.class(out.Classes[c].Key), 0)
		var err error
		if out.Classes[c].Ops, err = g.inside(p.Classes[c].Ops, q.Classes[k].Ops); err != nil {
			return out, err
		}
	}
	return out, nil
}

// outside are the events of a part of the head's tape. What layers make is given back
// where the head's tape does it, and what only the layers' tape has where that does.
func (g *grafter) outside(layers, head []Op, part string) []Op {
	found := map[slotOf]bool{} // in kept parts of the layers' tape, what the head's knows
	for from, slot := range g.toLayers {
		found[slotOf{from.part, slot}] = true
	}
	more := map[int][]Op{} // by the allocation before, -1 for none
	at := -1
	for _, op := range layers {
		if !op.Free {
			if slot, ok := g.toHead[slotOf{part, op.Slot}]; ok {
				at = slot
			}
			continue
		}
		if g.kept[op.Ref.Part] && !found[slotOf{op.Ref.Part, op.Ref.Slot}] {
			more[at] = append(more[at], op)
		}
	}
	out := slices.Clone(more[-1])
	for _, op := range head {
		if op.Free && g.kept[op.Ref.Part] {
			slot, ok := g.toLayers[slotOf{op.Ref.Part, op.Ref.Slot}]
			if !ok {
				continue // it is not there without a mask
			}
			op.Ref.Slot = slot
		}
		out = append(out, op)
		if !op.Free {
			out = append(out, more[op.Slot]...)
		}
	}
	return out
}

// inside are the events of a layer, or of what leads to them. What they give back of
// the head's is what they give back in the head's own tape: the same operator's, or
// the one that is left, as the gradient that the head hands to the last layer.
func (g *grafter) inside(layers, head []Op) ([]Op, error) {
	theirs := g.ofHead(head)
	out := slices.Clone(layers)
	var open []*Op
	for i := range out {
		op := &out[i]
		if !op.Free || g.kept[op.Ref.Part] || op.Ref.Scope != "" {
			continue
		}
		want := op.Ref
		slot, ok := g.toHead[slotOf{want.Part, want.Slot}]
		want.Slot = slot
		if k := slices.Index(theirs, want); ok && k >= 0 {
			op.Ref = want
			theirs = slices.Delete(theirs, k, k+1)
			continue
		}
		open = append(open, op)
	}
	if len(open) != len(theirs) {
		return nil, fmt.Errorf("%d blocks of the head are given back, and %d in its own tape", len(open), len(theirs))
	}
	for i, op := range open {
		op.Ref = theirs[i]
	}
	return out, nil
}

// ofHead are the blocks of the head's that a layer of its tape gives back.
func (g *grafter) ofHead(ops []Op) []Ref {
	var list []Ref
	for i := range ops {
		if op := &ops[i]; op.Free && !g.kept[op.Ref.Part] && op.Ref.Scope == "" {
			list = append(list, op.Ref)
		}
	}
	return list
}

// params are the parameters, whose gradients are where the tape of their part has
// them.
func (g *grafter) params() ([]Param, error) {
	out := slices.Clone(g.head.Params)
	for i := range out {
		p := &out[i]
		if !g.kept[p.Grad.Part] {
			continue
		}
		q := g.twin(p)
		if q == nil {
			return nil, fmt.Errorf("parameter %s is in one tape", p.Name)
		}
		p.Grad = q.Grad
	}
	return out, nil
}

// SameLayers reports whether the layers of two tapes allocate the same.
func (t *Tape) SameLayers(other *Tape) bool {
	return t.alike(other, func(p *Part) bool { return p.Scope != Load && p.Stack != "" })
}

// SameLead reports whether what leads to the layers, as a mask, allocates the same in
// two tapes.
func (t *Tape) SameLead(other *Tape) bool {
	return t.alike(other, func(p *Part) bool { return p.Scope != Load && p.Name == leading })
}

// alike reports whether some parts of two tapes allocate the same.
func (t *Tape) alike(other *Tape, which func(p *Part) bool) bool {
	if len(t.Parts) != len(other.Parts) {
		return false
	}
	for i := range t.Parts {
		p, q := &t.Parts[i], &other.Parts[i]
		if p.Name != q.Name || p.Stack != q.Stack || len(p.Classes) != len(q.Classes) {
			return false
		}
		if !which(p) {
			continue
		}
		for c := range p.Classes {
			a, b := allocations(p.Classes[c].Ops), allocations(q.Classes[c].Ops)
			if p.Classes[c].Key != q.Classes[c].Key || len(a) != len(b) || len(common(a, b)) != len(a) {
				return false
			}
		}
	}
	return true
}
