package formula

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// scriptOf is the fullest card of a capture, as the solver reads it.
func scriptOf(c *capture.Capture, dims symbolic.Dims, d kernel.Device) (*solve.Script, error) {
	if len(c.Recordings) == 0 || c.Recordings[0].Tape.Len() == 0 {
		return nil, errors.New("the script allocated nothing on the GPU")
	}
	rec := &c.Recordings[0]
	if len(rec.Tape.Initial) > 0 {
		return nil, errors.New("the recording lacks its beginning")
	}
	s := solve.Script{Dims: dims, Device: d}
	for _, p := range partsOf(rec) {
		s.Parts = append(s.Parts, solve.ScriptPart(p))
	}
	for _, p := range rec.Parameters {
		s.Params = append(s.Params, solve.ScriptParam{Name: word(p.Name), DType: word(p.DType), Shape: p.Shape, Trained: p.Trained})
	}
	w := writer{script: &s, labels: newLabels(rec), numbers: map[tape.BlockID]int{}, index: map[string]int{}}
	for i := range rec.Tape.Len() {
		w.event(rec.Tape.Event(i))
	}
	// Parts begin at events of the tape, of which the solver gets some.
	for i := range s.Parts {
		s.Parts[i].At = w.places[s.Parts[i].At]
	}
	return &s, nil
}

// A writer hands a tape's events on.
type writer struct {
	script  *solve.Script
	labels  labels
	numbers map[tape.BlockID]int // of allocations
	index   map[string]int       // of labels
	places  []int                // of each event of the tape: the solver's next one
	allocs  int
}

func (w *writer) event(e tape.Event) {
	s := w.script
	w.places = append(w.places, len(s.Events))
	switch e.Kind {
	case tape.Alloc:
		label := w.labels.of(e)
		n, ok := w.index[label]
		if !ok {
			n = len(s.Labels)
			w.index[label] = n
			s.Labels = append(s.Labels, label)
		}
		w.numbers[e.Block] = w.allocs
		s.Events = append(s.Events, solve.ScriptEvent{Alloc: w.allocs, Bytes: int64(e.Bytes), Label: n, Category: e.Category})
		w.allocs++
	case tape.Free:
		if a, ok := w.numbers[e.Block]; ok {
			s.Events = append(s.Events, solve.ScriptEvent{Free: true, Alloc: a})
			delete(w.numbers, e.Block)
		}
	}
}
