package strata

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// bands are the steps, phases and modules of the device. A kind with too
// many bands to be seen is left out.
func bands(t *tape.Tape, o Options) []report.Band {
	b := &bander{end: t.Len(), depth: depthFor(t, o.Device, o.Layers)}
	for _, m := range t.Marks {
		if m.Device == o.Device {
			b.mark(m)
		}
	}
	b.closePhase(b.end)
	b.closeModule(b.end)
	var out []report.Band
	for _, list := range [][]report.Band{b.steps, b.phases, b.modules} {
		if len(list) <= mostBands {
			out = append(out, list...)
		}
	}
	return out
}

type bander struct {
	end, depth             int
	steps, phases, modules []report.Band
	stepFrom               int
	phase, module          report.Band
	open                   []string
}

func (b *bander) mark(m tape.Mark) {
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
	case tape.MarkModuleEnter, tape.MarkModuleExit:
		b.open = follow(b.open, m, m.Device)
		name := ""
		if len(b.open) > 0 {
			name = prefix(b.open[len(b.open)-1], b.depth)
		}
		if name != b.module.Name {
			b.closeModule(m.Event)
			b.module = report.Band{Kind: report.ModuleBand, From: m.Event, Name: name}
		}
	}
}

func (b *bander) closePhase(at int) {
	b.phase.To = at
	b.phases = add(b.phases, b.phase)
	b.phase = report.Band{}
}

func (b *bander) closeModule(at int) {
	b.module.To = at
	b.modules = add(b.modules, b.module)
	b.module = report.Band{}
}

// add appends a band that has a name and covers something.
func add(list []report.Band, b report.Band) []report.Band {
	if b.Name == "" || b.To <= b.From {
		return list
	}
	return append(list, b)
}
