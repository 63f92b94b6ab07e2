package attribute

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Moment is what was live just after an event.
type Moment struct {
	Requested  unit.Bytes
	Blocks     int
	ByCategory map[tape.Category]unit.Bytes // requested
	Lines      []LineShare                  // largest first
	Modules    []ModuleShare                // largest first
}

// A LineShare is what one line of code holds at a moment.
type LineShare struct {
	Line
	Category tape.Category // the largest of this line
	Bytes    unit.Bytes
	Blocks   int
}

// A ModuleShare is what the modules of one folded name hold at a moment.
type ModuleShare struct {
	Name     string // folded
	Modules  int    // different paths
	Category tape.Category
	Bytes    unit.Bytes
	Blocks   int
}

// At returns what was live just after event e; -1 is before the first.
func (r *Recording) At(e int) Moment {
	m := Moment{ByCategory: map[tape.Category]unit.Bytes{}}
	lines, modules := map[Line]*tally{}, map[string]*tally{}
	for i := range r.Tape.Blocks() {
		id := tape.BlockID(i)
		b := r.Tape.Block(id)
		if b.Alloc > e || b.Free >= 0 && b.Free <= e {
			continue
		}
		m.Requested += b.Bytes
		m.Blocks++
		m.ByCategory[b.Category] += b.Bytes
		path := r.Module(id)
		if b.Category == tape.Workspace || b.Category == tape.Communication {
			path = "" // it serves other modules too; the first to need it made it
		}
		count(lines, r.lineOf(b, path), b, path)
		if path != "" {
			count(modules, Fold(path), b, path)
		}
	}
	for line, t := range lines {
		m.Lines = append(m.Lines, LineShare{line, t.largest(), t.bytes, t.blocks})
	}
	for name, t := range modules {
		m.Modules = append(m.Modules, ModuleShare{name, len(t.paths), t.largest(), t.bytes, t.blocks})
	}
	slices.SortFunc(m.Lines, func(a, b LineShare) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.File, b.File), a.Line.Line-b.Line.Line, cmp.Compare(a.Function, b.Function))
	})
	slices.SortFunc(m.Modules, func(a, b ModuleShare) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return m
}

// lineOf is the line of a block. Autograd's own thread has no Python stack;
// what it allocates is named by the module whose backward it was.
func (r *Recording) lineOf(b tape.Block, module string) Line {
	if b.Category == tape.Workspace {
		return Line{Function: "cuBLAS workspace"}
	}
	l := r.Line(b.Site)
	if l.File != "" {
		return l
	}
	l.Function = b.Phase.String()
	if module != "" {
		l.Function += " of " + Fold(module)
		if strings.Trim(module, "0123456789") == "" {
			l.Function = b.Phase.String() + " of module " + module
		}
	}
	return l
}

type tally struct {
	bytes  unit.Bytes
	blocks int
	kinds  map[tape.Category]unit.Bytes
	paths  map[string]bool
}

func count[K comparable](in map[K]*tally, key K, b tape.Block, path string) {
	t := in[key]
	if t == nil {
		t = &tally{kinds: map[tape.Category]unit.Bytes{}, paths: map[string]bool{}}
		in[key] = t
	}
	t.bytes += b.Bytes
	t.blocks++
	t.kinds[b.Category] += b.Bytes
	t.paths[path] = true
}

func (t *tally) largest() tape.Category {
	best, found := tape.Unknown, unit.Bytes(-1)
	for _, c := range tape.Categories() {
		if b, ok := t.kinds[c]; ok && b > found {
			best, found = c, b
		}
	}
	return best
}

// Where names what was going on at an event: the phase, the optimizer step in
// progress from 1 (0 before the first forward pass), and the innermost module.
func (r *Recording) Where(e int) (phase tape.Phase, step int, module string) {
	if e < 0 || r.Tape.Len() == 0 {
		return tape.Idle, 0, ""
	}
	e = min(e, r.Tape.Len()-1)
	began := false
	var stack []tape.Mark
	for _, m := range r.Tape.Marks {
		if m.Event > e {
			break
		}
		stack = follow(stack, m)
		switch {
		case m.Kind == tape.MarkStep:
			step = int(m.Value)
		case m.Kind == tape.MarkPhase && tape.Phase(m.Value) == tape.Forward:
			began = true
		}
	}
	if began {
		step++
	}
	ev := r.Tape.Event(e)
	switch {
	case ev.Block != tape.NoBlock:
		module = r.Module(ev.Block)
	case len(stack) > 0:
		module = stack[len(stack)-1].Name
	}
	return ev.Phase, step, module
}
