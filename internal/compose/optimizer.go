package compose

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// An Optimizer writes the steps of one run. It remembers which parameters have
// their state.
type Optimizer struct {
	rule   *rule
	params []Param
	made   []bool
	shared [][]int64 // bytes of what all share, by part and parameter; nil once made
	state  [][]int64 // bytes of each parameter's state, by part
	body   []sized
	groups groups
	lists  [variables][]tape.BlockID
	spare  []tape.BlockID
	beside []tape.BlockID
}

// sized is a statement with its bytes for each parameter.
type sized struct {
	statement
	bytes []int64
	loans []loan
}

// Optimizers returns the names that NewOptimizer knows.
func Optimizers() []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.name
	}
	return names
}

// Known reports whether there is an optimizer of that name.
func Known(name string) bool { return find(name) != nil }

// Paged reports whether an optimizer has large states in managed memory, which CUDA
// moves between card and host: it is not on the tape.
func Paged(name string) bool {
	r := find(name)
	return r != nil && r.paged
}

func find(name string) *rule {
	for i := range rules {
		if rules[i].name == name {
			return &rules[i]
		}
	}
	return nil
}

// NewOptimizer returns the writer of an optimizer with PyTorch's default options.
func NewOptimizer(name string, params []Param, d kernel.Device) (*Optimizer, error) {
	r := find(name)
	if r == nil {
		return nil, fmt.Errorf("optimizer %q is not known; known are %s", name, strings.Join(Optimizers(), ", "))
	}
	o := &Optimizer{rule: r, params: params, made: make([]bool, len(params))}
	for _, s := range r.shares {
		o.shared = append(o.shared, measure(s, params, d))
	}
	for _, s := range r.keeps {
		o.state = append(o.state, measure(s, params, d))
	}
	for _, s := range r.body {
		one := sized{statement: s}
		if s.size != nil {
			one.bytes = measure(s.size, params, d)
		}
		if s.beside != nil {
			for _, p := range params {
				one.loans = append(one.loans, s.beside(p, d))
			}
		}
		o.body = append(o.body, one)
	}
	return o, nil
}

func measure(s size, params []Param, d kernel.Device) []int64 {
	bytes := make([]int64, len(params))
	for i, p := range params {
		bytes[i] = s(p, d)
	}
	return bytes
}

// Construct writes what making the optimizer takes.
func (o *Optimizer) Construct(w *tape.Writer) {
	if o.rule.made != atMaking {
		return
	}
	for i := range o.params {
		o.make(w, i)
	}
}

// Step writes one step. grads has the gradient of each parameter, NoBlock where
// there is none; such a parameter is left out, as PyTorch does.
func (o *Optimizer) Step(w *tape.Writer, grads []tape.BlockID) {
	w.Phase = tape.Step
	if o.rule.made == atStep {
		present(grads, func(i int) { o.make(w, i) })
	}
	if o.rule.over == everyParameter {
		o.loop(w, grads)
		return
	}
	for _, members := range o.groups.of(o.params, grads) {
		o.group(w, members)
	}
	for v := range o.lists {
		freeReversed(w, o.lists[v])
		o.lists[v] = o.lists[v][:0]
	}
}

// make writes the state of a parameter, once.
func (o *Optimizer) make(w *tape.Writer, i int) {
	if o.made[i] {
		return
	}
	o.made[i] = true
	if keep(w, o.shared, i) {
		o.shared = nil
	}
	keep(w, o.state, i)
}

// keep writes the parts of state that parameter i asks for.
func keep(w *tape.Writer, parts [][]int64, i int) (any bool) {
	for _, part := range parts {
		if part[i] > 0 {
			w.Alloc(unit.Bytes(part[i]), tape.OptimizerState)
			any = true
		}
	}
	return any
}

// group runs the body once, on lists of the group's members.
func (o *Optimizer) group(w *tape.Writer, members []int) {
	if o.rule.made == withGroup {
		for _, i := range members {
			o.make(w, i)
		}
	}
	for _, s := range o.body {
		fresh := o.spare[:0]
		for _, i := range members {
			if s.bytes[i] > 0 {
				fresh = append(fresh, temporary(w, s.bytes[i]))
			}
		}
		old := o.lists[s.name]
		freeReversed(w, old)
		o.lists[s.name], o.spare = fresh, old[:0]
	}
}

// loop runs the body for each parameter in turn. A list holds one value at most.
func (o *Optimizer) loop(w *tape.Writer, grads []tape.BlockID) {
	values := [variables]tape.BlockID{}
	for v := range values {
		values[v] = tape.NoBlock
	}
	free := func(v variable) {
		if values[v] != tape.NoBlock {
			w.Free(values[v])
			values[v] = tape.NoBlock
		}
	}
	present(grads, func(i int) {
		for k := range o.body {
			s := &o.body[k]
			switch s.do {
			case drop:
				free(s.name)
			case move:
				free(s.name)
				values[s.name], values[s.name-1] = values[s.name-1], tape.NoBlock
			case let, pass:
				if s.bytes[i] == 0 {
					continue
				}
				value := temporary(w, s.bytes[i])
				if s.loans != nil {
					o.lend(w, s.loans[i])
				}
				if s.do == pass {
					w.Free(value)
					continue
				}
				free(s.name)
				values[s.name] = value
			}
		}
	})
	for v := range values {
		free(variable(v))
	}
}

// lend writes blocks that live while a statement runs.
func (o *Optimizer) lend(w *tape.Writer, l loan) {
	var around tape.BlockID
	if l.around > 0 {
		around = temporary(w, l.around)
	}
	for _, t := range l.turns {
		for range t.times {
			o.beside = o.beside[:0]
			for _, bytes := range t.blocks {
				if bytes > 0 {
					o.beside = append(o.beside, temporary(w, bytes))
				}
			}
			freeReversed(w, o.beside)
		}
	}
	if l.around > 0 {
		w.Free(around)
	}
}
