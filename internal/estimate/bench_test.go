package estimate_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/toy"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// small is the model under a name that does not hide its method.
type small = toy.Model

// canned writes the events of a run that was played before, with sizes that
// grow with the batch: the least that any source must do.
type canned struct {
	small
	events []tape.Event
	played *estimate.Played
}

// large is a run of about 40,000 events, as of a model of 8 billion
// parameters.
func large(b *testing.B) estimate.Source {
	c := &canned{small: small{Hidden: 512, Inner: 2048, Vocabulary: 1000, Layers: 590}}
	var w tape.Writer
	r, err := c.Complete(recipe.Recipe{})
	if err == nil {
		c.played, err = c.small.Play(r, kernel.Device{}, &w, estimate.Events)
	}
	if err != nil {
		b.Fatal(err)
	}
	for i := range w.Tape().Len() {
		c.events = append(c.events, w.Tape().Event(i))
	}
	return c
}

func (c *canned) Play(r recipe.Recipe, _ kernel.Device, w *tape.Writer, _ estimate.Detail) (*estimate.Played, error) {
	w.Site = w.Tape().InternSite([]tape.Frame{{Name: "layers.0", File: "aten::mm"}})
	for i := range c.events {
		e := &c.events[i]
		w.Phase = e.Phase
		if e.Kind == tape.Free {
			w.Free(e.Block)
			continue
		}
		if e.Category == tape.Activation {
			w.Alloc(e.Bytes*unit.Bytes(r.Batch), e.Category)
		} else {
			w.Alloc(e.Bytes, e.Category)
		}
	}
	return c.played, nil
}

// BenchmarkEstimate is one estimate: play, replay, categories.
func BenchmarkEstimate(b *testing.B) {
	card, source := target(b, "h100"), large(b)
	b.ReportAllocs()
	before, events := cpuTime(b), 0
	for b.Loop() {
		e, err := estimate.On(b.Context(), source, recipe.Recipe{Batch: 2}, card, estimate.Options{Bare: true})
		if err != nil {
			b.Fatal(err)
		}
		events = e.Events
	}
	b.ReportMetric(float64(events), "events")
	b.ReportMetric((cpuTime(b)-before).Seconds()*1000/float64(b.N), "cpu-ms/op")
}

// cpuTime is what this process has used of all cores. On a busy machine it
// says more than the clock.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEstimates is many at once, on all cores: the planner's diet.
func BenchmarkEstimates(b *testing.B) {
	card, source := target(b, "h100"), large(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := estimate.On(b.Context(), source, recipe.Recipe{Batch: 2}, card, estimate.Options{Bare: true}); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkAnswer adds the largest micro-batch and the cures.
func BenchmarkAnswer(b *testing.B) {
	card, source := target(b, "h100"), large(b)
	for b.Loop() {
		if _, err := estimate.On(b.Context(), source, recipe.Recipe{Batch: 2}, card, estimate.Options{Remedies: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSmallest is what is done where no card is named.
func BenchmarkSmallest(b *testing.B) {
	source := large(b)
	for b.Loop() {
		if _, err := estimate.Smallest(b.Context(), source, recipe.Recipe{Batch: 2}, gpu.All(), estimate.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
