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
	out := &Comparison{}
	for n := range t.Devices() {
		v := newVerifier(t, s, n, out)
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
			return nil, fmt.Errorf("verify device %d: %w", n, err)
		}
		v.run()
		if final != nil {
			out.layout(v.device.segments(), mine, v.device.streams, t.StreamHandle)
		}
	}
	return out, nil
}

// A verifier compares one device.
type verifier struct {
	tape    *tape.Tape
	device  *device
	driver  *recorded
	out     *Comparison
	indices []uint32 // of the tape's blocks
	pools   []privateRange
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
	for i := range v.tape.Len() {
		e := v.tape.Event(i)
		if int(e.Device) != v.device.number || segmentEvent(e.Kind) {
			continue
		}
		v.driver.end = i
		switch e.Kind {
		case tape.Alloc, tape.OOM:
			v.request(e)
		case tape.FreeRequested, tape.Free:
			v.flushed()
			v.free(e)
		}
	}
	v.driver.end = v.tape.Len()
	v.flushed()
	v.leftover()
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
	v.device.releaseCached()
	v.forget()
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
