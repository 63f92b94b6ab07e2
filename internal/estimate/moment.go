package estimate

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A moment is what lives right after an event, in bytes as they were
// requested.
type moment struct {
	byCategory [16]unit.Bytes // a category has four bits on a tape
	requested  unit.Bytes
}

// at walks to an event and sums up what lives there.
func at(t *tape.Tape, event int) moment {
	var m moment
	live := make([]bool, t.Blocks())
	for i := 0; i <= event && i < t.Len(); i++ {
		switch t.Kind(i) {
		case tape.Alloc:
			live[t.BlockOf(i)] = true
		case tape.Free, tape.FreeRequested:
			live[t.BlockOf(i)] = false
		}
	}
	for id, is := range live {
		if is {
			b := t.Block(tape.BlockID(id))
			m.byCategory[b.Category] += b.Bytes
			m.requested += b.Bytes
		}
	}
	return m
}

// Asked is the most that the blocks of a tape ask for at one time, before the allocator
// rounds it.
func Asked(t *tape.Tape) unit.Bytes {
	var now, most unit.Bytes
	for i := range t.Len() {
		switch t.Kind(i) {
		case tape.Alloc:
			n, _, _ := t.Request(t.BlockOf(i))
			now += n
			most = max(most, now)
		case tape.Free:
			n, _, _ := t.Request(t.BlockOf(i))
			now -= n
		}
	}
	return most
}

// categories sums to the device's bytes: what blocks asked for by category,
// then what the allocator, libraries and the context add.
func (m moment) categories(o outcome, v interval) Categories {
	of := m.byCategory
	return Categories{
		Parameter: of[tape.Parameter], Gradient: of[tape.Gradient], Optimizer: of[tape.OptimizerState],
		Activation: of[tape.Activation], Input: of[tape.Input], Buffer: of[tape.Buffer], Temporary: of[tape.Temporary],
		Workspace: of[tape.Workspace], Communication: of[tape.Communication] + v.libraries.typical, KVCache: of[tape.KVCache],
		MasterWeight: of[tape.MasterWeight], Unknown: of[tape.Unknown],
		Rounding: o.allocated - m.requested,
		Cached:   o.reserved - o.allocated,
		Context:  v.beside.typical - v.libraries.typical,
	}
}

// place says in which phase and step an event is.
func (r *run) place(event int) (phase string, step int) {
	if event < 0 || event >= r.tape.Len() {
		return tape.Idle.String(), 0
	}
	e := r.tape.Event(event)
	if e.Phase != tape.Load {
		step = 1
		for step <= len(r.played.StepEnds) && event >= r.played.StepEnds[step-1] {
			step++
		}
	}
	return e.Phase.String(), step
}

// siteName is "model.layers.3.mlp, aten::mm": a played tape's frames hold the
// module in the name and the operator in the file.
func siteName(frames []tape.Frame) string {
	if len(frames) == 0 {
		return ""
	}
	var parts []string
	for _, p := range []string{frames[0].Name, frames[0].File} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ", ")
}
