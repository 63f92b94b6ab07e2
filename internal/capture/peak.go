package capture

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// describePeak fills in what was live at the peak, and where it was.
func (c *Capture) describePeak(o Options, a whatif.Allocator) {
	if len(c.Recordings) == 0 {
		return
	}
	res, rec := c.Result, &c.Recordings[0]
	libraries := librariesOf(res.Processes[rec.Process].World, o)
	beside := o.contextOn(o.Card.Card).plus(libraries)
	processes, others := unit.Bytes(1), unit.Bytes(0) // on the same card
	for _, r := range c.Recordings[1:] {
		if r.Device == rec.Device {
			processes++
			others += r.deviceBytes() + beside.typical
		}
	}
	moment := rec.At(rec.replay.Event)
	p := &res.Peak
	*p = Peak{
		Requested: rec.replay.Requested, Allocated: rec.used.AllocatedPeak, Reserved: rec.used.ReservedPeak,
		Device: rec.deviceBytes() + beside.typical + others, Process: rec.Process, Index: rec.Device, Event: rec.replay.Event,
	}
	less, more := spread(res.Estimates, o)
	p.Low = p.Device - processes*(beside.typical-beside.low+less)
	p.High = p.Device + processes*(beside.high-beside.typical+more)
	p.Needs = rec.needs + p.Device - rec.deviceBytes()
	phase, step, module := rec.Where(rec.replay.Event)
	p.Phase, p.Step, p.Module = phase.String(), step, module
	if rec.replay.Event >= 0 {
		p.Site = siteName(rec.Line(rec.Tape.Event(rec.replay.Event).Site))
	}
	res.ByCategory = categoriesOf(moment, *p, rec, o.Context, others+libraries.typical)
	res.Sites, res.Modules = sitesOf(moment), modulesOf(moment)
	res.Phases = phasePeaks(rec.Tape)
	res.Steps = append(res.Steps, rec.stepPeaks(a)...)
	c.locateOOM()
}

// categoriesOf sums to the device peak: what blocks asked for by category,
// then what the allocator, other libraries and the context add.
func categoriesOf(m attribute.Moment, p Peak, rec *Recording, context, others unit.Bytes) Categories {
	of := m.ByCategory
	return Categories{
		Parameter: of[tape.Parameter], Gradient: of[tape.Gradient], Optimizer: of[tape.OptimizerState],
		MasterWeight: of[tape.MasterWeight], Activation: of[tape.Activation], Input: of[tape.Input], Buffer: of[tape.Buffer],
		Temporary: of[tape.Temporary], Workspace: of[tape.Workspace], Communication: of[tape.Communication],
		KVCache: of[tape.KVCache], Unknown: of[tape.Unknown],
		Rounding: p.Allocated - m.Requested,
		Cached:   p.Reserved - p.Allocated,
		Outside:  rec.deviceBytes() - p.Reserved + others,
		Context:  context,
	}
}

// Sum is the device's bytes.
func (c Categories) Sum() unit.Bytes {
	return c.Parameter + c.Gradient + c.Optimizer + c.MasterWeight + c.Activation + c.Input + c.Buffer + c.Temporary +
		c.Workspace + c.Communication + c.KVCache + c.Unknown + c.Rounding + c.Cached + c.Outside + c.Context
}

// mostRows bounds the lists of a result.
const mostRows = 50

func sitesOf(m attribute.Moment) []Site {
	sites := []Site{}
	for _, l := range m.Lines[:min(mostRows, len(m.Lines))] {
		sites = append(sites, Site{
			File: l.File, Line: l.Line.Line, Function: l.Function, Code: codeAt(l.File, l.Line.Line), Category: l.Category.String(),
			Bytes: l.Bytes, Blocks: l.Blocks, User: l.User,
		})
	}
	return sites
}

func modulesOf(m attribute.Moment) []Module {
	modules := []Module{}
	for _, l := range m.Modules[:min(mostRows, len(m.Modules))] {
		modules = append(modules, Module{Name: l.Name, Count: l.Modules, Category: l.Category.String(), Bytes: l.Bytes, Blocks: l.Blocks})
	}
	return modules
}

// siteName is "train.py:12 in main".
func siteName(l attribute.Line) string {
	if l.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d in %s", l.File, l.Line, l.Function)
}

// phasePeaks is the most that was requested at once in each phase, in the
// order of the phases of a step.
func phasePeaks(t *tape.Tape) []PhasePeak {
	var live unit.Bytes
	most := map[tape.Phase]unit.Bytes{}
	for _, s := range t.Initial {
		for _, b := range s.Blocks {
			if b.State != tape.Inactive {
				live += b.Requested
			}
		}
	}
	gone := make([]bool, t.Blocks())
	for i := range t.Len() {
		e := t.Event(i)
		switch {
		case e.Kind == tape.Alloc:
			live += e.Bytes
		case e.Kind.HasBlock() && !gone[e.Block]:
			gone[e.Block] = true
			live -= e.Bytes
		default:
			continue
		}
		most[e.Phase] = max(most[e.Phase], live)
	}
	peaks := []PhasePeak{}
	for p := tape.Idle; p <= tape.Save; p++ {
		if b, ok := most[p]; ok {
			peaks = append(peaks, PhasePeak{p.String(), b})
		}
	}
	return peaks
}

// locateOOM says where the failed allocation was made.
func (c *Capture) locateOOM() {
	oom := c.Result.OOM
	if oom == nil {
		return
	}
	for _, r := range c.Recordings {
		if r.Process != oom.Process || r.Device != oom.Device {
			continue
		}
		for i := r.Tape.Len() - 1; i >= 0; i-- {
			if r.Tape.Kind(i) != tape.OOM {
				continue
			}
			phase, step, module := r.Where(i)
			oom.Phase, oom.Step, oom.Module = phase.String(), step, module
			oom.Site = siteName(r.Line(r.Tape.Event(i).Site))
			return
		}
	}
}
