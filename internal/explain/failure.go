package explain

import (
	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Why no free memory served a request that failed.
const (
	DeviceFull     = "device_full"   // what is in use and the request do not go together on the device
	Fragmentation  = "fragmentation" // there is enough free memory, in pieces that are too small
	OtherStream    = "other_stream"  // a piece that is large enough belongs to another stream
	OtherPool      = "other_pool"    // a piece that is large enough belongs to another pool
	OverDevice     = "request_over_device"
	SplitLimit     = "split_limit"      // max_split_size forbids to cut a piece that is large enough
	FreeButRefused = "free_but_refused" // the driver had enough free
	Unknown        = "unknown"          // the layout is not certain
)

// A Failure is a request that failed while the recording was made.
type Failure struct {
	Event      int
	Time       int64      // microseconds since the epoch, 0 when not known
	Rounded    unit.Bytes // the block that was needed
	Segment    unit.Bytes // what the driver was asked for
	Stream     uint64
	Place      Place
	Operator   string
	Phase      tape.Phase
	Step       int
	DriverFree unit.Bytes // by the driver at the time
	Reserved   unit.Bytes
	Requested  unit.Bytes // in use
	// Outside is what is taken on the device beside PyTorch's allocator, by
	// this process and others; nil when the device's size is not known.
	Outside *unit.Bytes

	// LargestFree is the largest free piece that the request could have had,
	// and UsableFree the sum of those: same pool, same stream.
	LargestFree, UsableFree unit.Bytes
	// AllFree is everything free, whoever may use it, without the driver's.
	AllFree unit.Bytes
	Cause   string
	Short   unit.Bytes // how much is missing even if all free memory were one piece
}

// failure looks at a failed request in the layout that it found.
func (r *Recording) failure(event int, reserved unit.Bytes, m *Moment) Failure {
	e := r.Tape.Event(event)
	f := Failure{
		Event: event, Time: e.Time, Rounded: e.Bytes, Segment: alloc.SegmentSize(r.Settings, e.Bytes), Stream: r.Tape.StreamHandle(e.Stream),
		Place: r.places.place(e.Site), Operator: operatorOf(r.Tape.Site(e.Site)), Phase: e.Phase, DriverFree: unit.Bytes(e.Addr),
		Reserved: reserved, Requested: m.Requested, Cause: Unknown,
	}
	if phase, ok, _ := phaseOfStack(r.Tape.Site(e.Site)); ok {
		f.Phase = phase
	}
	if len(r.ends) > 0 {
		f.Step = r.stepAt(event)
	}
	if r.Capacity > 0 {
		if o := r.Capacity - reserved - f.DriverFree; o >= 0 {
			f.Outside = &o
		}
	}
	if m.Split != nil {
		f.judge(m.Split, alloc.IsSmall(e.Bytes))
	}
	if r.Capacity > 0 && f.Rounded > r.Capacity {
		f.Cause = OverDevice
	}
	return f
}

// judge says why nothing served.
func (f *Failure) judge(s *Split, small bool) {
	otherStream, otherPool := false, false
	for _, p := range s.Free {
		f.AllFree += p.Bytes
		switch {
		case p.Pool == [2]uint64{} && p.Stream == f.Stream && p.Small == small:
			f.UsableFree += p.Bytes
			f.LargestFree = max(f.LargestFree, p.Largest)
		case p.Pool == [2]uint64{} && p.Small == small:
			otherStream = otherStream || p.Largest >= f.Rounded
		default:
			otherPool = otherPool || p.Largest >= f.Rounded
		}
	}
	f.Short = max(f.Rounded-f.AllFree-f.DriverFree, 0)
	switch {
	case f.DriverFree >= f.Segment:
		f.Cause = FreeButRefused
	case f.LargestFree >= f.Rounded:
		f.Cause = SplitLimit
	case otherStream:
		f.Cause = OtherStream
	case otherPool:
		f.Cause = OtherPool
	case f.Short > 0:
		f.Cause = DeviceFull
	default:
		f.Cause = Fragmentation
	}
}
