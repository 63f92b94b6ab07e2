package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture/attribute"
	"github.com/plimsoll-dev/plimsoll/internal/capture/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Capture is a result and the recordings that it was drawn from.
type Capture struct {
	Result     *Result
	Recordings []Recording // the one that Result.Peak is about comes first
	// Unlimited is the second run, on an endless card, of a script that ran
	// out of memory; nil where there was none.
	Unlimited *Capture
}

// collect draws the result of a script that has ended.
func collect(o Options, dirs userDirs, all []written, log gpuLog) (*Capture, error) {
	r := &Result{
		Schema: Schema, Method: "capture", Command: o.Argv, Verdict: Fits,
		GPU:   GPU{Name: o.Card.Name, Count: o.Card.Count, Capacity: o.Card.Capacity, Note: o.Card.Note},
		Sites: []Site{}, Modules: []Module{}, Phases: []PhasePeak{}, Steps: []Step{}, Verdicts: []Verdict{}, Processes: []Process{},
		Writes: []Write{}, Operators: []Operator{}, Syncs: []Operator{}, Warnings: []Warning{}, Estimates: append([]Estimate{}, log.estimates...),
		LowerBound: log.lowerBound,
	}
	c := &Capture{Result: r}
	for _, w := range all {
		if !w.usedGPU() {
			continue
		}
		found, warnings, err := record(len(r.Processes), w, o, dirs)
		if err != nil {
			return nil, err
		}
		r.Warnings = append(r.Warnings, warnings...)
		c.Recordings = append(c.Recordings, found...)
		r.Processes = append(r.Processes, Process{Rank: w.result.Rank, World: w.result.World, End: w.result.End})
		r.takeFrom(w)
	}
	r.RecordedWith.AllocConf = c.allocConf(o)
	r.RecordedWith.VirtualGPU = true
	r.RecordedWith.Plimsoll = o.Plimsoll
	r.RecordedWith.Context = o.Context
	r.RecordedWith.CuDNNWorkspace = max(o.CuDNNWorkspace, 0)
	if o.Context == o.Card.Context.Typical {
		r.RecordedWith.ContextSource = o.Card.Context.Source.Title
	}
	a, err := whatif.New(r.RecordedWith.AllocConf, r.RecordedWith.Torch)
	if err != nil {
		r.Replay.Error = err.Error() // PyTorch took what our parser does not
	}
	for i := range c.Recordings {
		rec := &c.Recordings[i]
		rec.replay, rec.replayErr = a.Replay(rec.Tape, whatif.Endless)
		rec.needs = rec.deviceBytes()
		if needs, err := a.Needs(rec.Tape, rec.replay); err == nil && rec.replayErr == nil {
			rec.needs += min(needs-rec.used.ReservedPeak, 0)
		}
	}
	r.Replay = verify(c.Recordings, o, a)
	for _, w := range log.warnings {
		r.warn(w.Code, w.Message)
	}
	c.largestFirst()
	c.describePeak(o, a)
	c.judge(o, a)
	return c, nil
}

// allocConf is the setting that the allocator ran under: a script may set the
// variable itself, before CUDA comes up.
func (c *Capture) allocConf(o Options) string {
	if len(c.Recordings) == 0 {
		return o.allocConf()
	}
	return c.Recordings[0].Tape.Meta["alloc_conf"]
}

// takeFrom adds what one process's helper reported.
func (r *Result) takeFrom(w written) {
	h := w.result
	if r.RecordedWith.Torch == "" {
		r.RecordedWith.Torch, r.RecordedWith.CUDA, r.RecordedWith.Python = h.Torch, h.CUDA, h.Python
		r.RecordedWith.Optimizer = h.Optimizer
		r.End = h.End
	}
	if h.OOM != nil && (r.OOM == nil || r.OOM.Caught) {
		r.OOM = &OOM{Message: h.OOM.Message, Process: len(r.Processes) - 1, Device: h.OOM.Device, Caught: h.End != endOOM}
		if !r.OOM.Caught {
			r.End = endOOM
		}
	}
	for _, op := range h.Dependent {
		r.LowerBound = true
		r.Operators = addOperator(r.Operators, op)
	}
	for _, op := range h.Syncs {
		r.Syncs = addOperator(r.Syncs, op)
	}
	for _, write := range h.Writes {
		r.Writes = addWrite(r.Writes, write)
	}
	for _, warning := range h.Warnings {
		r.warn(strings.ReplaceAll(warning.Code, "_", "-"), warning.Message)
	}
}

// warn adds a warning that is not there yet.
func (r *Result) warn(code, message string) {
	w := Warning{code, message}
	if !slices.Contains(r.Warnings, w) {
		r.Warnings = append(r.Warnings, w)
	}
}

func addOperator(list []Operator, op Operator) []Operator {
	for i := range list {
		if l := &list[i]; l.Op == op.Op && l.File == op.File && l.Line == op.Line {
			l.Count += op.Count
			return list
		}
	}
	return append(list, op)
}

func addWrite(list []Write, w Write) []Write {
	for i := range list {
		if l := &list[i]; l.Action == w.Action && l.What == w.What && l.Path == w.Path {
			l.Count += max(w.Count, 1)
			return list
		}
	}
	w.Count = max(w.Count, 1)
	return append(list, w)
}

// largestFirst puts the recording of the fullest device first: the device
// whose processes together took the most, and on it the process that did.
func (c *Capture) largestFirst() {
	onDevice := map[int]unit.Bytes{}
	for _, r := range c.Recordings {
		onDevice[r.Device] += r.deviceBytes()
	}
	slices.SortStableFunc(c.Recordings, func(a, b Recording) int {
		return cmp.Or(cmp.Compare(onDevice[b.Device], onDevice[a.Device]), a.Device-b.Device,
			cmp.Compare(b.deviceBytes(), a.deviceBytes()), a.Process-b.Process)
	})
}

// verify compares each replay with PyTorch's own peaks.
func verify(recordings []Recording, o Options, a whatif.Allocator) Replay {
	out := Replay{Equal: true}
	for _, r := range recordings {
		again, err := r.replay, r.replayErr
		if err == nil && r.nearCapacity(o) {
			// The real allocator was short of memory and gave back its cache;
			// so must the replay.
			again, err = a.Replay(r.Tape, o.Card.Capacity-o.Context)
		}
		if err != nil {
			out.Equal, out.Error = false, err.Error()
			continue
		}
		for _, d := range []ReplayDiff{
			{r.Process, r.Device, "allocated", r.used.AllocatedPeak, again.Allocated},
			{r.Process, r.Device, "reserved", r.used.ReservedPeak, again.Reserved},
		} {
			if d.PyTorch != d.Replayed {
				out.Equal = false
				out.Diffs = append(out.Diffs, d)
			}
		}
	}
	return out
}

// nearCapacity reports whether the recording ran into the card's end.
func (r *Recording) nearCapacity(o Options) bool {
	return r.replay.Reserved > o.Card.Capacity-o.Context || r.used.stat("num_alloc_retries") > 0
}

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
	for _, s := range rec.steps {
		res.Steps = append(res.Steps, Step{s.Step, s.Allocated, s.Reserved})
	}
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
