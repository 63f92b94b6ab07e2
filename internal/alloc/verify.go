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
// A recording does not say when the cache was emptied. Frees of segments
// before a request that a free block would have served, or before no
// request, are taken for that, others for the flush before a retry.
func Verify(t *tape.Tape, s Settings, final []tape.Segment) (*Comparison, error) {
	out := &Comparison{}
	for n := range t.Devices() {
		v := &verifier{tape: t, out: out, indices: make([]uint32, t.Blocks())}
		v.driver = &recorded{tape: t, out: out}
		v.device = newDevice(n, s, rangeTotal(t), v.driver)
		v.device.limited, v.device.collecting = false, false
		v.driver.device = v.device
		mine := ofDevice(final, n)
		v.pools = privateRanges(t, mine, n)
		for _, p := range v.pools {
			v.device.private = v.device.private || p.expandable
		}
		err := v.device.place(withBases(t, n, v.device), t.StreamHandle, func(b tape.BlockID, i uint32) {
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

// rangeTotal is the size of the device that the length of expandable ranges
// follows from. Recordings do not tell it; too long a range does no harm.
func rangeTotal(t *tape.Tape) unit.Bytes {
	if n, err := strconv.ParseInt(t.Meta["capacity_bytes"], 10, 64); err == nil && n > 0 {
		return unit.Bytes(n)
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

// A verifier compares one device.
type verifier struct {
	tape    *tape.Tape
	device  *device
	driver  *recorded
	out     *Comparison
	indices []uint32
	pools   []privateRange
}

func (v *verifier) run() {
	for i := range v.tape.Len() {
		e := v.tape.Event(i)
		if int(e.Device) != v.device.number || segmentEvent(e.Kind) {
			continue
		}
		v.driver.end = i
		switch e.Kind {
		case tape.Alloc:
			v.flush(e)
			v.alloc(i, e)
		case tape.OOM:
			v.flush(e)
			v.oom(i, e)
		case tape.FreeRequested, tape.Free:
			v.flush(e)
			v.free(e)
		}
		v.leftover(i)
	}
	v.driver.end = v.tape.Len()
	v.flush(tape.Event{Kind: tape.Other})
	v.leftover(v.driver.end)
}

// flush empties the cache when the recording shows frees of segments that
// the event itself does not cause.
func (v *verifier) flush(e tape.Event) {
	if n, ok := v.driver.peek(); !ok || n.Kind != tape.SegmentFree && n.Kind != tape.SegmentUnmap {
		return
	}
	v.out.Flushes++
	d := v.device
	if e.Kind == tape.Alloc || e.Kind == tape.OOM {
		r := d.request(max(e.Bytes, 1), d.streamIndex(v.tape.StreamHandle(e.Stream)))
		i := d.search(&r)
		if i == 0 {
			return // the request flushes by itself
		}
		d.put(i)
	}
	d.emptyCache()
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

func (v *verifier) malloc(e tape.Event) (uint32, error) {
	d := v.device
	if p := v.poolAt(e); p != nil {
		d.redirects = append(d.redirects, redirect{to: p})
		d.underway()
		defer func() { d.redirects = d.redirects[:0]; d.underway() }()
	}
	i, err := d.malloc(max(e.Bytes, 1), d.streamIndex(v.tape.StreamHandle(e.Stream)))
	v.forget()
	return i, err
}

func (v *verifier) alloc(n int, e tape.Event) {
	v.out.Allocs++
	i, err := v.malloc(e)
	if err != nil {
		v.out.differ(n, "%d bytes were had at %#x, the simulator finds no place", e.Bytes, e.Addr)
		return
	}
	b := &v.device.blocks[i]
	if b.addr != e.Addr {
		v.out.differ(n, "%d bytes were had at %#x, the simulator takes %#x", e.Bytes, e.Addr, b.addr)
	}
	b.owner = uint32(e.Block) + 1
	v.indices[e.Block] = i
}

func (v *verifier) oom(n int, e tape.Event) {
	v.out.OOMs++
	if i, err := v.malloc(e); err == nil {
		v.out.differ(n, "a request of %d bytes failed, the simulator finds a place", e.Bytes)
		v.device.giveUp(i)
	}
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
func (v *verifier) leftover(n int) {
	for {
		e, ok := v.driver.peek()
		if !ok {
			return
		}
		v.out.differ(v.driver.next, "recorded was a %s of %d bytes at %#x before event %d, the simulator has none", e.Kind, e.Bytes, e.Addr, n)
		v.driver.next++
	}
}
