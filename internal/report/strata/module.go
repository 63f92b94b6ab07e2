package strata

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// byModule tags blocks with the module that ran, cut to the depth at which
// the paths are few enough to be told apart on a chart.
type byModule struct {
	tape    *tape.Tape
	options Options
	depth   int
	next    int // of the tape's marks
	open    []tape.Mark
}

func newByModule(t *tape.Tape, o Options) *byModule {
	return &byModule{tape: t, options: o, depth: depthFor(t, o.Device, o.Layers)}
}

func (v *byModule) tag(event int, b tape.BlockID) tag {
	name, known := v.module(event, b)
	if !known {
		return tag{name: "outside of modules", note: origin(v.tape.Block(b))}
	}
	return tag{name: prefix(name, v.depth)}
}

// module is the caller's answer, or the module open at the event.
func (v *byModule) module(event int, b tape.BlockID) (name string, known bool) {
	if v.options.Module != nil {
		name = v.options.Module(b)
		return name, name != ""
	}
	for ; v.next < len(v.tape.Marks) && v.tape.Marks[v.next].Event <= event; v.next++ {
		v.open = reopen(v.open, v.tape.Marks[v.next], v.options.Device)
	}
	if len(v.open) == 0 {
		return "", false
	}
	return v.open[len(v.open)-1].Name, true
}

func (*byModule) ordered() func(string) int { return othersLast }

// reopen opens and closes modules. A module that is left without its exit,
// by an exception, closes with the one around it; one whose input needs no
// gradient has no end of its backward, which ends with the phase.
func reopen(open []tape.Mark, m tape.Mark, device uint8) []tape.Mark {
	if m.Device != device {
		return open
	}
	switch m.Kind {
	case tape.MarkModuleEnter:
		return append(open, m)
	case tape.MarkModuleExit:
		for i := len(open) - 1; i >= 0; i-- {
			if open[i].Name == m.Name && open[i].Value == m.Value {
				return open[:i]
			}
		}
	case tape.MarkStep:
		return open[:0]
	case tape.MarkPhase:
		if tape.Phase(m.Value) != tape.Backward {
			return slices.DeleteFunc(open, func(e tape.Mark) bool { return e.Value == backward })
		}
	}
	return open
}

// backward is the value of a module mark of the backward pass.
const backward = 1

// depthFor is the largest depth at which at most so many modules differ.
func depthFor(t *tape.Tape, device uint8, most int) int {
	paths := map[string]bool{}
	deepest := 1
	for _, m := range t.Marks {
		if m.Kind == tape.MarkModuleEnter && m.Device == device && !paths[m.Name] {
			paths[m.Name] = true
			deepest = max(deepest, strings.Count(m.Name, ".")+1)
		}
	}
	for depth := deepest; depth > 1; depth-- {
		cut := map[string]bool{}
		for p := range paths {
			cut[prefix(p, depth)] = true
		}
		if len(cut) <= most {
			return depth
		}
	}
	return 1
}

// prefix returns the first so many parts of a path: prefix("a.b.c", 2) is
// "a.b". The path of the whole model is empty.
func prefix(name string, depth int) string {
	if name == "" {
		return "whole model"
	}
	for i := range len(name) {
		if name[i] == '.' {
			if depth--; depth == 0 {
				return name[:i]
			}
		}
	}
	return name
}
