package whatif

import (
	"errors"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// errNoRoom says that a card has no byte left beside its context.
var errNoRoom = errors.New("no room at all")

// limitOf is a room as the allocator's model takes it, to which 0 is no limit; false
// when there is none.
func limitOf(room unit.Bytes) (unit.Bytes, bool) {
	if room >= Endless {
		return 0, true
	}
	return max(room, 0), room > 0
}

// A Peak is the most that a stretch of a tape came to.
type Peak struct{ Allocated, Reserved unit.Bytes }

// Peaks are those of the stretches that begin at the given events, which must
// ascend; what lives from before counts too.
func (a Allocator) Peaks(t *tape.Tape, room unit.Bytes, starts []int) ([]Peak, error) {
	limit, any := limitOf(room)
	if !any {
		return nil, errNoRoom
	}
	line, err := alloc.ReplayStretches(t, a.settings, limit, starts)
	if err != nil {
		return nil, err
	}
	peaks := make([]Peak, len(starts))
	for _, d := range line.Devices {
		for i, p := range d.Curve {
			peaks[i] = Peak{max(peaks[i].Allocated, p.Allocated), max(peaks[i].Reserved, p.Reserved)}
		}
	}
	return peaks, nil
}

// Replay feeds the tape, which is of one device, to the allocator with room
// bytes to take from the driver: the card's capacity without the context.
func (a Allocator) Replay(t *tape.Tape, room unit.Bytes) (Outcome, error) {
	out := Outcome{Event: -1, OOMEvent: -1}
	limit, any := limitOf(room)
	if !any {
		out.OOM = true
		return out, nil
	}
	line, err := alloc.Replay(t, a.settings, limit)
	if err != nil {
		return out, err
	}
	for _, d := range line.Devices {
		if d.Peak.Allocated >= out.Allocated && d.Peak.Reserved > 0 {
			out.Requested, out.Allocated, out.Reserved = d.Peak.Requested, d.Peak.Allocated, d.Peak.Reserved
			out.Event, out.Retries = d.PeakAllocatedEvent, int(d.Retries)
		}
	}
	if line.OOM != nil && !line.OOM.Recorded {
		out.OOM, out.OOMEvent = true, line.OOM.Event
	}
	return out, nil
}
