package estimate_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/toy"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// The largest micro-batch fits, and one more does not.
func TestLargestIsTheEdge(t *testing.T) {
	for _, card := range []string{"t4", "3090", "h100"} {
		for _, batch := range []int64{1, 7, 500} {
			r := recipe.Recipe{Batch: batch, Seq: 256}
			e := on(t, toy.New(), r, target(t, card), estimate.Options{})
			for more, want := range map[int64]bool{0: true, 1: false} {
				r.Batch = e.MaxBatch + more
				if got := on(t, toy.New(), r, target(t, card), estimate.Options{Bare: true}).Verdict == estimate.Fits; got != want {
					t.Errorf("%s from batch %d: %d fits: %v", card, batch, r.Batch, got)
				}
			}
		}
	}
}

func TestNothingFits(t *testing.T) {
	e := on(t, &toy.Model{Hidden: 8192, Inner: 65536, Vocabulary: 64, Layers: 40}, recipe.Recipe{}, target(t, "t4"), estimate.Options{})
	if e.MaxBatch != 0 || e.Verdict != estimate.DoesNotFit {
		t.Errorf("%d, %s", e.MaxBatch, e.Verdict)
	}
}

// Where the search ends before anything did not fit, the answer is no largest
// one.
func TestLargestHasLimits(t *testing.T) {
	tiny := &toy.Model{Hidden: 8, Inner: 8, Vocabulary: 8, Layers: 1}
	endless := with(target(t, "h100"), 1<<50)
	for name, c := range map[string]struct {
		source estimate.Source
		batch  int64
		more   bool
	}{
		"the search":  {tiny, 1 << 20, true},
		"the source":  {narrow{tiny}, 100, true},
		"the default": {toy.New(), 0, false},
	} {
		at := endless
		if !c.more {
			at = target(t, "t4")
		}
		e := on(t, c.source, recipe.Recipe{Seq: 8}, at, estimate.Options{})
		if e.MoreBatch != c.more || c.more && e.MaxBatch != c.batch {
			t.Errorf("%s: %d, at least: %v", name, e.MaxBatch, e.MoreBatch)
		}
	}
}

// narrow plays up to a hundred samples.
type narrow struct{ *toyModel }

func (n narrow) Play(r recipe.Recipe, d kernel.Device, w *tape.Writer, detail estimate.Detail) (*estimate.Played, error) {
	if r.Batch > 100 {
		return nil, &estimate.Error{Msg: "no recording is of so many"}
	}
	return n.toyModel.Play(r, d, w, detail)
}

func TestSmallestCards(t *testing.T) {
	var cards []gpu.Card
	for _, c := range gpu.All() {
		if c.Capturable() == nil {
			cards = append(cards, c)
		}
	}
	for _, batch := range []int64{1, 20, 60, 400} {
		e, err := estimate.Smallest(t.Context(), toy.New(), recipe.Recipe{Batch: batch, Seq: 1024}, cards, estimate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e.Verdict != estimate.Fits || len(e.Cards) < 2 || e.GPU.Note == "" {
			t.Errorf("batch %d: %s on %s, %+v", batch, e.Verdict, e.GPU.Name, e.Cards)
		}
		for i, c := range e.Cards {
			if i > 0 && c.Capacity < e.Cards[i-1].Capacity {
				t.Errorf("batch %d: not in order: %+v", batch, e.Cards)
			}
			if c.GPU == e.GPU.Name && i > 0 && e.Cards[i-1].Verdict == estimate.Fits {
				t.Errorf("batch %d: a smaller card does: %+v", batch, e.Cards)
			}
		}
	}
	e, err := estimate.Smallest(t.Context(), toy.New(), recipe.Recipe{Batch: 1 << 16, Seq: 1024}, cards, estimate.Options{Bare: true})
	if err != nil || e.Verdict != estimate.DoesNotFit || len(e.Cards) != 1 {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := estimate.Smallest(t.Context(), toy.New(), recipe.Recipe{}, nil, estimate.Options{}); err == nil {
		t.Error("no cards to choose from, and no error")
	}
}

// picky has no recording for cards of one kind.
type picky struct{ toyModel }

type toyModel = toy.Model

func (p *picky) Play(r recipe.Recipe, d kernel.Device, w *tape.Writer, detail estimate.Detail) (*estimate.Played, error) {
	if d.Capability == 75 {
		return nil, &estimate.Error{Msg: "no recording is of such a card"}
	}
	return p.toyModel.Play(r, d, w, detail)
}

func TestCardsWithoutARecordingAreLeftOut(t *testing.T) {
	e, err := estimate.Smallest(t.Context(), &picky{*toy.New()}, recipe.Recipe{}, gpu.All(), estimate.Options{Bare: true})
	if err != nil || e.Verdict != estimate.Fits {
		t.Fatalf("%v, %v", e, err)
	}
	for _, c := range e.Cards {
		found, err := gpu.Lookup(c.GPU)
		if err != nil || found.Card.Capability == 75 {
			t.Errorf("%s is listed", c.GPU)
		}
	}
}
