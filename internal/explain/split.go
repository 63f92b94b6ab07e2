package explain

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Split is where the reserved memory of a device is. Its parts add up to
// Reserved.
type Split struct {
	Reserved  unit.Bytes
	Requested unit.Bytes // in use, as asked for
	Rounding  unit.Bytes // what blocks in use are larger than that
	Pending   unit.Bytes // given up, but another stream may still use it
	Holes     unit.Bytes // free pieces of segments of which another part is in use
	WholeFree unit.Bytes // free segments, which could go back to the driver
	Private   unit.Bytes // free in private pools, where others cannot use it

	LargestHole unit.Bytes
	// Pins are the blocks that keep the most free memory from going back, by
	// the place that made them, largest first.
	Pins []Pin
	// Free lists the free memory by who may use it.
	Free []FreeMemory
}

// A Pin is a place whose blocks keep segments from going back to the driver:
// of all blocks in such a segment they stay the longest.
type Pin struct {
	Place    Place
	Segments int
	Free     unit.Bytes // in these segments
	Held     unit.Bytes // by blocks in use in these segments
	// Of the segment with the most free memory.
	Block   tape.BlockID
	Addr    uint64
	Bytes   unit.Bytes
	Segment unit.Bytes
}

// FreeMemory is what lies free for the requests of one kind.
type FreeMemory struct {
	Pool    [2]uint64 // {0, 0} is the default pool
	Stream  uint64    // handle, 0 is the default stream
	Small   bool
	Bytes   unit.Bytes
	Largest unit.Bytes
	Pieces  int
}

// split adds up a layout.
func (r *Recording) split(layout []tape.Segment) *Split {
	s := &Split{}
	pins := map[int32]*Pin{}
	for i := range layout {
		seg := &layout[i]
		if seg.Device != r.Device {
			continue
		}
		s.Reserved += seg.Bytes
		free, largest := s.addSegment(seg, r.Tape.StreamHandle(seg.Stream))
		switch {
		case free == 0:
		case seg.Pool != [2]uint64{}:
			s.Private += free
		case free == seg.Bytes:
			s.WholeFree += free
		default:
			s.Holes += free
			s.LargestHole = max(s.LargestHole, largest)
			r.pin(pins, seg, free)
		}
	}
	for _, p := range pins {
		s.Pins = append(s.Pins, *p)
	}
	slices.SortFunc(s.Pins, func(a, b Pin) int {
		return cmp.Or(cmp.Compare(b.Free, a.Free), cmp.Compare(a.Place.String(), b.Place.String()))
	})
	slices.SortFunc(s.Free, func(a, b FreeMemory) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Largest, a.Largest), cmp.Compare(a.Stream, b.Stream))
	})
	return s
}

// addSegment adds up the blocks of one segment and returns what is free.
func (s *Split) addSegment(seg *tape.Segment, stream uint64) (free, largest unit.Bytes) {
	pieces := 0
	for _, b := range seg.Blocks {
		switch b.State {
		case tape.Active:
			s.Requested += b.Requested
			s.Rounding += b.Bytes - b.Requested
		case tape.PendingFree:
			s.Pending += b.Bytes
		default:
			free += b.Bytes
			largest = max(largest, b.Bytes)
			pieces++
		}
	}
	if pieces == 0 {
		return 0, 0
	}
	i := slices.IndexFunc(s.Free, func(f FreeMemory) bool { return f.Pool == seg.Pool && f.Stream == stream && f.Small == seg.Small })
	if i < 0 {
		i = len(s.Free)
		s.Free = append(s.Free, FreeMemory{Pool: seg.Pool, Stream: stream, Small: seg.Small})
	}
	f := &s.Free[i]
	f.Bytes += free
	f.Largest = max(f.Largest, largest)
	f.Pieces += pieces
	return free, largest
}

// pin notes the block that keeps a segment: the one that stays the longest.
func (r *Recording) pin(pins map[int32]*Pin, seg *tape.Segment, free unit.Bytes) {
	var last tape.SegmentBlock
	var held unit.Bytes
	until := -1
	for _, b := range seg.Blocks {
		if b.State == tape.Inactive {
			continue
		}
		held += b.Bytes
		end := r.Tape.Len()
		if b.Block != tape.NoBlock {
			if f := r.Tape.Block(b.Block).Free; f >= 0 {
				end = f
			}
		}
		if end > until {
			until, last = end, b
		}
	}
	n := r.places.number(last.Site)
	if last.Block != tape.NoBlock {
		n = r.places.ofBlock(r.Tape.Block(last.Block))
	}
	p := pins[n]
	if p == nil {
		p = &Pin{Place: r.places.places[n]}
		pins[n] = p
	}
	if p.Segments == 0 || free > p.Segment-p.Bytes {
		p.Block, p.Addr, p.Bytes, p.Segment = last.Block, last.Addr, last.Bytes, seg.Bytes
	}
	p.Segments++
	p.Free += free
	p.Held += held
}
