package alloc

import (
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A recording does not say to which pool a request went or where a range of
// addresses began. Both follow from the segments.

// A privateRange is memory of a private pool during a stretch of events.
type privateRange struct {
	addr        uint64
	bytes       unit.Bytes
	first, last int // events first to last-1
	pool        PoolID
	small       bool
	expandable  bool
}

// privateRanges lists the memory of private pools: segments of the end, from
// the event on that made them, and segments of the beginning, up to the
// event that frees them.
func privateRanges(t *tape.Tape, final []tape.Segment, device int) []privateRange {
	var list []privateRange
	for _, s := range final {
		if s.Pool != (PoolID{}) {
			list = append(list, privateRange{s.Addr, s.Bytes, -1, t.Len(), s.Pool, s.Small, s.Expandable})
		}
	}
	ends := len(list)
	for _, s := range t.Initial {
		if int(s.Device) == device && s.Pool != (PoolID{}) {
			list = append(list, privateRange{s.Addr, s.Bytes, -1, t.Len(), s.Pool, s.Small, s.Expandable})
		}
	}
	if len(list) == 0 {
		return nil
	}
	for i := range t.Len() {
		e := t.Event(i)
		if int(e.Device) != device {
			continue
		}
		for j := range list {
			p := &list[j]
			switch {
			case j < ends && e.Kind == tape.SegmentAlloc && e.Addr == p.addr:
				p.first = i
			case j >= ends && e.Kind == tape.SegmentFree && e.Addr == p.addr && p.last == t.Len():
				p.last = i
			}
		}
	}
	return list
}

// poolAt returns the private pool that an event's address lies in.
func (v *verifier) poolAt(e tape.Event) *private {
	for _, p := range v.pools {
		if e.Addr >= p.addr && e.Addr < p.addr+uint64(p.bytes) && v.driver.end >= p.first && v.driver.end < p.last {
			known := v.device.privatePool(p.pool)
			if known == nil {
				known = v.device.newPrivate(p.pool)
				known.uses = 1
			}
			return known
		}
	}
	return nil
}

// A runKey tells the expandable segments of a device apart.
type runKey struct {
	stream tape.StreamID
	small  bool
}

// withBases returns the initial segments of a device. Where pages are mapped
// later on below the first run of an expandable segment, the range begins
// there, with a hole; that is noted for the device.
func withBases(t *tape.Tape, n int, d *device) []tape.Segment {
	first := map[runKey]uint64{}
	for _, s := range t.Initial {
		if k := (runKey{s.Stream, s.Small}); int(s.Device) == n && s.Expandable && s.Pool == (PoolID{}) {
			if at, ok := first[k]; !ok || s.Addr < at {
				first[k] = s.Addr
			}
		}
	}
	if len(first) == 0 {
		return t.Initial
	}
	reach := uint64(d.settings.Reserve.size(d.total))
	var maps []tape.Event
	for i := range t.Len() {
		e := t.Event(i)
		switch {
		case int(e.Device) != n:
		case e.Kind == tape.SegmentMap:
			maps = append(maps, e)
		case e.Kind == tape.Alloc:
			for _, m := range maps {
				k := runKey{e.Stream, d.settings.round(max(e.Bytes, 1)) <= smallLimit}
				if at, ok := first[k]; ok && m.Addr < at && at-m.Addr < reach {
					d.setBase(at, m.Addr)
				}
			}
			maps = maps[:0]
		}
	}
	return t.Initial
}
