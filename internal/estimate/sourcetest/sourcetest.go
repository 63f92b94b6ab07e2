// Package sourcetest is what every estimate.Source must keep to.
package sourcetest

import (
	"slices"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// Test plays a recipe from a source on a device and checks what it writes.
func Test(t *testing.T, s estimate.Source, r recipe.Recipe, d kernel.Device) {
	t.Helper()
	full, err := s.Complete(r)
	if err != nil {
		t.Fatalf("complete %+v: %v", r, err)
	}
	if again, err := s.Complete(full); err != nil || !same(again, full) {
		t.Errorf("completed twice: %+v, %v; once: %+v", again, err, full)
	}
	named := full.Mode == recipe.Train && s.Model().Script == nil // a script has an optimizer of its own
	if full.Mode == "" || full.Task == "" || full.Precision == "" || full.Batch < 1 || full.Accumulate < 1 || named != (full.Optimizer != "") {
		t.Errorf("a choice is left open: %+v", full)
	}
	if m := s.Model(); m.Name == "" || m.Source == "" || m.Family == "" || m.RecordedWith.Torch == "" {
		t.Errorf("the model is not described: %+v", m)
	}
	var w tape.Writer
	played, err := s.Play(full, d, &w, estimate.Events)
	if err != nil {
		t.Fatalf("play %+v: %v", full, err)
	}
	checkTape(t, w.Tape())
	checkPlayed(t, w.Tape(), played)
	checkAgain(t, s, full, d, w.Tape())
	if formula, symbols, err := s.Formula(full, d, played.StepEnds[0]-1); err != nil || formula["peak"] == "" || symbols == nil {
		t.Errorf("formula %v of %v, %v", formula, symbols, err)
	}
}

func same(a, b recipe.Recipe) bool {
	loraA, loraB := a.LoRA, b.LoRA
	a.LoRA, b.LoRA = nil, nil
	if (loraA == nil) != (loraB == nil) || a != b {
		return false
	}
	return loraA == nil || loraA.Rank == loraB.Rank && slices.Equal(loraA.Targets, loraB.Targets)
}

// checkTape demands that blocks are allocated once, freed at most once and
// after that, have sizes and, most of them, categories; and that the model is
// built first.
func checkTape(t *testing.T, w *tape.Tape) {
	t.Helper()
	live := make([]bool, w.Blocks())
	built := false
	for i := range w.Len() {
		e := w.Event(i)
		switch e.Kind {
		case tape.Alloc:
			live[e.Block] = true
			if e.Bytes <= 0 {
				t.Fatalf("event %d asks for %d bytes", i, e.Bytes)
			}
		case tape.Free:
			if !live[e.Block] {
				t.Fatalf("event %d frees block %d, which does not live", i, e.Block)
			}
			live[e.Block] = false
		default:
			t.Fatalf("event %d is a %s", i, e.Kind)
		}
		if built && e.Phase == tape.Load {
			t.Fatalf("event %d builds the model after the first step began", i)
		}
		built = e.Phase != tape.Load
	}
}

func checkPlayed(t *testing.T, w *tape.Tape, p *estimate.Played) {
	t.Helper()
	if p.Parameters <= 0 || p.Trainable > p.Parameters || len(p.StepEnds) == 0 || !slices.IsSorted(p.StepEnds) || p.StepEnds[len(p.StepEnds)-1] > w.Len() {
		t.Errorf("%d parameters, %d trainable, steps end at %v of %d", p.Parameters, p.Trainable, p.StepEnds, w.Len())
	}
	seen := map[string]bool{}
	for _, l := range p.Layers {
		if l.Name == "" || seen[l.Name] || int(l.Last) > w.Blocks() || l.Parameters < 0 {
			t.Errorf("layer %+v", l)
		}
		seen[l.Name] = true
	}
	for _, d := range p.Doubts {
		if d.Code == "" || d.Message == "" || d.Less < 0 || d.More < 0 {
			t.Errorf("doubt %+v", d)
		}
	}
}

// checkAgain plays the same run from several goroutines, with all detail: the
// events are the same.
func checkAgain(t *testing.T, s estimate.Source, r recipe.Recipe, d kernel.Device, want *tape.Tape) {
	t.Helper()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var w tape.Writer
			if _, err := s.Play(r, d, &w, estimate.Sites); err != nil {
				t.Error(err)
				return
			}
			got := w.Tape()
			if got.Len() != want.Len() {
				t.Errorf("%d events with sites, %d without", got.Len(), want.Len())
				return
			}
			for i := range got.Len() {
				a, b := got.Event(i), want.Event(i)
				a.Site, b.Site = 0, 0
				if a != b {
					t.Errorf("event %d is %+v with sites, %+v without", i, a, b)
					return
				}
			}
		})
	}
	wg.Wait()
}
