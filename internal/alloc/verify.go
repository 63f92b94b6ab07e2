package alloc

import (
	"fmt"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Verify replays a recording with its own addresses and compares every
// address that was handed out, every segment event, and the layout at the
// end with what the simulator does. final is the recorded layout; nil leaves
// it out.
//
// A recording does not say when the cache was emptied, nor to which pool a
// request went that failed. Where that matters, every possibility is tried
// and the one that agrees with the recording is taken.
func Verify(t *tape.Tape, s Settings, final []tape.Segment) (*Comparison, error) {
	return VerifyAt(t, s, final, nil)
}

// VerifyAt is Verify that also keeps the layouts right after some events,
// which must ascend; -1 is the initial state.
func VerifyAt(t *tape.Tape, s Settings, final []tape.Segment, at []int) (*Comparison, error) {
	out := &Comparison{Devices: make([]DeviceTimeline, t.Devices())}
	for _, n := range t.DeviceNumbers() {
		v := newVerifier(t, s, int(n), out)
		v.at = at
		if err := v.verify(final); err != nil {
			return nil, fmt.Errorf("verify device %d: %w", n, err)
		}
	}
	return out, nil
}

// verify compares one device.
func (v *verifier) verify(final []tape.Segment) error {
	t, n, out := v.tape, v.device.number, v.out
	mine := ofDevice(final, n)
	v.pools = privateRanges(t, mine, n)
	for _, p := range v.pools {
		v.device.private = v.device.private || p.expandable
	}
	setBases(t, v.device)
	err := v.device.place(t.Initial, t.StreamHandle, func(b tape.BlockID, i uint32) {
		if int(b) < len(v.indices) {
			v.indices[b] = i
		}
	})
	if err != nil {
		return err
	}
	v.run()
	if final != nil {
		out.layout(v.device.segments(), mine, v.device.streams, t.StreamHandle)
	}
	return nil
}

// A verifier compares one device.
type verifier struct {
	tape    *tape.Tape
	device  *device
	driver  *recorded
	out     *Comparison
	indices []uint32 // of the tape's blocks
	pools   []privateRange
	at      []int // events whose layouts are still to be kept
	watch   watch
	pool    PoolID // that the last request went to
}

func newVerifier(t *tape.Tape, s Settings, n int, out *Comparison) *verifier {
	v := &verifier{tape: t, out: out, indices: make([]uint32, t.Blocks())}
	v.driver = &recorded{tape: t, out: out}
	v.device = newDevice(n, s, rangeTotal(t), v.driver)
	v.device.limited, v.device.collecting, v.device.rejecting = false, false, false
	v.driver.device = v.device
	return v
}

// rangeTotal is the size of the device that the length of expandable ranges
// follows from. Recordings do not tell it; too long a range does no harm
// unless one is nearly full.
func rangeTotal(t *tape.Tape) unit.Bytes {
	if n, err := strconv.ParseInt(t.Meta["capacity_bytes"], 10, 64); err == nil && n > 0 {
		return min(unit.Bytes(n), unlimited)
	}
	return unit.TiB
}

func ofDevice(segments []tape.Segment, n int) []tape.Segment {
	var list []tape.Segment
	for _, s := range segments {
		if int(s.Device) == n {
			list = append(list, s)
		}
	}
	return list
}

func (v *verifier) run() {
	v.watch = newWatch(v.device)
	defer func() { v.out.Devices[v.device.number] = v.watch.timeline(v.device) }()
	v.keep(-1)
	for i := range v.tape.Len() {
		v.event(i)
		v.keep(i)
	}
	v.driver.end = v.tape.Len()
	v.flushed()
	v.leftover()
}

// keep keeps the layout right after event i if it was asked for.
func (v *verifier) keep(i int) {
	if len(v.at) == 0 || v.at[0] > i {
		return
	}
	v.at = v.at[1:]
	m := Moment{Event: i, Device: v.device.number, Level: v.device.level(), Segments: v.device.segments()}
	for j := range m.Segments {
		m.Segments[j].Stream = v.tape.InternStream(v.device.streams[m.Segments[j].Stream])
	}
	v.out.Moments = append(v.out.Moments, m)
}

// event compares event i.
func (v *verifier) event(i int) {
	e := v.tape.Event(i)
	if int(e.Device) != v.device.number || segmentEvent(e.Kind) {
		return
	}
	v.driver.end = i
	switch e.Kind {
	case tape.Alloc, tape.OOM:
		v.request(e)
		v.watch.look(v.device, i)
	case tape.FreeRequested, tape.Free:
		v.flushed()
		v.free(e)
	case tape.EmptyCache:
		v.flushed()
	}
}

// flushed empties the cache when the recording shows that memory was given
// back although nothing was asked for.
func (v *verifier) flushed() {
	if v.givesBack() {
		v.emptyCache()
	}
}

// givesBack reports whether memory was given back before the event at hand.
func (v *verifier) givesBack() bool {
	n, ok := v.driver.peek()
	return ok && (n.Kind == tape.SegmentFree || n.Kind == tape.SegmentUnmap)
}

func (v *verifier) emptyCache() {
	v.out.Flushes++
	v.noteEmptied()
	v.device.releaseCached()
	v.forget()
}

// noteEmptied notes that the cache is emptied before the event at hand. The tape
// may say so itself.
func (v *verifier) noteEmptied() {
	if i := v.driver.end; i >= v.tape.Len() || v.tape.Kind(i) != tape.EmptyCache {
		v.out.Emptied = append(v.out.Emptied, Cut{Event: i, Device: uint8(v.device.number), EmptyCache: true})
	}
}

// forget lets the tape's own frees of blocks that a flush freed pass.
func (v *verifier) forget() {
	for _, owner := range v.device.early {
		if owner != 0 {
			v.indices[owner-1] = 0
		}
	}
	v.device.early = v.device.early[:0]
}

func (v *verifier) free(e tape.Event) {
	i := v.indices[e.Block]
	if i == 0 {
		return
	}
	if e.Kind == tape.FreeRequested {
		if v.device.blocks[i].state == live {
			v.device.hold(i)
		}
		return
	}
	v.indices[e.Block] = 0
	v.device.complete(i)
}

// leftover reports recorded segment events that the simulator did not repeat.
func (v *verifier) leftover() {
	for {
		e, ok := v.driver.peek()
		if !ok {
			return
		}
		v.out.differ(v.driver.next, "recorded was a %s of %d bytes at %#x before event %d, the simulator has none", e.Kind, e.Bytes, e.Addr, v.driver.end)
		v.driver.next++
	}
}
