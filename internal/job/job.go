// Package job says what samples of a machine tell of one command: which processes are
// its own, which GPUs it is on, and what those did over time.
package job

import (
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/history"
	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A Job is a command's tree of processes, and the GPUs that it is on or was given.
type Job struct {
	root    int
	members map[ProcessID]bool // all that were seen in the tree, also if their parent has ended
	devices map[string]bool
	given   []string
	Used    map[string]bool // of those, the ones that it was seen on
	Latest  []ProcessID     // members in the last sample
	SawGPU  bool            // some GPU of the machine answered

	History history.History
	// window are the last samples, some minutes of them, with all GPUs and those
	// processes that belong to the job or are on its GPUs.
	window []series.Sample
	held   int  // processes in window
	Whole  bool // the window holds all of it
	CPU    CPU
	Tracks map[string]*Track
	mean   time.Duration // between samples
	began  time.Duration // of the first sample
	Lasted time.Duration // from that to the last
}

// A Track is what one GPU did over time, as shares.
type Track struct{ Busy, Memory, Power history.Line }

// trackParts is how many parts tracks have at most.
const trackParts = 600

// newLine is a line whose parts are no shorter than the longest time between two
// samples, so that none is empty for want of one.
func (j *Job) newLine() history.Line {
	return history.Line{Bins: trackParts, Width: 2 * j.mean}
}

// add takes what a GPU does at a time since the first sample.
func (t *Track) add(at time.Duration, d *series.Device) {
	if d.Status != series.OK {
		return
	}
	if v, ok := d.Values.Get(series.Busy).Get(); ok {
		t.Busy.Add(at, v)
	}
	for _, row := range []struct {
		part, whole series.Counter
		line        *history.Line
	}{{series.MemoryUsed, series.MemoryTotal, &t.Memory}, {series.Power, series.PowerLimit, &t.Power}} {
		part, ok := d.Values.Get(row.part).Get()
		whole, known := d.Values.Get(row.whole).Get()
		if ok && known && whole > 0 {
			row.line.Add(at, part/whole)
		}
	}
}

// A ProcessID tells processes apart that had the same PID.
type ProcessID struct {
	PID     int
	Started uint64
}

// Limits of the window: at a sample a second twenty minutes, in which a step is
// seen often enough; some tens of MB of processes.
const (
	mostSamples = 1200
	mostHeld    = 60_000
)

// New returns a job of the processes from root on, which was given these devices, or
// any if there are none, and is sampled in steps of this mean.
func New(root int, given []string, mean time.Duration) *Job {
	j := &Job{root: root, members: map[ProcessID]bool{}, devices: map[string]bool{}, given: given, mean: mean,
		Used: map[string]bool{}, History: history.History{Root: root}, Whole: true, Tracks: map[string]*Track{}}
	j.CPU.Line = j.newLine()
	for _, id := range given {
		j.devices[id] = true
	}
	return j
}

// Add takes a sample.
func (j *Job) Add(s *series.Sample) {
	j.find(s)
	kept := *s
	kept.Devices, kept.Processes = nil, nil
	if len(j.window) == 0 && j.Whole {
		j.began = s.Since
	}
	j.Lasted = s.Since - j.began
	for i, d := range s.Devices {
		j.SawGPU = j.SawGPU || d.Status == series.OK
		if !j.devices[d.ID] {
			continue
		}
		kept.Devices = append(kept.Devices, d)
		if j.Tracks[d.ID] == nil {
			j.Tracks[d.ID] = &Track{j.newLine(), j.newLine(), j.newLine()}
		}
		j.Tracks[d.ID].add(j.Lasted, &s.Devices[i])
	}
	for _, p := range s.Processes {
		// While it is on no GPU, whoever is on one may be why.
		if len(j.devices) > 0 {
			p.Uses = slices.DeleteFunc(slices.Clone(p.Uses), func(u series.Use) bool { return !j.devices[u.Device] })
		}
		if len(p.Uses) > 0 || j.members[ProcessID{p.PID, p.Started}] {
			kept.Processes = append(kept.Processes, p)
		}
	}
	j.CPU.add(s, j.began, j.members)
	j.History.Add(&kept)
	// A job that is on no GPU, or on another than it was given, is told so.
	kept.Devices = s.Devices
	j.window = append(j.window, kept)
	j.held += len(kept.Processes)
	for len(j.window) > mostSamples || j.held > mostHeld && len(j.window) > 1 {
		j.held -= len(j.window[0].Processes)
		j.window[0] = series.Sample{}
		j.window = j.window[1:]
		j.Whole = false
	}
}

// find adds the processes of a sample that belong to the job, and their GPUs.
func (j *Job) find(s *series.Sample) {
	byPID := make(map[int]*series.Process, len(s.Processes))
	for i := range s.Processes {
		byPID[s.Processes[i].PID] = &s.Processes[i]
	}
	var belongs func(p *series.Process, depth int) bool
	belongs = func(p *series.Process, depth int) bool {
		if p.PID == j.root || j.members[ProcessID{p.PID, p.Started}] {
			return true
		}
		parent, ok := byPID[p.Parent]
		return ok && depth > 0 && belongs(parent, depth-1)
	}
	j.Latest = j.Latest[:0]
	for i := range s.Processes {
		p := &s.Processes[i]
		if p.Status == series.Lost || !belongs(p, len(s.Processes)) {
			continue
		}
		id := ProcessID{p.PID, p.Started}
		j.Latest = append(j.Latest, id)
		j.members[id] = true
		for _, u := range p.Uses {
			j.devices[u.Device], j.Used[u.Device] = true, true
		}
	}
}

// Answer says how the job used its GPUs, by the samples of the window.
func (j *Job) Answer() idle.Answer {
	return idle.Diagnose(idle.Window{Samples: j.window, Given: j.given, Root: j.root})
}

// A CPU is how much of the processors that it may take a job took, over time.
type CPU struct {
	last map[ProcessID]float64 // processor time
	at   float64
	Most float64 // processors that it might take
	Used float64 // seconds that were seen in all; what ran between samples is not
	Line history.Line
}

// add takes the processor time since the last sample.
func (c *CPU) add(s *series.Sample, began time.Duration, members map[ProcessID]bool) {
	now := map[ProcessID]float64{}
	used := 0.0
	for _, p := range s.Processes {
		id := ProcessID{p.PID, p.Started}
		v, ok := p.Values.Get(series.CPUTime).Get()
		if !ok || !members[id] {
			continue
		}
		now[id] = v
		if before, known := c.last[id]; known {
			used += max(v-before, 0)
		}
	}
	c.Used += used
	since := s.Since.Seconds() - c.at
	if allowed, ok := s.Host.Values.Get(series.HostCPUsAllowed).Get(); ok && allowed > 0 && c.last != nil && since > 0 {
		c.Most = allowed
		c.Line.Add(s.Since-began, min(used/since/allowed, 1))
	}
	c.last, c.at = now, s.Since.Seconds()
}

// Samples is how many samples an Answer is of.
func (j *Job) Samples() int { return len(j.window) }
