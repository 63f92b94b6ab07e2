package symbolic

import (
	"fmt"
	"slices"
	"strings"
)

// mixedKind marks the kind of a layer that is played from the second tape of a
// mix.
const mixedKind = "*"

// Mix is the tape of a model some of whose layers are played from one tape and
// some from another: every-K checkpointing, from the tapes that keep all and
// recompute all. second says of each layer, by stack, that it is of the second
// tape; the first layer of each stack must be. The kinds that Mix returns take
// the place of those given.
//
// What a layer hands on is given back by the layer that took it, in the way of
// that layer's tape, so that a free that means another layer is there for the
// blocks of both tapes, of which that layer has one.
func Mix(one, two *Tape, kinds map[string][]string, second map[string][]bool) (*Tape, map[string][]string, error) {
	m := &mixer{one: one, two: two, kinds: kinds, second: second, mixed: map[string][]string{}, offset: map[string]int{}, same: [2]map[slotOf][]int{{}, {}}}
	for stack, list := range kinds {
		m.mixed[stack] = slices.Clone(list)
		for i := range list {
			if second[stack][i] {
				m.mixed[stack][i] += mixedKind
			}
		}
	}
	if err := sameParts(one, two); err != nil {
		return nil, nil, err
	}
	for i := range one.Parts {
		if p, q := &one.Parts[i], &two.Parts[i]; p.Stack != "" {
			m.offset[p.Name] = max(m.offset[p.Name], p.Slots)
			m.pair(p, q)
		}
	}
	out := &Tape{Title: one.Title, Symbols: one.Symbols, Seen: one.Seen, Checked: slices.Concat(one.Checked, two.Checked), Ceiling: one.Ceiling}
	for i := range one.Parts {
		part, err := m.part(&one.Parts[i], &two.Parts[i])
		if err != nil {
			return nil, nil, fmt.Errorf("%s %s: %w", one.Parts[i].Scope, one.Parts[i].Name, err)
		}
		out.Parts = append(out.Parts, part)
	}
	out.Params = m.params()
	return out, m.mixed, out.check()
}

// sameParts is an error where two tapes do not have the same parts.
func sameParts(one, two *Tape) error {
	if len(one.Parts) != len(two.Parts) {
		return fmt.Errorf("%d parts and %d", len(one.Parts), len(two.Parts))
	}
	for i := range one.Parts {
		p, q := &one.Parts[i], &two.Parts[i]
		if p.Scope != q.Scope || p.Name != q.Name || p.Stack != q.Stack {
			return fmt.Errorf("part %s %s and part %s %s", p.Scope, p.Name, q.Scope, q.Name)
		}
	}
	return nil
}

// A mixer holds two tapes while they are mixed.
type mixer struct {
	one, two *Tape
	kinds    map[string][]string
	second   map[string][]bool
	mixed    map[string][]string
	offset   map[string]int      // of the second tape's slots, by the name of a part with layers
	same     [2]map[slotOf][]int // slots of the other tape that hold the same
}

// A slotOf is a slot of a part in one of the tapes.
type slotOf struct {
	part string
	slot int
}

// pair finds what both tapes' layers allocate alike.
func (m *mixer) pair(p, q *Part) {
	for _, c := range p.Classes {
		k := q.class(c.Key)
		if k < 0 {
			continue
		}
		at := 0
		other := allocations(q.Classes[k].Ops)
		for _, op := range allocations(c.Ops) {
			for i := at; i < len(other); i++ {
				if o := other[i]; o.Label == op.Label && o.Bytes.String() == op.Bytes.String() {
					m.note(0, slotOf{p.Name, op.Slot}, o.Slot)
					m.note(1, slotOf{p.Name, o.Slot}, op.Slot)
					at = i + 1
					break
				}
			}
		}
	}
}

func (m *mixer) note(tape int, of slotOf, slot int) {
	if !slices.Contains(m.same[tape][of], slot) {
		m.same[tape][of] = append(m.same[tape][of], slot)
	}
}

func allocations(ops []Op) []*Op {
	var list []*Op
	for i := range ops {
		if !ops[i].Free {
			list = append(list, &ops[i])
		}
	}
	return list
}

func (m *mixer) part(p, q *Part) (Part, error) {
	out := Part{Scope: p.Scope, Name: p.Name, Stack: p.Stack, Down: p.Down, Level: max(p.Level, q.Level), Slots: max(p.Slots, q.Slots)}
	if p.Stack == "" {
		ops, err := m.between(p.Classes[0].Ops, q.Classes[0].Ops)
		if p.Name == dropped {
			ops = append(ops, m.handed()...)
		}
		out.Classes = []Class{{Ops: ops}}
		return out, err
	}
	out.Slots = m.offset[p.Name] + q.Slots
	for i, is := range m.second[p.Stack] {
		key := Position(m.mixed[p.Stack], i, out.Level)
		if out.class(key) >= 0 {
			continue
		}
		from, tape := p, 0
		if is {
			from, tape = q, 1
		}
		k := from.class(Position(m.kinds[p.Stack], i, from.Level))
		if k < 0 {
			return out, from.unknown(Position(m.kinds[p.Stack], i, from.Level))
		}
		out.Classes = append(out.Classes, Class{Key: key, Ops: m.layer(tape, p.Name, from.Classes[k].Ops)})
	}
	return out, nil
}

// dropped is the part in which a script lets go of a pass.
const dropped = "drop"

