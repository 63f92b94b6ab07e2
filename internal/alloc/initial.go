package alloc

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// ErrInitial is returned for a tape whose initial segments contradict
// themselves.
var ErrInitial = errors.New("initial segment is not filled by its blocks or overlaps another")

// An opening is an expandable segment that is being placed run by run.
type opening struct {
	shelf, extent, last uint32
}

// place puts the segments that existed before the first event where they
// were. handle tells the meaning of their streams; put is told the index of
// each block in use.
func (d *device) place(segments []tape.Segment, handle func(tape.StreamID) uint64, put func(tape.BlockID, uint32)) error {
	var list []*tape.Segment
	var sum unit.Bytes
	for i := range segments {
		s := &segments[i]
		if int(s.Device) != d.number {
			continue
		}
		if !filled(s) || s.Bytes > unlimited-sum {
			return fmt.Errorf("segment at %#x: %w", s.Addr, ErrInitial)
		}
		sum += s.Bytes
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b *tape.Segment) int { return cmp.Compare(a.Addr, b.Addr) })
	var open []opening
	var end uint64
	for _, s := range list {
		if s.Addr < end {
			return fmt.Errorf("segment at %#x: %w", s.Addr, ErrInitial)
		}
		end = s.Addr + uint64(s.Bytes)
		shelf := d.shelf(d.initialPool(s.Pool, smallSegmentOf(s)), d.streamIndex(handle(s.Stream)))
		if !s.Expandable {
			d.placeBlocks(s, shelf, 0, 0, put)
			continue
		}
		n := slices.IndexFunc(open, func(o opening) bool { return o.shelf == shelf })
		if n < 0 {
			n = len(open)
			open = append(open, opening{shelf: shelf})
		}
		d.placeRun(&open[n], s, put)
	}
	for _, o := range open {
		d.closeExtent(o)
	}
	for i := 1; i < len(d.blocks); i++ {
		d.countInitial(uint32(i))
	}
	return nil
}

// smallSegmentOf reports whether a segment belongs to the small pool. The
// size of a classic one tells, whatever a recording was taken to say.
func smallSegmentOf(s *tape.Segment) bool {
	if s.Expandable {
		return s.Small
	}
	return s.Bytes == smallSegment
}

// filled reports whether the blocks of a segment fill it without gaps.
func filled(s *tape.Segment) bool {
	at := s.Addr
	for _, b := range s.Blocks {
		if b.Bytes <= 0 || b.Bytes > unlimited || b.Addr != at || b.Requested < 0 || b.Requested > unlimited {
			return false
		}
		at += uint64(b.Bytes)
	}
	return len(s.Blocks) > 0 && s.Bytes > 0 && at == s.Addr+uint64(s.Bytes) && at > s.Addr
}

// initialPool returns the pool with an id, which is made when needed.
func (d *device) initialPool(id PoolID, small bool) *pool {
	if id == (PoolID{}) {
		return d.pools[half(small)]
	}
	p := d.privatePool(id)
	if p == nil {
		p = d.newPrivate(id)
		p.uses = 1
	}
	return p.halves[half(small)]
}

// placeRun places a run of mapped pages: in the range of the run before it,
// behind a hole, or in a range of its own that begins with it.
func (d *device) placeRun(o *opening, s *tape.Segment, put func(tape.BlockID, uint32)) {
	if o.extent != 0 {
		e, end := d.extents[o.extent], d.end(o.last)
		if s.Addr >= end && s.Addr+uint64(s.Bytes) <= e.addr+uint64(e.size) {
			if s.Addr > end {
				o.last = d.placeHole(*o, unit.Bytes(s.Addr-end))
			}
			o.last = d.placeBlocks(s, o.shelf, o.extent, o.last, put)
			return
		}
		d.closeExtent(*o)
	}
	size, page := d.extentSize(s.Small)
	base, last := s.Addr, uint32(0)
	if b, ok := d.bases[s.Addr]; ok {
		base = b
	}
	size = max(size, unit.Bytes(s.Addr-base)+s.Bytes)
	d.extents = append(d.extents, extent{base, (size + page - 1) / page * page, page})
	o.extent = uint32(len(d.extents) - 1)
	if base < s.Addr {
		last = d.placeHole(opening{shelf: o.shelf, extent: o.extent}, unit.Bytes(s.Addr-base))
	}
	o.last = d.placeBlocks(s, o.shelf, o.extent, last, put)
}

