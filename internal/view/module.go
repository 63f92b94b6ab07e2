package view

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// modules tell which module ran when a block was made. It is asked in the
// order of events.
type modules struct {
	names  []string // 0 is none
	number map[string]int
	marks  []tape.Mark
	open   []tape.Mark
	device uint8
}

// mostModules bounds the modules that are told apart.
const mostModules = 20_000

func newModules(d *Drawing) *modules {
	m := &modules{names: []string{""}, number: map[string]int{"": 0}, device: d.Device}
	for _, k := range d.Tape.Marks {
		if k.Device == d.Device && k.Kind != tape.MarkNote {
			m.marks = append(m.marks, k)
		}
	}
	return m
}

// at is the number of the module that was running before an event.
func (m *modules) at(event int) int {
	for len(m.marks) > 0 && m.marks[0].Event <= event {
		k := m.marks[0]
		m.marks = m.marks[1:]
		m.pass(k)
	}
	if len(m.open) == 0 {
		return 0
	}
	name := m.open[len(m.open)-1].Name
	n, ok := m.number[name]
	if !ok && len(m.names) < mostModules {
		n = len(m.names)
		m.number[name] = n
		m.names = append(m.names, name)
	}
	return n
}

// pass opens and closes modules as a mark says. The end of a step ends all of
// them, that of the backward pass those that have no end of their own.
func (m *modules) pass(k tape.Mark) {
	switch k.Kind {
	case tape.MarkModuleEnter:
		m.open = append(m.open, k)
	case tape.MarkModuleExit:
		for i := len(m.open) - 1; i >= 0; i-- {
			if m.open[i].Name == k.Name && m.open[i].Value == k.Value {
				m.open = m.open[:i]
				return
			}
		}
	case tape.MarkStep:
		m.open = m.open[:0]
	case tape.MarkPhase:
		if tape.Phase(k.Value) != tape.Backward {
			m.open = slices.DeleteFunc(m.open, func(e tape.Mark) bool { return e.Value == backwardModule })
		}
	}
}
