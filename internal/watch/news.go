package watch

import (
	"math"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Scene is what a host's GPUs do, as far as a judgement is worth making anew when it
// changes: which there are and how they do, who is on them, how busy they are and how
// full.
type Scene struct {
	devices []sight
	pids    []int
}

// A sight is what is seen of one device.
type sight struct {
	id         string
	status     series.Status
	busy, full float64 // shares; NaN where not known
}

// recent is the time of which a device's being busy is the mean: some steps of most
// trainings, so that a step is no news.
const recent = 10 * time.Second

// What is news: by how much the share of time at work, and that of memory in use, must
// have changed.
const (
	newsBusy = 0.3
	newsFull = 0.1
)

// Scene is what the host's GPUs do now.
func (w *Window) Scene() Scene {
	now, _ := w.Last()
	if now == nil {
		return Scene{}
	}
	var s Scene
	samples := w.since(now.Since - recent)
	for i := range now.Devices {
		s.devices = append(s.devices, sightOf(samples, i))
	}
	for i := range now.Processes {
		if p := &now.Processes[i]; len(p.Uses) > 0 {
			s.pids = append(s.pids, p.PID)
		}
	}
	return s
}

// IsNews reports whether what is seen now differs from what was seen before, so that
// what was said of it then may not hold.
func (w *Window) IsNews(before Scene) bool {
	now, _ := w.Last()
	if now == nil || len(now.Devices) != len(before.devices) {
		return now != nil
	}
	samples := w.since(now.Since - recent)
	for i := range now.Devices {
		if !sightOf(samples, i).isLike(before.devices[i]) {
			return true
		}
	}
	n := 0
	for i := range now.Processes {
		if p := &now.Processes[i]; len(p.Uses) > 0 {
			if n == len(before.pids) || p.PID != before.pids[n] {
				return true
			}
			n++
		}
	}
	return n < len(before.pids)
}

// since are the samples from a time on.
func (w *Window) since(at time.Duration) []series.Sample {
	first := len(w.samples)
	for first > 0 && w.samples[first-1].Since >= at {
		first--
	}
	return w.samples[first:]
}

// sightOf is what the last of samples shows of its ith device, and how busy it was in
// all of them.
func sightOf(samples []series.Sample, i int) sight {
	d := &samples[len(samples)-1].Devices[i]
	s := sight{d.ID, d.Status, math.NaN(), math.NaN()}
	used, okUsed := d.Values.Get(series.MemoryUsed).Get()
	total, okTotal := d.Values.Get(series.MemoryTotal).Get()
	if okUsed && okTotal && total > 0 {
		s.full = used / total
	}
	sum, n := 0.0, 0
	for k := range samples {
		// Devices seldom change their places; one that did is known anew soon.
		if list := samples[k].Devices; i < len(list) && list[i].ID == d.ID {
			if v, ok := BusyOf(&list[i]).Get(); ok {
				sum, n = sum+v, n+1
			}
		}
	}
	if n > 0 {
		s.busy = sum / float64(n)
	}
	return s
}

func (s sight) isLike(o sight) bool {
	return s.id == o.id && s.status == o.status && isNear(s.busy, o.busy, newsBusy) && isNear(s.full, o.full, newsFull)
}

// isNear reports whether two shares, either of which may not be known, differ by less
// than most.
func isNear(a, b, most float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < most
}