// setBase says that the range of the initial run at an address begins lower.
func (d *device) setBase(run, base uint64) {
	if d.bases == nil {
		d.bases = map[uint64]uint64{}
	}
	if b, ok := d.bases[run]; !ok || base < b {
		d.bases[run] = base
	}
}

func (d *device) end(i uint32) uint64 { return d.blocks[i].addr + uint64(d.blocks[i].size) }

// closeExtent makes what is left of a range one unmapped block.
func (d *device) closeExtent(o opening) {
	e := d.extents[o.extent]
	if end := e.addr + uint64(e.size); end > d.end(o.last) {
		rest := end - d.end(o.last)
		d.placeHole(o, unit.Bytes(rest))
	}
}

// placeHole makes an unmapped block behind the last one.
func (d *device) placeHole(o opening, size unit.Bytes) uint32 {
	i := d.newBlock()
	b := &d.blocks[i]
	b.addr, b.size, b.shelf, b.extent, b.unmapped = d.extents[o.extent].addr, size, o.shelf, o.extent, true
	if o.last != 0 {
		b.addr = d.end(o.last)
	}
	d.splice(o.last, i, 0)
	d.putUnmapped(i)
	return i
}

// placeBlocks makes the blocks of a segment behind block before and returns
// the last one. Free neighbours become one block.
func (d *device) placeBlocks(s *tape.Segment, shelf, extent, before uint32, put func(tape.BlockID, uint32)) uint32 {
	first := d.newBlock() // numbers rise from here, since nothing was dropped yet
	d.dropBlock(first)
	for _, p := range s.Blocks {
		if p.State == tape.Inactive && before >= first && d.blocks[before].state == free {
			d.blocks[before].size += p.Bytes
			continue
		}
		i := d.newBlock()
		b := &d.blocks[i]
		b.addr, b.size, b.shelf, b.extent = p.Addr, p.Bytes, shelf, extent
		if p.State != tape.Inactive {
			b.state, b.requested = live, p.Requested
			if p.State == tape.PendingFree {
				b.state = pending
				d.held++
			}
			if p.Block != tape.NoBlock {
				b.owner = uint32(p.Block) + 1
				put(p.Block, i)
			}
		}
		d.splice(before, i, 0)
		before = i
	}
	for i := first; int(i) < len(d.blocks); i++ {
		if d.blocks[i].state == free {
			d.put(i)
		}
	}
	return before
}

// countInitial counts block i as if PyTorch had made it before.
func (d *device) countInitial(i uint32) {
	b := &d.blocks[i]
	if b.unmapped || b.state == vacant {
		return
	}
	pool := d.shelves[b.shelf].statPool()
	d.gain(d.shelves[b.shelf], b.size)
	if b.extent == 0 && b.prev == 0 {
		d.raise(segmentCount, pool, 1)
		if size := d.segmentSize(i); size >= d.maxSplit {
			d.scalars.oversizeSegments.add(1)
		}
		if p := d.shelves[b.shelf].pool.private; p != nil {
			p.segments++
		}
	}
	switch b.state {
	case free:
		if b.extent == 0 && b.split() {
			d.raise(inactiveSplit, pool, 1)
			d.raise(inactiveSplitBytes, pool, b.size)
		}
	case live:
		d.handed(b, pool)
	case pending:
		d.raise(activeCount, pool, 1)
		d.raise(activeBytes, pool, b.size)
		d.raise(requestedBytes, pool, b.requested)
	}
}

// segmentSize is the size of the classic segment that begins with block i.
func (d *device) segmentSize(i uint32) unit.Bytes {
	var sum unit.Bytes
	for ; i != 0; i = d.blocks[i].next {
		sum += d.blocks[i].size
	}
	return sum
}
