package alloc

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// recorded is a driver that repeats what the real one did: the segment
// events of a tape that stand before the event that caused them. Memory is
// out when the recording does not go on with getting some.
type recorded struct {
	tape   *tape.Tape
	device *device
	out    *Comparison
	next   int // first segment event that was not repeated yet
	end    int // event that caused them
	lost   uint64
}

// lostRange is where ranges are put whose place the recording does not tell
// yet, because nothing could be mapped into them.
const lostRange = 1 << 62

// peek returns the next segment event of the device.
func (r *recorded) peek() (tape.Event, bool) {
	for ; r.next < r.end; r.next++ {
		e := r.tape.Event(r.next)
		if int(e.Device) == r.device.number && segmentEvent(e.Kind) {
			return e, true
		}
	}
	return tape.Event{}, false
}

func segmentEvent(k tape.Kind) bool { return k >= tape.SegmentAlloc && k <= tape.SegmentUnmap }

func (r *recorded) alloc(size unit.Bytes) (uint64, bool) {
	e, ok := r.peek()
	if !ok || e.Kind != tape.SegmentAlloc {
		return 0, false
	}
	if e.Bytes != size {
		r.out.differ(r.next, "a segment of %d bytes was got at %#x, the simulator wants %d", e.Bytes, e.Addr, size)
	}
	r.out.SegmentAllocs++
	r.next++
	return e.Addr, true
}

func (r *recorded) free(addr uint64, size unit.Bytes) {
	r.out.SegmentFrees++
	r.give(tape.SegmentFree, addr, size)
}

func (r *recorded) unmapPages(addr uint64, size, _ unit.Bytes) {
	r.out.Unmaps++
	r.give(tape.SegmentUnmap, addr, size)
}

// give compares memory that the simulator gives back.
func (r *recorded) give(k tape.Kind, addr uint64, size unit.Bytes) {
	e, ok := r.peek()
	if !ok {
		r.out.differ(r.end, "the simulator has a %s of %d bytes at %#x, recorded was none", k, size, addr)
		return
	}
	if e.Kind != k || e.Addr != addr || e.Bytes != size {
		r.out.differ(r.next, "recorded was a %s of %d bytes at %#x, the simulator has a %s of %d at %#x", e.Kind, e.Bytes, e.Addr, k, size, addr)
	}
	r.next++
}

func (r *recorded) reserve(unit.Bytes) uint64 {
	if e, ok := r.peek(); ok && e.Kind == tape.SegmentMap {
		return e.Addr
	}
	r.lost++
	return lostRange + r.lost<<48
}

func (r *recorded) mapPages(addr uint64, size, _ unit.Bytes) bool {
	e, ok := r.peek()
	if !ok || e.Kind != tape.SegmentMap {
		return false
	}
	if addr >= lostRange {
		r.device.moveExtent(addr, e.Addr)
		addr = e.Addr
	}
	if e.Addr != addr || e.Bytes != size {
		r.out.differ(r.next, "recorded was a %s of %d bytes at %#x, the simulator maps %d at %#x", e.Kind, e.Bytes, e.Addr, size, addr)
	}
	r.out.Maps++
	r.next++
	return true
}

func (r *recorded) available() unit.Bytes { return 0 }

// moveExtent moves a range in which nothing is mapped.
func (d *device) moveExtent(from, to uint64) {
	for i := 1; i < len(d.blocks); i++ {
		b := &d.blocks[i]
		if b.state == free && b.unmapped && b.addr == from && !b.split() {
			d.takeUnmapped(uint32(i))
			b.addr = to
			d.extents[b.extent].addr = to
			d.putUnmapped(uint32(i))
			return
		}
	}
}
