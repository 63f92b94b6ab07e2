package explain

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Levels is how the memory of a device moved, as the events themselves tell.
type Levels struct {
	Requested     unit.Bytes // highest, of blocks in use
	RequestedAt   int        // event, -1 for the state before the first
	Reserved      unit.Bytes // highest
	ReservedAt    int
	FinalReserved unit.Bytes
	Segments      bool  // segment events are on the tape, so that Reserved is known
	Failures      []int // requests that failed, at most the last mostFailures
	Failed        int   // how many did
	EndOfUse      int   // the last event that took or gave up a block, -1 for none

	failedAt map[int]unit.Bytes // reserved at each failure
	largest  unit.Bytes         // request, or segment from before
}

// levels walks over the events once.
func (r *Recording) levels() *Levels {
	t := r.Tape
	l := &Levels{RequestedAt: -1, ReservedAt: -1, EndOfUse: -1, failedAt: map[int]unit.Bytes{}}
	requested, reserved := r.before()
	l.Segments = reserved > 0
	l.Requested, l.Reserved = requested, reserved
	for i := range t.Initial {
		l.largest = max(l.largest, t.Initial[i].Bytes)
	}
	for i := range t.Len() {
		switch k := t.Kind(i); k {
		case tape.Alloc:
			bytes, device, _ := t.Request(t.BlockOf(i))
			if device != r.Device {
				continue
			}
			l.largest = max(l.largest, bytes)
			if requested += bytes; requested > l.Requested {
				l.Requested, l.RequestedAt = requested, i
			}
			l.EndOfUse = i
		case tape.FreeRequested, tape.Free:
			b := t.Block(t.BlockOf(i))
			if b.Device != r.Device {
				continue
			}
			if b.Free == i {
				requested -= b.Bytes
			}
			l.EndOfUse = i
		case tape.SegmentAlloc, tape.SegmentMap:
			l.Segments = true
			if reserved += r.bytesAt(i); reserved > l.Reserved {
				l.Reserved, l.ReservedAt = reserved, i
			}
		case tape.SegmentFree, tape.SegmentUnmap:
			reserved -= r.bytesAt(i)
		case tape.OOM:
			if t.Event(i).Device == r.Device {
				l.fail(i, reserved)
			}
		}
	}
	l.FinalReserved = reserved
	if r.NoSegments {
		l.Segments, l.Reserved, l.ReservedAt, l.FinalReserved = false, r.ReservedPeak, -1, 0
	}
	return l
}

// before is what was in use and reserved when the recording began.
func (r *Recording) before() (requested, reserved unit.Bytes) {
	for i := range r.Tape.Initial {
		s := &r.Tape.Initial[i]
		if s.Device != r.Device {
			continue
		}
		reserved += s.Bytes
		for _, b := range s.Blocks {
			if b.State == tape.Active {
				requested += b.Requested
			}
		}
	}
	return requested, reserved
}

// mostFailures is how many failed requests are looked at, the last ones.
const mostFailures = 16

func (l *Levels) fail(event int, reserved unit.Bytes) {
	l.Failed++
	if len(l.Failures) == mostFailures {
		delete(l.failedAt, l.Failures[0])
		l.Failures = append(l.Failures[:0], l.Failures[1:]...)
	}
	l.Failures = append(l.Failures, event)
	l.failedAt[event] = reserved
}

// bytesAt is the size of a segment event, 0 for one of another device.
func (r *Recording) bytesAt(event int) unit.Bytes {
	if e := r.Tape.Event(event); e.Device == r.Device {
		return e.Bytes
	}
	return 0
}

// reservedAt is what was held right after an event, as the events tell.
func (r *Recording) reservedAt(event int) unit.Bytes {
	var reserved unit.Bytes
	for i := range r.Tape.Initial {
		if s := &r.Tape.Initial[i]; s.Device == r.Device {
			reserved += s.Bytes
		}
	}
	for i := range min(event+1, r.Tape.Len()) {
		switch r.Tape.Kind(i) {
		case tape.SegmentAlloc, tape.SegmentMap:
			reserved += r.bytesAt(i)
		case tape.SegmentFree, tape.SegmentUnmap:
			reserved -= r.bytesAt(i)
		}
	}
	return reserved
}
