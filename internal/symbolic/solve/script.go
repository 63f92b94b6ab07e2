package solve

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// scriptMode is the mode of a recording of a user's script: its whole run, once.
const scriptMode = "script"

// A Script is the run of a user's script, recorded at some values of what is
// varied.
type Script struct {
	Dims   symbolic.Dims
	Device kernel.Device
	Labels []string
	Events []ScriptEvent
	Parts  []ScriptPart // the first begins at the first event
	Params []ScriptParam
}

// A ScriptEvent is an allocation, or the free of one.
type ScriptEvent struct {
	Free     bool
	Alloc    int // its number, or the number of what is freed
	Bytes    int64
	Label    int
	Category tape.Category
}

// A ScriptPart is where a part begins.
type ScriptPart struct {
	At   int
	Name string
}

// A ScriptParam is a parameter of the script's models.
type ScriptParam struct {
	Name, DType string
	Shape       []int64
	Trained     bool
}

// Recording is the script for Solve and Verify.
func (s *Script) Recording() (*Recording, error) {
	r := &Recording{Job: Job{Mode: scriptMode, Dims: s.Dims, Device: s.Device}, Labels: s.Labels}
	for _, e := range s.Events {
		r.events = append(r.events, event{e.Free, e.Bytes, e.Label, e.Alloc})
		if !e.Free {
			if e.Alloc != len(r.categories) {
				return nil, fmt.Errorf("allocation %d is the %d-th", e.Alloc, len(r.categories))
			}
			r.categories = append(r.categories, e.Category)
		} else if e.Alloc < 0 || e.Alloc >= len(r.categories) {
			return nil, fmt.Errorf("allocation %d is freed before it is made", e.Alloc)
		}
	}
	for _, p := range s.Parts {
		r.marks = append(r.marks, mark{p.At, symbolic.Script, p.Name, -1})
	}
	for _, p := range s.Params {
		r.places.Parameters = append(r.places.Parameters, tensor{p.Name, p.Shape, p.DType, p.Trained, -1})
	}
	return r, r.check(len(r.categories))
}

// isScript reports whether a recording is of a script.
func (r *Recording) isScript() bool { return r.Job.Mode == scriptMode }

// scriptAtoms are the factors that sizes of a script may have: what is varied,
// up to its fourth power, since a script may vary anything, and what kernels
// round it up to.
func scriptAtoms(recordings []*Recording) []atom {
	var list []atom
	for _, name := range slices.Sorted(maps.Keys(recordings[0].Job.Dims)) {
		a := atom{factor: symbolic.Factor{Dim: name}, group: name, power: 4, weight: 10}
		a.values = valuesOf(recordings, symbolic.Product(1, 1, name))
		if constant(a.values) {
			continue
		}
		list = append(list, a)
		for i, q := range multiples {
			up := atom{factor: symbolic.Factor{Func: "up", Args: []symbolic.Expr{symbolic.Product(1, 1, name), symbolic.Const(q)}}, group: name, power: 2, weight: 22 + i}
			up.values = valuesOf(recordings, symbolic.Expr{Terms: []symbolic.Term{{Num: 1, Den: 1, Factors: []symbolic.Factor{up.factor}}}})
			if !slices.Equal(up.values, a.values) {
				list = append(list, up)
			}
		}
	}
	return list
}

// orderScript puts the parts of scripts in the order of time: what a recording
// has more than others stands between what all have.
func (s *solver) orderScript() {
	if !s.recs[0].isScript() {
		return
	}
	var names union
	for _, r := range s.recs {
		var list []string
		for i := range r.pieces {
			list = append(list, r.pieces[i].part.name)
		}
		names.merge(list)
	}
	for place, id := range names.order {
		key := partKey{symbolic.Script, names.tokens[id], ""}
		if p := s.parts[key]; p != nil {
			p.order = place
		}
	}
}

// withEmpty are the bodies of a script's part, with one of no events for each
// recording that does not have the part.
func (s *solver) withEmpty(bodies []body) []body {
	if !s.recs[0].isScript() {
		return bodies
	}
	for _, r := range s.recs {
		if !slices.ContainsFunc(bodies, func(b body) bool { return b.rec == r }) {
			bodies = append(bodies, body{rec: r})
		}
	}
	return bodies
}
