package symbolic

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A compiledPart is a part at the dimensions that are played.
type compiledPart struct {
	name   int // number of the part's name
	ready  bool
	class  []int // of each layer
	events [][]event
}

// An event is an op that happens.
type event struct {
	kind     eventKind
	side     side // where it allocates
	category tape.Category
	label    int // number of the operator, for sites
	op       int
	slot     int
	value    int32 // its number among those evaluated
	bytes    unit.Bytes
	error    unit.Bytes
	target   target
}

type eventKind uint8

const (
	allocates eventKind = iota
	freesOwn            // a slot of the layer itself
	freesOther
)

// values are those of expressions that were evaluated; expressions that were
// read from the same text share their terms.
type values struct {
	evaluated []moldSize
	at        map[*Term]int32 // in evaluated
}

// reset drops all values.
func (v *values) reset() {
	v.evaluated = v.evaluated[:0]
	clear(v.at)
}

type stackLevel struct {
	stack string
	level int
}

// compile evaluates a part, once: its layers' classes, which ops happen, and
// their sizes.
func (p *player) compile(part *Part, c *compiledPart) error {
	if c.ready {
		return nil
	}
	if err := p.classes(part, c); err != nil {
		return err
	}
	c.events = make([][]event, len(part.Classes))
	for _, k := range c.class {
		if c.events[k] != nil {
			continue
		}
		events, err := p.ops(part, part.Classes[k].Ops)
		if err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
		c.events[k] = events
	}
	c.ready = true
	return nil
}

// forget has a scope's parts evaluated anew, since dimensions have changed.
func (p *player) forget(scope string) {
	p.reset()
	for i := range p.parts {
		if p.tape.Parts[i].Scope == scope {
			p.parts[i].ready = false
		}
	}
}

// classes finds the class of each layer.
func (p *player) classes(part *Part, c *compiledPart) error {
	if part.Stack == "" {
		c.class = []int{0}
		return nil
	}
	keys := p.positions(part.Stack, part.Level)
	c.class = make([]int, len(keys))
	for i, key := range keys {
		if i > 0 && key == keys[i-1] {
			c.class[i] = c.class[i-1]
			continue
		}
		if c.class[i] = part.class(key); c.class[i] < 0 && len(keys) == 1 {
			c.class[i] = part.single(p.env.Kinds[part.Stack][0])
		}
		if c.class[i] < 0 {
			c.class[i] = part.class(Elsewhere(key))
		}
		if c.class[i] < 0 {
			return part.unknown(key)
		}
	}
	return nil
}

// single is the class of a layer that is the only one, which no recording has: it
// begins as the first does and ends as the last, so that it is the one of them that
// differs from the layers between. It is -1 where both do.
func (part *Part) single(kind string) int {
	first, between, last := part.class(kind+":first"), part.class(kind), part.class(kind+":last")
	switch {
	case first < 0 || last < 0:
		return -1
	case part.alike(first, last), part.alike(between, last):
		return first
	case part.alike(between, first):
		return last
	}
	return -1
}

// alike reports whether two classes do the same.
func (part *Part) alike(a, b int) bool {
	return a >= 0 && b >= 0 && bodyText(part.Classes[a].Ops) == bodyText(part.Classes[b].Ops)
}

// unknown says that no recording has a layer of that kind and place.
func (part *Part) unknown(key string) error {
	kind, place, _ := strings.Cut(key, ":")
	if place == "only" {
		return fmt.Errorf("no recording has a single layer in %s, only two and more", part.Stack)
	}
	if place != "" {
		place = " (" + strings.ReplaceAll(place, ":", ", ") + ")"
	}
	return fmt.Errorf("no recording has a layer of kind %q%s in %s", kind, place, part.Name)
}

// positions are the keys of a stack's layers.
func (p *player) positions(stack string, level int) []string {
	at := stackLevel{stack, level}
	keys, ok := p.keys[at]
	if !ok {
		kinds := p.env.Kinds[stack]
		keys = make([]string, len(kinds))
		for i := range kinds {
			keys[i] = Position(kinds, i, level)
		}
		p.keys[at] = keys
	}
	return keys
}

func (part *Part) class(key string) int {
	for c := range part.Classes {
		if part.Classes[c].Key == key {
			return c
		}
	}
	return -1
}

// ops evaluates the ops of a class.
func (p *player) ops(part *Part, ops []Op) ([]event, error) {
	events := make([]event, 0, len(ops))
	for o := range ops {
		op := &ops[o]
		if len(op.When) > 0 {
			on, err := op.When.Holds(p.env.Dims, p.env.Device)
			if err != nil {
				return nil, err
			}
			if p.mold != nil {
				p.mold.guards = append(p.mold.guards, moldGuard{op.When, on})
			}
			if !on {
				continue
			}
		}
		ev := event{op: o}
		if p.plan.Sites {
			ev.label = p.sites.number(op.Label)
		}
		if op.Free {
			ev.kind, ev.slot = freesOwn, op.Ref.Slot
			if op.Ref != (Ref{Part: part.Name, Slot: op.Ref.Slot}) {
				ev.kind, ev.target = freesOther, p.target(op.Ref)
			}
			events = append(events, ev)
			continue
		}
		n, err := p.number(op.Bytes)
		if err != nil {
			return nil, err
		}
		if n == fixed || p.evaluated[n].was <= 0 {
			continue
		}
		v := p.evaluated[n].was
		ev.value = n
		ev.category, ev.slot, ev.bytes = op.Category, op.Slot, unit.Bytes(v)
		ev.error = approximate(op.Error, v)
		events = append(events, ev)
	}
	if p.env.Dims[Cards] > 0 {
		aside(ops, events)
	}
	passing(events)
	return events, nil
}

// passing has a block that is given back before the next is made be so at once:
// recordings do not tell the order of frees between two allocations, and the
// allocator is replayed faster then.
func passing(events []event) {
	for made, k := 0, 1; k < len(events); k++ {
		e := events[k]
		if e.kind == allocates {
			made = k
			continue
		}
		if first := events[made]; e.kind == freesOwn && first.kind == allocates && e.slot == first.slot {
			copy(events[made+2:k+1], events[made+1:k])
			events[made+1] = e
		}
	}
}

func (p *player) eval(e Expr) (int64, error) {
	n, err := p.number(e)
	if err != nil || n == fixed {
		return 0, err
	}
	return p.evaluated[n].was, nil
}

// number evaluates an expression, once, and returns its number among those that
// were; fixed is the one of nothing.
func (p *player) number(e Expr) (int32, error) {
	if len(e.Terms) == 0 {
		return fixed, nil
	}
	n, ok := p.at[&e.Terms[0]]
	if !ok {
		v, err := e.Eval(p.env.Dims, p.env.Device)
		if err != nil {
			return 0, err
		}
		n = int32(len(p.evaluated))
		p.evaluated = append(p.evaluated, moldSize{e, v})
		p.at[&e.Terms[0]] = n
	}
	return n, nil
}
