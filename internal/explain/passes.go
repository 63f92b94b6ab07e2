package explain

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Passes are calls of a model that keep their activations at the same time.
type Passes struct {
	Calls int
	Kept  unit.Bytes
	Each  unit.Bytes // the most that one of them keeps
	Place Place      // that calls the model
	// Backward reports that one backward pass uses them all; else none does.
	Backward bool
}

// A pass is one call of a model.
type pass struct {
	kept   unit.Bytes
	used   unit.Bytes // of it, given up by backward
	blocks int
	scalar bool // something small, as a loss is, was made behind it
}

const (
	leastPasses = 3
	// leastKept is how many blocks a call keeps of which a graph is left; one is
	// its result.
	leastKept = 2
	// scalarBytes is more than a loss takes, and less than an activation.
	scalarBytes = 4 * unit.KiB
)

// passes looks at what was made since the last backward or step and is in use
// at a moment, or was right before the backward pass that the moment is in;
// nil when fewer than three calls of one model keep something.
func (r *Recording) passes(moment int) *Passes {
	last := r.lastForward(moment)
	if last < 0 {
		return nil
	}
	list, caller := r.callsBefore(last)
	if len(list) < leastPasses {
		return nil
	}
	p := &Passes{Calls: len(list)}
	blocks, scalars := 0, 0
	var used unit.Bytes
	for _, c := range list {
		p.Kept, p.Each = p.Kept+c.kept, max(p.Each, c.kept)
		used, blocks = used+c.used, blocks+c.blocks
		if c.scalar {
			scalars++
		}
	}
	for _, c := range list[1:] { // all but the last, which may not be over
		if c.kept*2 < p.Each {
			return nil
		}
	}
	p.Backward = used*2 >= p.Kept
	if blocks < leastKept*len(list) || p.Backward && scalars < len(list)-1 {
		return nil
	}
	p.Place = attribute.PlaceOf(caller)
	return p
}

// lastForward is the last allocation of a forward pass up to a moment, -1 when
// a step came after it.
func (r *Recording) lastForward(moment int) int {
	for i := moment; i >= 0; i-- {
		if r.Tape.Kind(i) != tape.Alloc {
			continue
		}
		switch r.Tape.PhaseOf(i) {
		case tape.Forward:
			return i
		case tape.Step:
			return -1
		}
	}
	return -1
}

// callsBefore are the calls since the last backward or step, the last first,
// and the frames of the line that makes them. Calls of several lines are none.
func (r *Recording) callsBefore(last int) (list []pass, caller []tape.Frame) {
	t := r.Tape
	callers := map[tape.SiteID][]tape.Frame{}
	inside, scalar := false, false
	for i := last; i >= 0; i-- {
		if t.Kind(i) != tape.Alloc {
			continue
		}
		if p := t.PhaseOf(i); p == tape.Backward || p == tape.Step {
			break
		}
		b := t.Block(t.BlockOf(i))
		if b.Device != r.Device {
			continue
		}
		from, known := callers[b.Site]
		if !known {
			from = callerOfModel(t.Site(b.Site))
			callers[b.Site] = from
		}
		if from == nil {
			inside, scalar = false, scalar || b.Bytes <= scalarBytes
			continue
		}
		if caller == nil {
			caller = from
		} else if caller[0] != from[0] {
			return nil, nil
		}
		if !inside {
			list = append(list, pass{scalar: scalar})
			inside, scalar = true, false
		}
		if c := &list[len(list)-1]; b.Free < 0 || b.Free > last {
			c.kept += b.Bytes
			c.blocks++
			if b.Free > last && t.PhaseOf(b.Free) == tape.Backward {
				c.used += b.Bytes
			}
		}
	}
	return list, caller
}

// callerOfModel is the stack from the line on that calls the outermost module,
// the innermost frame first; nil outside of modules.
func callerOfModel(frames []tape.Frame) []tape.Frame {
	at := -1
	for i, f := range frames {
		if strings.HasSuffix(f.Name, "_call_impl") && pathHas(f.File, "torch/nn/modules/module.py") {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	out := slices.DeleteFunc(slices.Clone(frames[at+1:]), func(f tape.Frame) bool { return !attribute.IsPython(f) })
	if len(out) == 0 {
		return nil
	}
	return out
}
