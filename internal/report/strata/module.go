package strata

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// byModule tags blocks with the module that ran, cut to the depth at which
// the paths are few enough to be told apart on a chart.
type byModule struct {
	tape   *tape.Tape
	device uint8
	depth  int
	next   int      // of the tape's marks
	open   []string // paths, outermost first
}

func newByModule(t *tape.Tape, o Options) *byModule {
	return &byModule{tape: t, device: o.Device, depth: depthFor(t, o.Device, o.Layers)}
}

func (v *byModule) tag(event int, b tape.BlockID) tag {
	for ; v.next < len(v.tape.Marks) && v.tape.Marks[v.next].Event <= event; v.next++ {
		v.open = reopen(v.open, v.tape.Marks[v.next], v.device)
	}
	if len(v.open) == 0 {
		return tag{name: "outside of modules", note: origin(v.tape.Block(b))}
	}
	return tag{name: prefix(v.open[len(v.open)-1], v.depth)}
}

func (*byModule) ordered() func(string) int { return othersLast }

// reopen opens and closes modules. A module that is left without its exit,
// by an exception, closes with the one around it.
func reopen(open []string, m tape.Mark, device uint8) []string {
	if m.Device != device {
		return open
	}
	switch m.Kind {
	case tape.MarkModuleEnter:
		return append(open, m.Name)
	case tape.MarkModuleExit:
		for i := len(open) - 1; i >= 0; i-- {
			if open[i] == m.Name {
				return open[:i]
			}
		}
	}
	return open
}

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
