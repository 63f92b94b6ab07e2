package catalog

import (
	"iter"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// without is the source as it is where some ways were not recorded.
func (s *source) without(gone func(w recordings.Way) bool) *source {
	out := &source{model: s.model, found: s.found, tapes: s.tapes}
	out.readWays.Do(func() {})
	out.ways = slices.DeleteFunc(slices.Clone(s.recorded()), gone)
	return out
}

// withoutMask are the ways of a model that were recorded without a mask, and the same
// with one.
func (s *source) withoutMask() iter.Seq2[recordings.Way, recordings.Way] {
	return func(yield func(w, padded recordings.Way) bool) {
		for _, w := range s.recorded() {
			padded := w
			padded.Unpadded = false
			if w.Unpadded && w.Structure == s.structure() && w.Task == string(s.model.Task) && !yield(w, padded) {
				return
			}
		}
	}
}

// TestGraftedHeads compares what is put together with what was recorded, wherever both
// are there: every event.
func TestGraftedHeads(t *testing.T) {
	pairs := 0
	for _, s := range sources(t, "") {
		for w, padded := range s.withoutMask() {
			head, err := s.tapes.Tape(padded.String())
			if err != nil {
				continue // the structure was recorded on other cards alone
			}
			recorded, err := s.tapes.Tape(w.String())
			if err != nil {
				t.Fatal(err)
			}
			for _, relative := range s.relatives(w) {
				layers := s.layersOf(relative, padded, head)
				if layers == nil {
					continue
				}
				composed, err := symbolic.Graft(layers, head)
				if err != nil {
					t.Errorf("%s with the layers of %s: %v", w, relative, err)
					continue
				}
				pairs++
				for _, r := range s.sized(w) {
					want, got := s.eventsAs(t, r, w.Class, recorded), s.eventsAs(t, r, w.Class, composed)
					if !slices.Equal(got, want) {
						t.Errorf("%s with the layers of %s: %d events, and %d recorded", w, relative, len(got), len(want))
					}
				}
			}
		}
	}
	if t.Logf("%d pairs", pairs); pairs < 10 {
		t.Errorf("%d pairs were compared", pairs)
	}
}

// TestMaskIsBounded asks for what was recorded as if it were not: the answer with a
// mask then holds the recorded peak within its doubt.
func TestMaskIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("plays many recordings")
	}
	var m measure
	for _, s := range sources(t, "") {
		for w, padded := range s.withoutMask() {
			hidden := s.without(func(have recordings.Way) bool { return have.String() == w.String() })
			if !s.tapes.Has(padded.String()) || !slices.ContainsFunc(hidden.recorded(), func(have recordings.Way) bool { return have.Unpadded && len(have.LoRA) == 0 }) {
				continue
			}
			for _, r := range s.sized(w) {
				is, ok := s.peak(t, r, w.Class, w)
				with, also := s.peak(t, r, w.Class, padded)
				if !ok || !also {
					continue
				}
				d := reason{share: maskShare}
				hidden.boundMask(&d, padded, w.Checkpoint, s.env(r, cardOf(w.Class)))
				less, more := max(d.less, unit.Bytes(d.share*with)), max(d.more, unit.Bytes(d.share*with))
				m.add(is/with-1, s.model.Name+" "+w.String())
				if off := is - with; off < -float64(less) || off > float64(more) {
					t.Errorf("%s %s, %d x %d: %+.0f bytes without a mask, said to be from -%d to +%d", s.model.Name, w, r.Batch, r.Seq, off, less, more)
				}
			}
		}
	}
	m.holds(t, paddedBatch, maskShare, false)
}

// eventsAs are the events of a recipe that is played from a tape.
func (s *source) eventsAs(t *testing.T, r recipe.Recipe, class int, from *symbolic.Tape) []string {
	t.Helper()
	run, err := s.begin(r, cardOf(class))
	if err != nil {
		t.Fatal(err)
	}
	run.tape = from
	var w tape.Writer
	if _, err := run.play(&w); err != nil {
		t.Fatal(err)
	}
	return eventsOf(w.Tape())
}