// handed are the frees of all that layers hand to each other, after the pass. What
// many layers share, as the bias of T5's positions, is given back by the last of
// the second tape that has it, which no tape says; here it is late, and not never.
func (m *mixer) handed() []Op {
	var list []Op
	seen := map[Ref]bool{}
	for n, t := range []*Tape{m.one, m.two} {
		t.EachOp(func(op *Op) {
			r := op.Ref
			if _, layered := m.offset[r.Part]; !op.Free || !layered || r.Which != Near || r.At == 0 || r.Scope != "" {
				return
			}
			r = Ref{Part: r.Part, Slot: m.slot(n, r.Part, r.Slot), Which: Every}
			if !seen[r] {
				seen[r] = true
				list = append(list, Op{Free: true, Ref: r})
			}
		})
	}
	return list
}

// layer are the events of a layer of one of the tapes.
func (m *mixer) layer(tape int, part string, ops []Op) []Op {
	var out []Op
	for _, op := range ops {
		if !op.Free {
			op.Slot = m.slot(tape, part, op.Slot)
			out = append(out, op)
			continue
		}
		out = append(out, m.free(tape, op)...)
	}
	return out
}

// slot is the number of a slot in the mix.
func (m *mixer) slot(tape int, part string, slot int) int {
	if tape == 1 {
		return m.offset[part] + slot
	}
	return slot
}

// free is a free in the mix: of another layer's block, whichever tape that layer
// is of.
func (m *mixer) free(tape int, op Op) []Op {
	if _, layered := m.offset[op.Ref.Part]; !layered {
		return []Op{op}
	}
	own := op
	own.Ref.Slot = m.slot(tape, op.Ref.Part, op.Ref.Slot)
	list := []Op{own}
	if op.Ref.Which == Every || op.Ref.Which == Near && op.Ref.At == 0 {
		return list
	}
	for _, s := range m.same[tape][slotOf{op.Ref.Part, op.Ref.Slot}] {
		other := op
		other.Ref.Slot = m.slot(1-tape, op.Ref.Part, s)
		list = append(list, other)
	}
	return list
}

// between are the events of a part without layers: those of the second tape, since
// what it does more is what its layers need, and the frees of what layers of the
// first tape made.
func (m *mixer) between(one, two []Op) ([]Op, error) {
	made, first := allocations(one), m.ofLayers(0, one)
	var out []Op
	n := 0
	for _, op := range two {
		if op.Free {
			out = append(out, m.taken(1, op)...)
			continue
		}
		if n == len(made) || made[n].Label != op.Label {
			return nil, fmt.Errorf("allocation %d is %s", n+1, op.Label)
		}
		out = append(append(out, first[n]...), op)
		n++
	}
	if n != len(made) {
		return nil, fmt.Errorf("%d allocations and %d", len(made), n)
	}
	return append(out, first[n]...), nil
}

// ofLayers are the frees of layers' blocks in a part without layers, by the number of
// allocations before them.
func (m *mixer) ofLayers(tape int, ops []Op) [][]Op {
	list := [][]Op{nil}
	for _, op := range ops {
		if !op.Free {
			list = append(list, nil)
			continue
		}
		if _, layered := m.offset[op.Ref.Part]; layered {
			list[len(list)-1] = append(list[len(list)-1], m.taken(tape, op)...)
		}
	}
	return list
}

// taken is a free in a part without layers. What another layer than the outermost
// made was taken by the next layer, and is given back here only if that one is of
// the tape.
func (m *mixer) taken(tape int, op Op) []Op {
	stack := op.Ref.stack()
	n := len(m.second[stack])
	by := -1
	switch {
	case op.Ref.Which == Nth && op.Ref.At > 0:
		by = op.Ref.At - 1
	case op.Ref.Which == NthLast && op.Ref.At > 0:
		by = n - op.Ref.At
	}
	if by < 0 {
		op.Ref.Slot = m.slotIn(tape, op.Ref)
		return []Op{op}
	}
	if by >= n || m.second[stack][by] != (tape == 1) {
		return nil
	}
	return m.free(tape, op)
}

// slotIn is the slot that a ref of a tape means in the mix.
func (m *mixer) slotIn(tape int, r Ref) int {
	if _, layered := m.offset[r.Part]; layered {
		return m.slot(tape, r.Part, r.Slot)
	}
	return r.Slot
}

// stack is the stack of a ref's part, "layers" of "layers.forward".
func (r Ref) stack() string {
	stack, _, _ := strings.Cut(r.Part, ".")
	return stack
}

// params are the parameters, whose gradients are where the layer's tape has them.
func (m *mixer) params() []Param {
	twos := map[string]*Param{}
	for i := range m.two.Params {
		p := &m.two.Params[i]
		twos[p.Name+" "+p.Class] = p
	}
	var out []Param
	for _, p := range m.one.Params {
		if p.Stack == "" {
			out = append(out, p)
			continue
		}
		level := p.Level
		if p.Class == "" {
			level = KindLevel
		}
		done := map[string]bool{}
		for i, is := range m.second[p.Stack] {
			key := Position(m.mixed[p.Stack], i, level)
			if done[key] || p.Class != "" && Position(m.kinds[p.Stack], i, level) != p.Class {
				continue
			}
			done[key] = true
			q := p
			q.Class, q.Level = key, level
			if two := twos[p.Name+" "+p.Class]; is && two != nil {
				q.Home, q.Grad = two.Home, two.Grad
				q.Home.Slot, q.Grad.Slot = m.slotIn(1, q.Home), m.slotIn(1, q.Grad)
			}
			out = append(out, q)
		}
	}
	return out
}
