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
	for i := range moment + 1 {
		switch t.Kind(i) {
		case tape.Alloc:
			b := t.Block(t.BlockOf(i))
			switch {
			case b.Device != r.Device:
			case keptForBackward(b):
				now += b.Bytes
			case b.Phase == tape.Backward || b.Phase == tape.Step:
				since, u.Usual = i, max(u.Usual, now)
			}
		case tape.FreeRequested, tape.Free:
			if b := t.Block(t.BlockOf(i)); b.Device == r.Device && b.Free == i && b.Alloc >= 0 && keptForBackward(b) {
				now -= b.Bytes
			}
		}
	}
	if since < 0 || u.Usual == 0 {
		return nil
	}
	kept := map[int32]unit.Bytes{}
	most := int32(-1)
	for i := range t.Blocks() {
		b := t.Block(tape.BlockID(i))
		if b.Device != r.Device || !keptForBackward(b) || b.Alloc <= since || b.Alloc > moment || b.Free >= 0 && b.Free <= moment {
			continue
		}
		n := r.places.number(b.Site)
		kept[n] += b.Bytes
		u.Kept += b.Bytes
		if most < 0 || kept[n] > kept[most] {
			most = n
		}
	}
	if u.Kept < manyPasses*u.Usual || u.Kept < unit.MiB {
		return nil
	}
	u.Place = r.places.places[most]
	return u
}

// keptForBackward accepts what forward passes make, workspaces of libraries apart.
func keptForBackward(b tape.Block) bool {
	return b.Phase == tape.Forward && b.Category != tape.Workspace
}
