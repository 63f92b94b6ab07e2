// Package explain says what holds the memory in a recording, why it ran out,
// and what other settings or changes would have given.
//
// Who allocated is told by stacks and life spans, and what is told that way
// only is marked; what lies where is told by replaying the recording through
// the model of PyTorch's allocator, which is first checked against it.
//
// It is pure: tapes come in, values go out. It knows no file format and
// writes no text but the sentences of findings.
package explain

import (
	"slices"
	"sort"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// An Input is what is known of one device of one process. Explain writes
// phases, steps and categories onto the tape.
type Input struct {
	Tape   *tape.Tape
	Device uint8
	// Final is the layout at the end as it was recorded, nil when it was not.
	Final []tape.Segment
	// Settings are those of the allocator at the time.
	Settings alloc.Settings
	Ranges   []Range
	// Capacity is what CUDA reports as the device's total, and Context what
	// the process takes of it beside PyTorch; 0 when not known.
	Capacity, Context unit.Bytes
	// NoSegments says that the recording knows blocks only, by their size, and
	// ReservedPeak what it says of segments nevertheless, 0 for nothing.
	NoSegments   bool
	ReservedPeak unit.Bytes
	// Cut says that the recording ends early: what was in use before its
	// first event is known in part only.
	Cut bool
	// Old says that it is of a PyTorch before 2.1.
	Old bool
	// Thorough also asks for what takes many replays, Plain for none.
	Thorough, Plain bool
}

// A Recording is an input that was looked at.
type Recording struct {
	Input
	Steps StepInfo

	places *placeTable
	ends   []int // events before which steps ended
	phases bool
}

// StepInfo tells the steps of a recording.
type StepInfo struct {
	Ended  int    // steps that ended
	Source string // where they are known from, "" when they are not
}

// New finds out phases, steps and categories.
func New(in Input) *Recording {
	r := &Recording{Input: in, places: newPlaceTable(in.Tape)}
	t := in.Tape
	labelled := false
	for b := 0; b < t.Blocks() && !labelled; b++ {
		labelled = t.Block(tape.BlockID(b)).Category != tape.Unknown
	}
	if labelled {
		r.phases = true
	} else {
		r.phases = setPhases(t)
	}
	r.Steps.Source = setSteps(t, in.Ranges)
	for _, m := range t.Marks {
		if m.Kind == tape.MarkStep {
			r.ends = append(r.ends, m.Event)
		}
	}
	r.Steps.Ended = len(r.ends)
	if r.phases && !labelled {
		attribute.Judge(t, r.recomputed())
		r.judgeInitial()
		r.judgeBefore()
	}
	return r
}

// recomputed tells the blocks of forward passes that ran inside backward.
func (r *Recording) recomputed() func(tape.BlockID) bool {
	known := make([]int8, r.Tape.Sites()+1)
	return func(b tape.BlockID) bool {
		s := r.Tape.Block(b).Site
		if known[s] == 0 {
			known[s] = -1
			if isRecomputed(r.Tape.Site(s)) {
				known[s] = 1
			}
		}
		return known[s] > 0
	}
}

// isRecomputed accepts stacks of modules that are called again by activation
// checkpointing.
func isRecomputed(frames []tape.Frame) bool {
	at := slices.IndexFunc(frames, func(f tape.Frame) bool {
		return pathHas(f.File, "torch/utils/checkpoint.py") && slices.Contains([]string{"unpack_hook", "recompute_fn", "backward"}, f.Name)
	})
	return at > 0 && slices.ContainsFunc(frames[:at], func(f tape.Frame) bool { return f.Name == "_call_impl" })
}

// judgeInitial gives a category to blocks from before the recording whose
// stack is known, as that of a block that is still in use is.
func (r *Recording) judgeInitial() {
	of := map[tape.Phase]tape.Category{
		tape.Load: tape.Parameter, tape.Step: tape.OptimizerState, tape.Backward: tape.Gradient, tape.Forward: tape.Activation,
	}
	for b := range r.Tape.Blocks() {
		block := r.Tape.Block(tape.BlockID(b))
		if block.Alloc >= 0 {
			return
		}
		if block.Site == 0 {
			continue
		}
		if phase, ok, _ := phaseOfStack(r.Tape.Site(block.Site)); ok && of[phase] != tape.Unknown {
			r.Tape.SetCategory(tape.BlockID(b), of[phase])
		}
	}
}

// stepAt is the number of the step that an event is part of, from 1.
func (r *Recording) stepAt(event int) int {
	return sort.SearchInts(r.ends, event+1) + 1
}
