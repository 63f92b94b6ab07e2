package catalog

import (
	"context"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// BenchmarkFind reads a model and its family's recordings; the recordings are
// read once in a process.
func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		if _, err := New(System{}).Find(context.Background(), Query{Name: "llama-3.1-8b"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlay plays three steps of a model.
func BenchmarkPlay(b *testing.B) {
	s, err := New(System{}).Find(context.Background(), Query{Name: "llama-3.1-8b"})
	if err != nil {
		b.Fatal(err)
	}
	r, err := s.Complete(recipe.Recipe{Batch: 2, Precision: recipe.BF16})
	if err != nil {
		b.Fatal(err)
	}
	var w tape.Writer
	b.ReportAllocs()
	for b.Loop() {
		w.Reset()
		if _, err := s.Play(r, usualDevice, &w, estimate.Events); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(w.Tape().Len()), "events")
}

// BenchmarkEstimate is one question of a planner.
func BenchmarkEstimate(b *testing.B) {
	s, err := New(System{}).Find(context.Background(), Query{Name: "llama-3.1-8b"})
	if err != nil {
		b.Fatal(err)
	}
	choice, err := gpu.Lookup("a100")
	if err != nil {
		b.Fatal(err)
	}
	target := estimate.TargetOf(choice.Card, 1)
	b.RunParallel(func(pb *testing.PB) {
		for n := int64(1); pb.Next(); n++ {
			if _, err := estimate.On(context.Background(), s, recipe.Recipe{Batch: n%8 + 1, Precision: recipe.BF16}, target, estimate.Options{Bare: true}); err != nil {
				b.Error(err)
			}
		}
	})
}
