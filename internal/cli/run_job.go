package cli

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/format/samples"
	"github.com/plimsoll-dev/plimsoll/internal/history"
	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/internal/launch"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A job is a command's tree of processes, and the GPUs that it is on or was given.
type job struct {
	root    int
	members map[processID]bool // all that were seen in the tree, also if their parent has ended
	devices map[string]bool
	given   []string
	used    map[string]bool // of those, the ones that it was seen on
	latest  []processID     // members in the last sample
	sawGPU  bool            // some GPU of the machine answered

	history history.History
	// window are the last samples, some minutes of them, with all GPUs and those
	// processes that belong to the job or are on its GPUs.
	window []series.Sample
	held   int // processes in window
	whole  bool
	cpu    cpuShare
	tracks map[string]*gpuTrack
	mean   time.Duration // between samples
	began  time.Duration // of the first sample
	lasted time.Duration // from that to the last
}

// A gpuTrack is what one GPU did over time, as shares.
type gpuTrack struct{ busy, memory, power history.Line }

// trackParts is how many parts tracks have at most.
const trackParts = 600

// newLine is a line whose parts are no shorter than the longest time between two
// samples, so that none is empty for want of one.
func (j *job) newLine() history.Line {
	return history.Line{Bins: trackParts, Width: 2 * j.mean}
}

// add takes what a GPU does at a time since the first sample.
func (t *gpuTrack) add(at time.Duration, d *series.Device) {
	if d.Status != series.OK {
		return
	}
	if v, ok := d.Values.Get(series.Busy).Get(); ok {
		t.busy.Add(at, v)
	}
	for _, row := range []struct {
		part, whole series.Counter
		line        *history.Line
	}{{series.MemoryUsed, series.MemoryTotal, &t.memory}, {series.Power, series.PowerLimit, &t.power}} {
		part, ok := d.Values.Get(row.part).Get()
		whole, known := d.Values.Get(row.whole).Get()
		if ok && known && whole > 0 {
			row.line.Add(at, part/whole)
		}
	}
}

// A processID tells processes apart that had the same PID.
type processID struct {
	pid     int
	started uint64
}

// Limits of the window: at a sample a second twenty minutes, in which a step is
// seen often enough; some tens of MB of processes.
const (
	mostSamples = 1200
	mostHeld    = 60_000
)

func newJob(root int, taken *launch.Taken, mean time.Duration) *job {
	j := &job{root: root, members: map[processID]bool{}, devices: map[string]bool{}, used: map[string]bool{}, history: history.History{Root: root}, whole: true, tracks: map[string]*gpuTrack{}}
	j.mean = mean
	j.cpu.line = j.newLine()
	if taken != nil {
		for _, d := range taken.Devices {
			j.devices[d.ID] = true
			j.given = append(j.given, d.ID)
		}
	}
	return j
}

// add takes a sample.
func (j *job) add(s *series.Sample) {
	j.find(s)
	kept := *s
	kept.Devices, kept.Processes = nil, nil
	if len(j.window) == 0 && j.whole {
		j.began = s.Since
	}
	j.lasted = s.Since - j.began
	for i, d := range s.Devices {
		j.sawGPU = j.sawGPU || d.Status == series.OK
		if !j.devices[d.ID] {
			continue
		}
		kept.Devices = append(kept.Devices, d)
		if j.tracks[d.ID] == nil {
			j.tracks[d.ID] = &gpuTrack{j.newLine(), j.newLine(), j.newLine()}
		}
		j.tracks[d.ID].add(j.lasted, &s.Devices[i])
	}
	for _, p := range s.Processes {
		// While it is on no GPU, whoever is on one may be why.
		if len(j.devices) > 0 {
			p.Uses = slices.DeleteFunc(slices.Clone(p.Uses), func(u series.Use) bool { return !j.devices[u.Device] })
		}
		if len(p.Uses) > 0 || j.members[processID{p.PID, p.Started}] {
			kept.Processes = append(kept.Processes, p)
		}
	}
	j.cpu.add(s, j.began, j.members)
	j.history.Add(&kept)
	// A job that is on no GPU, or on another than it was given, is told so.
	kept.Devices = s.Devices
	j.window = append(j.window, kept)
	j.held += len(kept.Processes)
	for len(j.window) > mostSamples || j.held > mostHeld && len(j.window) > 1 {
		j.held -= len(j.window[0].Processes)
		j.window[0] = series.Sample{}
		j.window = j.window[1:]
		j.whole = false
	}
}

