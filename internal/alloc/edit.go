package alloc

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// An Edit changes a tape on its way into a replay, so that what would have
// been can be told without another tape. The zero value changes nothing.
type Edit struct {
	// Marks are further changes of pool and limit, sorted by Event; see
	// Comparison.Marks.
	Marks []tape.Mark
	// Cuts are done between the events, sorted by Event.
	Cuts []Cut
	// Bytes returns what is asked for when a block is, nil for what the tape
	// says. Blocks of the initial state keep their size unless they are Anew.
	Bytes func(b tape.BlockID, bytes unit.Bytes) unit.Bytes
	// FailedParts divides the requests that failed when the tape was recorded,
	// as if they had been made part by part; 0 leaves them whole.
	FailedParts int64
	// Anew asks for the blocks of the initial state again, by rising address,
	// in place of leaving them where they were: what settings would have made
	// of them that were in force from the start. The order in which they were
	// really asked for is not known.
	Anew bool
}

// A Cut is what happens before event Event of a replay.
type Cut struct {
	Event      int
	Device     uint8
	Free       []tape.BlockID // given up here, if still in use; later frees of them are void
	EmptyCache bool           // after the frees
}

// Join returns the cuts of both, in order.
func Join(a, b []Cut) []Cut {
	out := append(slices.Clone(a), b...)
	slices.SortStableFunc(out, func(a, b Cut) int { return cmp.Compare(a.Event, b.Event) })
	return out
}

// ReplayEdited is Replay of an edited tape.
func ReplayEdited(t *tape.Tape, s Settings, capacity unit.Bytes, e Edit) (*Timeline, error) {
	return ReplayEditedStretches(t, s, capacity, e, nil)
}

// ReplayEditedStretches is ReplayStretches of an edited tape.
func ReplayEditedStretches(t *tape.Tape, s Settings, capacity unit.Bytes, e Edit, starts []int) (*Timeline, error) {
	r, err := newReplay(t, s, capacity, e)
	if err != nil {
		return nil, err
	}
	r.watch()
	r.curve(starts)
	return r.timeline(), nil
}

// cut does a cut.
func (r *replay) cut(c *Cut) {
	for _, b := range c.Free {
		if int(b) < len(r.indices) {
			r.free(b)
		}
	}
	if c.EmptyCache && int(c.Device) < len(r.devices) {
		d := r.devices[c.Device]
		d.emptyCache()
		r.forget(d)
	}
}

// anew asks for the initial blocks of a device again. What fails here is the
// replay's first failure.
func (r *replay) anew(d *device) {
	var list []*tape.Segment
	for i := range r.tape.Initial {
		if s := &r.tape.Initial[i]; int(s.Device) == d.number {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b *tape.Segment) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, s := range list {
		if s.Pool != (PoolID{}) {
			d.poolBegin(s.Pool)
		}
		for _, b := range s.Blocks {
			if b.State == tape.Inactive || r.oom != nil {
				continue
			}
			bytes := b.Requested
			if r.edit.Bytes != nil {
				bytes = r.edit.Bytes(b.Block, bytes)
			}
			i, err := d.malloc(max(bytes, 1), r.stream(d, s.Stream))
			if err != nil {
				r.fail(OOMEvent{Event: -1, Device: d.number, Block: b.Block}, err)
				continue
			}
			r.hand(d, i, b.Block)
			if b.State == tape.PendingFree {
				d.hold(i)
			}
		}
		if s.Pool != (PoolID{}) {
			d.poolEnd(s.Pool)
		}
	}
	// What it takes to set up is no driver call of the recording.
	d.scalars.deviceAllocs, d.scalars.deviceFrees, d.scalars.retries = 0, 0, 0
}

// hand notes that block i of a device is a block of the tape.
func (r *replay) hand(d *device, i uint32, b tape.BlockID) {
	d.blocks[i].owner = uint32(b) + 1
	r.put(b, d, i)
}
