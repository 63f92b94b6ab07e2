package capture

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/whatif"
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
		c.Recordings[i].again(o, a)
	}
	r.Replay = verify(c.Recordings)
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
		op.Known = op.Exact
		r.LowerBound = r.LowerBound || !op.Exact
		r.Operators = addOperator(r.Operators, op.Operator)
	}
	for _, op := range h.Syncs {
		r.Syncs = addOperator(r.Syncs, op)
	}
	for _, write := range h.Writes {
		r.Writes = addWrite(r.Writes, write)
	}
	for _, warning := range h.Warnings {
		if warning.Code == "no_step" {
			continue // said by what all processes together did
		}
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
			l.Known = l.Known && op.Known
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

// again replays the recording, and finds the least that it needs.
func (r *Recording) again(o Options, a whatif.Allocator) {
	r.room = whatif.Endless
	free, err := a.Replay(r.Tape, r.room)
	r.replay, r.replayErr, r.needs = free, err, r.deviceBytes()
	if err != nil {
		return
	}
	if needs, err := a.Needs(r.Tape, free); err == nil {
		r.needs += min(needs-r.used.ReservedPeak, 0)
	}
	if r.nearCapacity(o) {
		// The real allocator was short of memory, gave back its cache and may
		// have failed; so must the replay.
		r.room = o.Card.Capacity - o.Context
		r.replay, r.replayErr = a.Replay(r.Tape, r.room)
	}
}

// verify compares each replay with PyTorch's own peaks.
func verify(recordings []Recording) Replay {
	out := Replay{Equal: true}
	for _, r := range recordings {
		if r.replayErr != nil {
			out.Equal, out.Error = false, r.replayErr.Error()
			continue
		}
		for _, d := range []ReplayDiff{
			{r.Process, r.Device, "allocated", r.used.AllocatedPeak, r.replay.Allocated},
			{r.Process, r.Device, "reserved", r.used.ReservedPeak, r.replay.Reserved},
		} {
			if d.PyTorch != d.Replayed {
				out.Equal = false
				out.Diffs = append(out.Diffs, d)
			}
		}
	}
	return out
}

// nearCapacity reports whether the recording ran into the card's end, from a
// replay without one.
func (r *Recording) nearCapacity(o Options) bool {
	return r.replay.Reserved > o.Card.Capacity-o.Context || r.used.stat("num_alloc_retries") > 0
}
