// Package watch keeps the samples of the last minutes and says of each GPU
// whether it does useful work and when its memory will be full.
//
// It has no clock: what is the last minute is told by the samples.
package watch

import (
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/idle"
	"github.com/plimsoll-dev/plimsoll/internal/trend"
	"github.com/plimsoll-dev/plimsoll/series"
)

const (
	// span is how long whole samples are kept: some steps of most trainings.
	span = 2 * time.Minute
	// longest is how long a device's memory is kept, of which the trend is.
	longest = 10 * time.Minute
	// mostProcesses bounds the processes of all samples that are kept, at some
	// 600 bytes each; fewest is the number of samples that are kept anyway.
	mostProcesses = 20_000
	fewest        = 2
)

// A Window is the last minutes of one host.
type Window struct {
	samples   []series.Sample
	processes int // of all samples
	memory    map[string][]trend.Point
}

// Add takes the next sample in. One that is older than the last begins a new
// window: a recording was wound back.
func (w *Window) Add(s series.Sample) {
	if n := len(w.samples); w.memory == nil || n > 0 && s.Since < w.samples[n-1].Since {
		*w = Window{memory: map[string][]trend.Point{}}
	}
	w.samples = append(w.samples, s)
	w.processes += len(s.Processes)
	drop := 0
	for len(w.samples)-drop > fewest && (s.Since-w.samples[drop].Since > span || w.processes > mostProcesses) {
		w.processes -= len(w.samples[drop].Processes)
		w.samples[drop] = series.Sample{} // for the garbage collector
		drop++
	}
	w.samples = w.samples[drop:]
	for i := range s.Devices {
		w.addMemory(&s.Devices[i], s.Since)
	}
}

func (w *Window) addMemory(d *series.Device, at time.Duration) {
	used, ok := d.Values.Get(series.MemoryUsed).Get()
	if !ok || d.Status != series.OK {
		return // a value that is not fresh says nothing of a trend
	}
	points := append(w.memory[d.ID], trend.Point{At: at, Value: used})
	drop := 0
	for at-points[drop].At > longest {
		drop++
	}
	w.memory[d.ID] = points[drop:]
}

// Last is the newest sample and the one before it; nil where there is none.
func (w *Window) Last() (now, before *series.Sample) {
	n := len(w.samples)
	if n > 0 {
		now = &w.samples[n-1]
	}
	if n > 1 {
		before = &w.samples[n-2]
	}
	return now, before
}

// Samples are the samples that are kept, the oldest first. They must not be
// changed.
func (w *Window) Samples() []series.Sample { return w.samples }

// Freeze returns what can be judged while samples go on to come in.
func (w *Window) Freeze() Frozen {
	f := Frozen{slices.Clone(w.samples), make(map[string][]trend.Point, len(w.memory))}
	for id, points := range w.memory {
		f.memory[id] = points[:len(points):len(points)]
	}
	return f
}

// A Frozen is a Window as it was.
type Frozen struct {
	samples []series.Sample
	memory  map[string][]trend.Point
}

// A Judgement is what is to say of one device.
type Judgement struct {
	Idle   idle.Answer
	Memory trend.Trend
}

// Judge judges the devices with these IDs.
func (f Frozen) Judge(ids []string) map[string]Judgement {
	out := make(map[string]Judgement, len(ids))
	answers := idle.Each(f.samples, ids)
	for i, id := range ids {
		out[id] = Judgement{Idle: answers[i], Memory: trend.Of(f.memory[id])}
	}
	return out
}
