package whatif

import (
	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Peak is the most that a stretch of a tape came to.
type Peak struct{ Allocated, Reserved unit.Bytes }

// Peaks are those of the stretches that begin at the given events, which must
// ascend; what lives from before counts too.
func (a Allocator) Peaks(t *tape.Tape, room unit.Bytes, starts []int) ([]Peak, error) {
	if room >= Endless {
		room = 0
	}
	line, err := alloc.ReplayStretches(t, a.settings, room, starts)
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
	if room <= 0 {
		out.OOM = true // 0 would be no limit
		return out, nil
	}
	if room >= Endless {
		room = 0
	}
	line, err := alloc.Replay(t, a.settings, room)
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
