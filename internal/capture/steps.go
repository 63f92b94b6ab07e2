package capture

import (
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// stepPeaks are the peaks of the single optimizer steps. PyTorch counts only
// the largest since the start, so each step's own comes from the replay; the
// helper's counts stand in where there is none.
func (r *Recording) stepPeaks(a whatif.Allocator) []Step {
	var steps []Step
	for _, s := range r.steps {
		steps = append(steps, Step{s.Step, s.Allocated, s.Reserved})
	}
	bounds := stepBounds(r.Tape, len(steps))
	if r.replayErr != nil || bounds == nil {
		return steps
	}
	peaks, err := a.Peaks(r.Tape, r.room, bounds)
	if err != nil {
		return steps
	}
	for i := range steps { // what comes after the last step is left out
		steps[i].Allocated, steps[i].Reserved = peaks[i].Allocated, peaks[i].Reserved
	}
	return steps
}

// stepBounds are the events between steps: where the first forward pass
// begins, and where each step ends; nil when the tape has not that many.
func stepBounds(t *tape.Tape, steps int) []int {
	bounds := []int{0}
	for _, m := range t.Marks {
		switch {
		case m.Kind == tape.MarkStep:
			bounds = append(bounds, m.Event)
		case m.Kind == tape.MarkPhase && tape.Phase(m.Value) == tape.Forward && len(bounds) == 1 && bounds[0] == 0:
			bounds[0] = m.Event
		}
	}
	if len(bounds) != steps+1 {
		return nil
	}
	return bounds
}
