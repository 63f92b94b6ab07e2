package formula

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A part is where a part of a run begins.
type part struct {
	At   int // event of the tape
	Name string
}

// A stretch is a run of events of one step, phase and module.
type stretch struct {
	at     int
	step   int
	phase  tape.Phase
	module string // one of several alike, "blocks.3"; empty outside of such
}

func (s stretch) same(t stretch) bool { return s.step == t.step && s.phase == t.phase }

// partsOf cuts a run into parts that have the same names at all values: by steps
// and phases, and within them by the modules that there are several of.
func partsOf(rec *capture.Recording) []part {
	var parts []part
	times := map[stretch]int{}
	for _, s := range joined(stretches(rec)) {
		key := s
		key.at = 0
		times[key]++
		parts = append(parts, part{s.at, symbolic.PartOfScript(s.step, times[key], s.module, s.phase)})
	}
	return parts
}

func stretches(rec *capture.Recording) []stretch {
	t := rec.Tape
	var list []stretch
	marks, ended, began := t.Marks, 0, false
	for i := range t.Len() {
		for len(marks) > 0 && marks[0].Event <= i {
			switch m := marks[0]; {
			case m.Kind == tape.MarkStep:
				ended++
			case m.Kind == tape.MarkPhase && tape.Phase(m.Value) == tape.Forward:
				began = true
			}
			marks = marks[1:]
		}
		e := t.Event(i)
		s := stretch{at: i, step: ended, phase: e.Phase}
		if began {
			s.step++
		}
		last := len(list) - 1
		switch {
		case e.Kind == tape.Alloc:
			s.module = numbered(rec.Module(e.Block))
		case last >= 0 && list[last].same(s):
			s.module = list[last].module // a free belongs to what goes on
		}
		if last < 0 || !list[last].same(s) || list[last].module != s.module {
			list = append(list, s)
		}
	}
	return list
}

// joined leaves out stretches between two modules of a phase, which belong to the
// first of them.
func joined(list []stretch) []stretch {
	var out []stretch
	for i, s := range list {
		last := len(out) - 1
		if s.module == "" && last >= 0 && out[last].same(s) && out[last].module != "" {
			further := false
			for k := i + 1; k < len(list) && list[k].same(s) && !further; k++ {
				further = list[k].module != ""
			}
			if further {
				continue
			}
		}
		if last >= 0 && out[last].same(s) && out[last].module == s.module {
			continue
		}
		out = append(out, s)
	}
	return out
}

// numbered is a module's path up to its first number, empty where there is none.
func numbered(module string) string {
	at := 0
	for part := range strings.SplitSeq(module, ".") {
		at += len(part) + 1
		if part != "" && strings.Trim(part, "0123456789") == "" {
			return word(module[:at-1])
		}
	}
	return ""
}
