package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/series"
)

// How much is judged at once: some steps of most trainings. Processes of all
// samples of a window are bounded, at some 600 bytes each.
const (
	windowFor     = 2 * time.Minute
	mostProcesses = 20_000
)

// Judged says for how long a device was used well, and why it was not.
type Judged struct {
	Healthy, Unsure time.Duration
	Judged          time.Duration // in all: windows that were long enough
	Causes          map[string]*Named
}

// A Named is a cause that was named.
type Named struct {
	finding.Finding               // of the window that it cost most of
	For             time.Duration // for which it was named
	Lost            time.Duration // of that time, what it cost
	worst           float64
}

// Ranked are the causes, the one that cost most first.
func (j *Judged) Ranked() []*Named {
	var list []*Named
	for _, n := range j.Causes {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *Named) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.For, a.For), cmp.Compare(a.Cause, b.Cause))
	})
	return list
}

// keep takes a sample into the window that is judged next.
func (h *Host) keep(s *series.Sample) {
	if n := len(h.window); n > 0 && (s.Since-h.window[0].Since >= windowFor || h.held+len(s.Processes) > mostProcesses && n > 1) {
		h.judge()
	}
	h.window = append(h.window, *s)
	h.held += len(s.Processes)
}

// judge judges the window and begins another.
func (h *Host) judge() {
	window := h.window
	h.window, h.held = nil, 0
	if len(window) < 2 {
		return
	}
	for _, d := range h.Devices {
		d.Judged.add(idle.Diagnose(idle.Window{Samples: window, Devices: []string{d.ID}, Root: h.root}))
	}
}

func (j *Judged) add(a idle.Answer) {
	took := time.Duration(a.Shares.Seconds * float64(time.Second))
	switch {
	case len(a.Findings) > 0:
	case a.Healthy:
		j.Healthy += took
	case len(a.Unsure) > 0:
		j.Unsure += took
	default:
		return
	}
	j.Judged += took
	for _, f := range a.Findings {
		n := j.Causes[f.Cause]
		if n == nil {
			n = &Named{worst: -1}
			j.Causes[f.Cause] = n
		}
		share := gain(f)
		n.For += took
		n.Lost += time.Duration(share * float64(took))
		if share > n.worst {
			n.Finding, n.worst = f, share
		}
	}
}

// gain is the share of the time that a cause costs, 0 where it is not known.
func gain(f finding.Finding) float64 {
	for _, r := range f.Remedies {
		if r.Gain != nil {
			return *r.Gain
		}
	}
	return 0
}
