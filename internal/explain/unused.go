package explain

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Unused is what forward passes keep for a backward pass that does not come, as
// those of an evaluation with gradients do.
type Unused struct {
	Kept  unit.Bytes // made by forward passes since the last backward or step
	Usual unit.Bytes // the most that they kept before that, in training
	Place Place      // that keeps most of it
}

// manyPasses is how many times as much as in training must be kept, so that it
// is of several forward passes.
const manyPasses = 2

// unused compares what forward passes have kept at the end, or at a request
// that failed, with what they kept in training; nil when it is no more.
func (r *Recording) unused(moment int) *Unused {
	t := r.Tape
	if moment < 0 || t.Kind(moment) != tape.OOM {
		moment = t.Len() - 1
	}
	u := &Unused{}
	var now unit.Bytes // kept by forward passes
	since := -1        // event of the last backward or step
	forward := make([]bool, t.Blocks())
	for i := range moment + 1 {
		switch t.Kind(i) {
		case tape.Alloc:
			switch t.PhaseOf(i) {
			case tape.Forward:
				id := t.BlockOf(i)
				if b := t.Block(id); b.Device == r.Device && b.Category != tape.Workspace {
					forward[id] = true
					now += b.Bytes
				}
			case tape.Backward, tape.Step:
				since, u.Usual = i, max(u.Usual, now)
			}
		case tape.FreeRequested, tape.Free:
			if id := t.BlockOf(i); forward[id] {
				if b := t.Block(id); b.Free == i {
					now -= b.Bytes
				}
			}
		}
	}
	if since < 0 || u.Usual == 0 {
		return nil
	}
	most := r.stillForward(u, forward, since, moment)
	if u.Kept < manyPasses*u.Usual || u.Kept < unit.MiB {
		return nil
	}
	u.Place = r.places.places[most]
	return u
}

// stillForward adds to u what of the blocks of forward passes was made from one
// moment on and is live at another, and returns the place that made most of it,
// -1 when there is none.
func (r *Recording) stillForward(u *Unused, forward []bool, since, moment int) int32 {
	t := r.Tape
	kept := map[int32]unit.Bytes{}
	most := int32(-1)
	for i := since; i <= moment; i++ {
		if t.Kind(i) != tape.Alloc || !forward[t.BlockOf(i)] {
			continue
		}
		b := t.Block(t.BlockOf(i))
		if b.Free >= 0 && b.Free <= moment {
			continue
		}
		n := r.places.number(b.Site)
		kept[n] += b.Bytes
		u.Kept += b.Bytes
		if most < 0 || kept[n] > kept[most] {
			most = n
		}
	}
	return most
}
