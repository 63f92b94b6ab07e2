package attribute

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A moduleTable knows in which module each block was allocated.
type moduleTable struct {
	names []string // 0 is ""
	index map[string]int32
	of    []int32 // by block
	// recomputed are blocks allocated in a forward pass that ran inside
	// backward: activation checkpointing.
	recomputed map[tape.BlockID]bool
}

// read walks the module marks of a tape.
func (m *moduleTable) read(t *tape.Tape) {
	m.names, m.index = []string{""}, map[string]int32{"": 0}
	m.of = make([]int32, t.Blocks())
	m.recomputed = map[tape.BlockID]bool{}
	var stack []tape.Mark
	marks := t.Marks
	for i := range t.Len() {
		for len(marks) > 0 && marks[0].Event <= i {
			stack = follow(stack, marks[0])
			marks = marks[1:]
		}
		if t.Kind(i) != tape.Alloc || len(stack) == 0 {
			continue
		}
		top, block := stack[len(stack)-1], t.BlockOf(i)
		m.set(block, top.Name)
		if top.Value == 0 && t.Event(i).Phase == tape.Backward {
			m.recomputed[block] = true
		}
	}
}

// follow applies one mark to the stack of entered modules. An exit without its
// enter is left out, as happens when threads share a device; an exit of an
// outer module leaves the inner ones too, as after an exception.
func follow(stack []tape.Mark, mark tape.Mark) []tape.Mark {
	switch mark.Kind {
	case tape.MarkModuleEnter:
		return append(stack, mark)
	case tape.MarkModuleExit:
		for i := len(stack) - 1; i >= 0; i-- {
			if stack[i].Name == mark.Name && stack[i].Value == mark.Value {
				return stack[:i]
			}
		}
	case tape.MarkStep:
		return stack[:0] // nothing of a step goes on after it
	}
	return stack
}

func (m *moduleTable) set(b tape.BlockID, name string) {
	n, ok := m.index[name]
	if !ok {
		n = int32(len(m.names))
		m.names = append(m.names, name)
		m.index[name] = n
	}
	m.of[b] = n
}

// Module returns the path of the module in which block b was allocated, or
// which owns the tensor in it; "" when it is neither.
func (r *Recording) Module(b tape.BlockID) string { return r.modules.names[r.modules.of[b]] }

// Fold replaces the numbers in a module path by stars, so that the same
// module of every layer has one name: "layers.*.mlp". A path that is nothing
// but a number, as the parts of a Sequential have, is left alone.
func Fold(path string) string {
	parts := strings.Split(path, ".")
	if len(parts) == 1 {
		return path
	}
	for i, p := range parts {
		if p != "" && strings.Trim(p, "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}
