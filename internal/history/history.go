// Package history says what a recording shows as a whole: of each GPU how it was
// used and why it idled, and where the recording has holes.
//
// It takes one sample after the other and keeps sums, so that a recording of weeks
// takes no more memory than one of minutes. It reads no files and has no clock.
package history

import (
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A History is what was seen of some hosts. The zero value has seen nothing.
type History struct {
	// Root is the PID at the top of the job that is judged, 0 for whoever is on
	// a GPU.
	Root  int
	Hosts []*Host // in the order in which they appear
}

// A Host is what was seen of one machine.
type Host struct {
	Name, Driver, CUDA string
	First, Last        time.Time     // by its clock
	Watched            time.Duration // between samples, without gaps
	Samples            int
	Devices            []*Device // in the order in which they appear
	Gaps               []Gap
	Jumps              []Jump
	Problems           []Problem

	root     int
	last     *series.Sample
	steps    steps
	elapsed  time.Duration // of the first sample, gaps included
	window   []series.Sample
	held     int // processes in window
	problems map[string]int
}

// A GapKind says why nothing was recorded.
type GapKind string

// The kinds of gaps.
const (
	Silent    GapKind = "silent"    // no sample came for many times the usual interval
	Stopped   GapKind = "stopped"   // the recorder was stopped and started anew
	Restarted GapKind = "restarted" // the machine was
)

// A Gap is a time without samples.
type Gap struct {
	From, To time.Time
	Lasted   time.Duration // by a clock that does not jump, where there is one
	Kind     GapKind
}

// A Jump is a change of the host's clock.
type Jump struct {
	At time.Time     // by the clock after it
	By time.Duration // negative for back
}

// A Problem is something that could not be read.
type Problem struct {
	series.Problem
	Samples int // that say so
}

// Limits of what is told apart.
const (
	mostDevices  = 1024
	mostProblems = 50
	mostHoles    = 1000
	mostHosts    = 4096
)

// leastJump is a difference between two clocks that is no drift.
const leastJump = time.Second

// longestGap is longer than any recording; a file may claim more.
const longestGap = 100 * 365 * 24 * time.Hour

// Add takes the next sample.
func (h *History) Add(s *series.Sample) {
	host := h.host(s.Host.Name)
	if host == nil {
		return
	}
	host.add(s)
}

func (h *History) host(name string) *Host {
	for _, host := range h.Hosts {
		if host.Name == name {
			return host
		}
	}
	if len(h.Hosts) >= mostHosts {
		return nil
	}
	host := &Host{Name: name, root: h.Root, problems: map[string]int{}}
	h.Hosts = append(h.Hosts, host)
	return host
}

// Finish judges what is left. Nothing may be added after it.
func (h *History) Finish() {
	for _, host := range h.Hosts {
		host.judge()
		host.last, host.window = nil, nil
	}
}

func (h *Host) add(s *series.Sample) {
	step := h.step(s)
	h.elapsed = min(h.elapsed+min(step.passed, longestGap), longestGap)
	h.Watched += step.counted
	h.Samples++
	if h.last == nil {
		h.First = s.Wall
	}
	h.Last = s.Wall
	if s.Host.Driver != "" {
		h.Driver, h.CUDA = s.Host.Driver, s.Host.CUDA
	}
	for i := range s.Devices {
		if d := h.device(&s.Devices[i]); d != nil {
			d.add(&s.Devices[i], h.elapsed, step)
		}
	}
	for _, p := range s.Problems {
		h.addProblem(p)
	}
	if step.broken {
		h.judge()
	}
	h.keep(s)
	h.last = s
}

func (h *Host) device(d *series.Device) *Device {
	for _, known := range h.Devices {
		if known.ID == d.ID {
			return known
		}
	}
	if len(h.Devices) >= mostDevices {
		return nil
	}
	known := newDevice(d)
	h.Devices = append(h.Devices, known)
	return known
}

func (h *Host) addProblem(p series.Problem) {
	at, ok := h.problems[p.What]
	if !ok {
		if len(h.Problems) >= mostProblems {
			return
		}
		at = len(h.Problems)
		h.problems[p.What] = at
		h.Problems = append(h.Problems, Problem{Problem: p})
	}
	h.Problems[at].Samples++
}

// A step is the time from one sample to the next.
type step struct {
	passed  time.Duration // at all
	counted time.Duration // for which the numbers of the sample hold; 0 over a gap
	broken  bool          // differences across it mean nothing
}

// step measures the time since the last sample, and notes gaps and jumps.
func (h *Host) step(s *series.Sample) step {
	if h.last == nil {
		return step{}
	}
	wall, steady := s.Wall.Sub(h.last.Wall), s.Since-h.last.Since
	switch {
	case s.Host.BootID != h.last.Host.BootID && s.Host.BootID != "" && h.last.Host.BootID != "":
		return h.gap(s, max(wall, 0), Restarted)
	case steady < 0:
		return h.gap(s, max(wall, 0), Stopped)
	}
	if off := wall - steady; off.Abs() >= leastJump && len(h.Jumps) < mostHoles {
		h.Jumps = append(h.Jumps, Jump{At: s.Wall, By: off})
	}
	if h.steps.unusual(steady) {
		return h.gap(s, steady, Silent)
	}
	h.steps.add(steady)
	return step{passed: steady, counted: steady}
}

func (h *Host) gap(s *series.Sample, lasted time.Duration, kind GapKind) step {
	if len(h.Gaps) < mostHoles {
		h.Gaps = append(h.Gaps, Gap{From: h.last.Wall, To: s.Wall, Lasted: lasted, Kind: kind})
	}
	return step{passed: lasted, broken: true}
}

// steps are the last intervals between samples.
type steps struct {
	recent [33]time.Duration
	n      int
}

// A gap is longer than this many usual intervals, and than the shortest gap: samples
// are taken at up to 1.7 times the mean, and a busy machine is late.
const (
	gapTimes    = 6
	shortestGap = 5 * time.Second
)

func (s *steps) add(d time.Duration) {
	s.recent[s.n%len(s.recent)] = d
	s.n++
}

// unusual reports whether d is far longer than the median of the last intervals.
func (s *steps) unusual(d time.Duration) bool {
	n := min(s.n, len(s.recent))
	if d < shortestGap || n < 3 {
		return false
	}
	sorted := s.recent
	slices.Sort(sorted[:n])
	return d > gapTimes*sorted[n/2]
}