// find adds the processes of a sample that belong to the job, and their GPUs.
func (j *job) find(s *series.Sample) {
	byPID := make(map[int]*series.Process, len(s.Processes))
	for i := range s.Processes {
		byPID[s.Processes[i].PID] = &s.Processes[i]
	}
	var belongs func(p *series.Process, depth int) bool
	belongs = func(p *series.Process, depth int) bool {
		if p.PID == j.root || j.members[processID{p.PID, p.Started}] {
			return true
		}
		parent, ok := byPID[p.Parent]
		return ok && depth > 0 && belongs(parent, depth-1)
	}
	j.latest = j.latest[:0]
	for i := range s.Processes {
		p := &s.Processes[i]
		if p.Status == series.Lost || !belongs(p, len(s.Processes)) {
			continue
		}
		id := processID{p.PID, p.Started}
		j.latest = append(j.latest, id)
		j.members[id] = true
		for _, u := range p.Uses {
			j.devices[u.Device], j.used[u.Device] = true, true
		}
	}
}

// left counts the members that are still there.
func (j *job) left() int {
	n := 0
	for _, id := range j.latest {
		if proc.Signal(id.pid, id.started, 0) == nil {
			n++
		}
	}
	return n
}

// answer says how the job used its GPUs, by the samples of the window.
func (j *job) answer() idle.Answer {
	return idle.Diagnose(idle.Window{Samples: j.window, Given: j.given, Root: j.root})
}

// A cpuShare is how much of the processors that it may take a job took, over time.
type cpuShare struct {
	last    map[processID]float64 // processor time
	at      float64
	seconds float64 // of processor time, in all
	most    float64 // processors that it might take
	line    history.Line
}

// add takes the processor time since the last sample.
func (c *cpuShare) add(s *series.Sample, began time.Duration, members map[processID]bool) {
	now := map[processID]float64{}
	used := 0.0
	for _, p := range s.Processes {
		id := processID{p.PID, p.Started}
		v, ok := p.Values.Get(series.CPUTime).Get()
		if !ok || !members[id] {
			continue
		}
		now[id] = v
		if before, known := c.last[id]; known {
			used += max(v-before, 0)
		}
	}
	since := s.Since.Seconds() - c.at
	if allowed, ok := s.Host.Values.Get(series.HostCPUsAllowed).Get(); ok && allowed > 0 && c.last != nil && since > 0 {
		c.most = allowed
		c.line.Add(s.Since-began, min(used/since/allowed, 1))
	}
	c.seconds += used
	c.last, c.at = now, s.Since.Seconds()
}

// A keeper writes the recording. A nil one writes none.
type keeper struct {
	file    *os.File
	w       *samples.Writer
	flushed time.Duration // when what was kept was last written
	failed  error
}

// keptFor is how much of the end a kill may cost. A run may be short, so it is less
// than what makes the smallest files.
const keptFor = 2 * time.Second

// add writes a sample; after one failure no more.
func (k *keeper) add(s *series.Sample) {
	if k == nil || k.failed != nil {
		return
	}
	k.failed = k.w.Write(s)
	if k.failed == nil && (k.flushed == 0 || s.Since-k.flushed >= keptFor) {
		k.failed, k.flushed = k.w.Flush(), max(s.Since, 1)
	}
}

// close ends the recording.
func (k *keeper) close() error {
	err := firstError(k.failed, k.w.Close(), k.file.Close())
	if err != nil {
		return fmt.Errorf("keep the samples: %w", err)
	}
	return nil
}
