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

// poolAt returns the private pool that a served request went to, nil for the
// default pool; known is false when only the segment's end could tell.
func (v *verifier) poolAt(e tape.Event) (p *private, known bool) {
	if len(v.device.privates) == 0 && len(v.pools) == 0 {
		return nil, true
	}
	for i := range v.device.blocks {
		b := &v.device.blocks[i]
		if b.shelf != 0 && b.state == free && !b.unmapped && e.Addr >= b.addr && e.Addr < b.addr+uint64(b.size) {
			return v.device.shelves[b.shelf].pool.private, true
		}
	}
	for _, r := range v.pools {
		if e.Addr >= r.addr && e.Addr < r.addr+uint64(r.bytes) && v.driver.end >= r.first && v.driver.end < r.last {
			if p = v.device.privatePool(r.pool); p == nil {
				p = v.device.newPrivate(r.pool)
				p.uses = 1
			}
			return p, true
		}
	}
	return nil, false
}

// A runKey tells the expandable segments of a device apart.
type runKey struct {
	stream tape.StreamID
	small  bool
}

// setBases notes where the ranges of expandable segments begin: where pages
// are mapped later on below the first run of one, it begins there with a
// hole.
func setBases(t *tape.Tape, d *device) {
	first := map[runKey]uint64{}
	for _, s := range t.Initial {
		if k := (runKey{s.Stream, s.Small}); int(s.Device) == d.number && s.Expandable && s.Pool == (PoolID{}) {
			if at, ok := first[k]; !ok || s.Addr < at {
				first[k] = s.Addr
			}
		}
	}
	if len(first) == 0 {
		return
	}
	reach := uint64(d.settings.Reserve.size(d.total))
	var maps []tape.Event
	for i := range t.Len() {
		e := t.Event(i)
		switch {
		case int(e.Device) != d.number:
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
}
