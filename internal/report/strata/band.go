package strata

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// bands are the steps, phases and modules of the device. Steps and phases
// that are too many to be seen are left out; modules are joined into those
// around them until they are few enough.
func bands(t *tape.Tape, o Options) []report.Band {
	depth := depthFor(t, o.Device, o.Layers)
	b := follow(t, o.Device, depth)
	for ; len(b.modules) > mostBands && depth > 1; depth-- {
		b = follow(t, o.Device, depth-1)
	}
	var out []report.Band
	for _, list := range [][]report.Band{b.steps, b.phases, b.modules} {
		if len(list) <= mostBands {
			out = append(out, list...)
		}
	}
	return out
}

// follow reads the bands off the marks, modules down to a depth.
func follow(t *tape.Tape, device uint8, depth int) *bander {
	b := &bander{depth: depth}
	for _, m := range t.Marks {
		if m.Device == device {
			b.mark(m)
		}
	}
	b.closePhase(t.Len())
	b.closeModule(t.Len())
	return b
}

type bander struct {
	depth                  int
	steps, phases, modules []report.Band
	stepFrom               int
	phase, module          report.Band
	open                   []tape.Mark
}

func (b *bander) mark(m tape.Mark) {
	b.open = reopen(b.open, m, m.Device)
	b.enterModule(m.Event)
	switch m.Kind {
	case tape.MarkStep:
		name := "step " + strconv.FormatInt(m.Value, 10)
		b.steps = add(b.steps, report.Band{Kind: report.StepBand, From: b.stepFrom, To: m.Event, Name: name})
		b.stepFrom = m.Event
	case tape.MarkPhase:
		b.closePhase(m.Event)
		if p := tape.Phase(m.Value); p != tape.Idle {
			b.phase = report.Band{Kind: report.PhaseBand, From: m.Event, Name: p.String()}
		}
	}
}

// enterModule begins a band where the innermost module is another one.
func (b *bander) enterModule(at int) {
	name := ""
	if len(b.open) > 0 {
		name = prefix(b.open[len(b.open)-1].Name, b.depth)
	}
	if name != b.module.Name {
		b.closeModule(at)
		b.module = report.Band{Kind: report.ModuleBand, From: at, Name: name}
	}
}

func (b *bander) closePhase(at int) {
	b.phase.To = at
	b.phases = add(b.phases, b.phase)
	b.phase = report.Band{}
}

func (b *bander) closeModule(at int) {
	b.module.To = at
	last := len(b.modules) - 1
	if last >= 0 && b.modules[last].Name == b.module.Name && b.modules[last].To == b.module.From {
		b.modules[last].To = at // the next part of the same module
	} else {
		b.modules = add(b.modules, b.module)
	}
	b.module = report.Band{}
}

// add appends a band that has a name and covers something.
func add(list []report.Band, b report.Band) []report.Band {
	if b.Name == "" || b.To <= b.From {
		return list
	}
	return append(list, b)
}
