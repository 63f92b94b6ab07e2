package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Segment is memory that was held from the driver, and the states in which
// it was: from Start up to End, which is States() when nothing ended it. Of an
// expandable segment each mapped range is one.
type Segment struct {
	Start, End int
	Addr       uint64
	Bytes      unit.Bytes
	Stream     tape.StreamID
	Small      bool
	Expandable bool
	Pool       [2]uint64
	Site       tape.SiteID
}

func (s *Segment) end() uint64 { return s.Addr + uint64(s.Bytes) }

// mostOpen bounds the segments that are held at one time: 256 GiB in segments
// of the smallest size. Keeping more sorted takes too long.
const mostOpen = 1 << 17

// segments follows the segment events from the initial state on.
func (d *Drawing) segments() ([]Segment, error) {
	h := &holdings{from: d.From, states: d.States()}
	for i := range d.Tape.Initial {
		s := &d.Tape.Initial[i]
		if s.Device == d.Device {
			h.open = append(h.open, &Segment{
				Addr: s.Addr, Bytes: s.Bytes, Stream: s.Stream, Small: s.Small, Expandable: s.Expandable, Pool: s.Pool, Site: s.Site,
			})
		}
	}
	slices.SortFunc(h.open, byAddr)
	for i := range d.To {
		switch d.Tape.Kind(i) {
		case tape.SegmentAlloc, tape.SegmentMap, tape.SegmentFree, tape.SegmentUnmap:
			if e := d.Tape.Event(i); e.Device == d.Device {
				h.apply(i, e)
			}
			if len(h.open) > mostOpen {
				return nil, fmt.Errorf("event %d: more than %d segments are held at a time", i, mostOpen)
			}
		}
	}
	for _, s := range h.open {
		h.close(s, h.states)
	}
	slices.SortFunc(h.done, func(a, b Segment) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), a.Start-b.Start)
	})
	return h.done, nil
}

func byAddr(a, b *Segment) int { return cmp.Compare(a.Addr, b.Addr) }

// holdings are the segments that are held, sorted by address, and those that
// were.
type holdings struct {
	from, states int
	open         []*Segment
	done         []Segment
}

// close ends a segment; one that ended before the range leaves nothing.
func (h *holdings) close(s *Segment, end int) {
	if end > 0 && end > s.Start {
		s.End = end
		h.done = append(h.done, *s)
	}
}

func (h *holdings) apply(i int, e tape.Event) {
	state := max(i-h.from+1, 0)
	at, found := slices.BinarySearchFunc(h.open, e.Addr, func(s *Segment, addr uint64) int { return cmp.Compare(s.Addr, addr) })
	switch e.Kind {
	case tape.SegmentAlloc, tape.SegmentMap:
		s := &Segment{
			Start: state, Addr: e.Addr, Bytes: e.Bytes, Stream: e.Stream, Site: e.Site,
			Small: e.Kind == tape.SegmentAlloc && e.Bytes <= smallSegment, Expandable: e.Kind == tape.SegmentMap,
		}
		if found { // a recording that lacks the end of the last one
			h.close(h.open[at], state)
			h.open[at] = s
			return
		}
		h.open = slices.Insert(h.open, at, s)
	case tape.SegmentFree:
		if found {
			h.close(h.open[at], state)
			h.open = slices.Delete(h.open, at, at+1)
		}
	case tape.SegmentUnmap:
		h.unmap(at, state, e.Addr, e.Addr+uint64(e.Bytes))
	}
}

// unmap takes a range of addresses out of the segments from the one before
// index at on; what is left of them goes on.
func (h *holdings) unmap(at, state int, from, to uint64) {
	if at > 0 && h.open[at-1].end() > from {
		at--
	}
	last := at
	var left []*Segment
	for ; last < len(h.open) && h.open[last].Addr < to; last++ {
		s := h.open[last]
		h.close(s, state)
		if s.Addr < from {
			before := *s
			before.Start, before.Bytes = state, unit.Bytes(from-s.Addr)
			left = append(left, &before)
		}
		if s.end() > to {
			after := *s
			after.Start, after.Addr, after.Bytes = state, to, unit.Bytes(s.end()-to)
			left = append(left, &after)
		}
	}
	h.open = slices.Replace(h.open, at, last, left...)
}

// smallSegment is the size of a segment of the small pool, kSmallBuffer in
// c10/cuda/CUDACachingAllocator.cpp (2.0 to 2.15).
const smallSegment = 2 * unit.MiB
