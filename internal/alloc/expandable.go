package alloc

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// An extent is an expandable segment: a range of addresses under which pages
// of memory are put as needed. Mirrors ExpandableSegment.
type extent struct {
	addr uint64
	size unit.Bytes
	page unit.Bytes
}

// room is a free block's size and the unmapped memory right behind it: what
// it can grow to counts when the best fit is sought.
func (d *device) room(i uint32) unit.Bytes {
	b := &d.blocks[i]
	if n := b.next; n != 0 && d.blocks[n].unmapped {
		return b.size + d.blocks[n].size
	}
	return b.size
}

// searchExpandable continues a search that found block i of an expandable
// segment.
func (d *device) searchExpandable(s *shelf, i uint32, wanted bool) uint32 {
	if !wanted { // the option was switched off later
		for i = d.after(s, i); i != 0 && d.blocks[i].extent != 0; i = d.after(s, i) {
		}
		return i
	}
	for d.blocks[i].extent != 0 {
		next := d.after(s, i)
		if next == 0 || d.room(next) >= d.room(i) {
			break
		}
		i = next
	}
	return i
}

// allocateExpandable makes a free block of the request's size by mapping
// pages, and takes it. What was mapped stays mapped when memory runs out on
// the way. Mirrors try_allocate_expandable_block.
func (d *device) allocateExpandable(r *request) uint32 {
	i := d.findExpandable(r)
	if i == 0 {
		return 0
	}
	if b := &d.blocks[i]; b.unmapped && !d.mapBlock(i, min(b.size, r.size)) {
		return 0
	}
	for d.blocks[i].size < r.size {
		next := d.blocks[i].next
		if next == 0 || !d.blocks[next].unmapped { // a range shorter than the request
			return 0
		}
		if !d.mapBlock(next, min(r.size-d.blocks[i].size, d.blocks[next].size)) {
			return 0
		}
		i = next // it took over the block before it
	}
	d.take(i)
	return i
}

// findExpandable returns the lowest free or unmapped block from which on
// there is room for the request, in a new range if need be. Mirrors
// find_expandable_block.
func (d *device) findExpandable(r *request) uint32 {
	s := d.shelves[r.shelf]
	for _, i := range s.unmapped {
		if before := d.blocks[i].prev; d.idle(before) {
			i = before
		}
		var sum unit.Bytes
		for j := i; sum < r.size && d.idle(j); j = d.blocks[j].next {
			sum += d.blocks[j].size
		}
		if sum >= r.size {
			return i
		}
	}
	size, page := d.extentSize(r.small)
	addr := d.driver.reserve(size)
	if size < r.size { // possible with the option expandable_segments_reserve
		return 0
	}
	return d.newExtent(r.shelf, addr, size, page)
}

// maxRange is the size of a device that is taken for one without a limit when
// the length of a range is sought, so that many ranges have room.
const maxRange unit.Bytes = 1 << 45

// extentSize is how long a new range is, and its page.
func (d *device) extentSize(small bool) (size, page unit.Bytes) {
	page = smallSegment
	if !small {
		page = d.settings.largeSegment()
	}
	size = d.settings.Reserve.size(min(d.total, maxRange))
	return (size + page - 1) / page * page, page
}

// newExtent makes a range that is one unmapped block.
func (d *device) newExtent(shelf uint32, addr uint64, size, page unit.Bytes) uint32 {
	d.extents = append(d.extents, extent{addr, size, page})
	i := d.newBlock()
	b := &d.blocks[i]
	b.addr, b.size, b.shelf, b.extent, b.unmapped = addr, size, shelf, uint32(len(d.extents)-1), true
	d.putUnmapped(i)
	return i
}

// mapBlock puts memory under the first size bytes of unmapped block i,
// rounded up to pages, and merges it with its free neighbours. Block i stays
// and is in the free set afterwards. Mirrors map_block.
func (d *device) mapBlock(i uint32, size unit.Bytes) bool {
	b := &d.blocks[i]
	e := d.extents[b.extent]
	size = (size + e.page - 1) / e.page * e.page
	if !d.driver.mapPages(b.addr, size, e.page) {
		return false
	}
	d.takeUnmapped(i)
	b.unmapped = false
	if size < b.size {
		rest := d.newBlock()
		b = &d.blocks[i]
		o := &d.blocks[rest]
		o.addr, o.size, o.shelf, o.extent, o.unmapped = b.addr+uint64(size), b.size-size, b.shelf, b.extent, true
		d.splice(i, rest, b.next)
		b.next = rest
		b.size = size
		d.putUnmapped(rest)
	}
	d.mergeNeighbours(i)
	d.put(i)
	d.gain(d.shelves[b.shelf], size)
	d.scalars.deviceAllocs++
	return true
}

// mergeNeighbours merges block i with both neighbours where that is possible.
func (d *device) mergeNeighbours(i uint32) {
	b := &d.blocks[i]
	s := d.shelves[b.shelf]
	if b.prev != 0 {
		d.mergeOn(s, i, b.prev)
	}
	if b.next != 0 {
		d.mergeOn(s, i, b.next)
	}
}

// unmapBlock gives the whole pages inside free block i back; what remains of
// it at both ends stays free. Mirrors unmap_block.
func (d *device) unmapBlock(i uint32) {
	b := &d.blocks[i]
	e := d.extents[b.extent]
	offset := unit.Bytes(b.addr - e.addr)
	first := (offset + e.page - 1) / e.page * e.page
	last := (offset + b.size) / e.page * e.page
	if first >= last {
		return
	}
	d.driver.unmapPages(e.addr+uint64(first), last-first, e.page)
	d.take(i)
	if n := first - offset; n > 0 {
		d.remainder(b.prev, i, b.addr, n)
		b = &d.blocks[i]
	}
	if n := offset + b.size - last; n > 0 {
		d.remainderAfter(i, e.addr+uint64(last), n)
		b = &d.blocks[i]
	}
	b.addr, b.size, b.unmapped = e.addr+uint64(first), last-first, true
	pool := d.shelves[b.shelf]
	d.mergeNeighbours(i)
	d.putUnmapped(i)
	d.lose(pool, last-first)
	if pool.pool.private != nil {
		pool.pool.private.segments--
	}
	d.scalars.deviceFrees++
	if !b.split() {
		d.takeUnmapped(i)
		d.dropBlock(i)
	}
}

// remainder makes a free block of n bytes between two blocks.
func (d *device) remainder(before, after uint32, addr uint64, n unit.Bytes) {
	o := d.newBlock()
	b := &d.blocks[after]
	d.blocks[o].addr, d.blocks[o].size, d.blocks[o].shelf, d.blocks[o].extent = addr, n, b.shelf, b.extent
	d.splice(before, o, after)
	d.put(o)
}

// remainderAfter makes a free block of n bytes behind a block.
func (d *device) remainderAfter(before uint32, addr uint64, n unit.Bytes) {
	o := d.newBlock()
	b := &d.blocks[before]
	d.blocks[o].addr, d.blocks[o].size, d.blocks[o].shelf, d.blocks[o].extent = addr, n, b.shelf, b.extent
	d.splice(before, o, b.next)
	d.put(o)
}

// placeOn is where an unmapped block stands, or would stand, on its shelf.
func (d *device) placeOn(s *shelf, addr uint64) int {
	at, _ := slices.BinarySearchFunc(s.unmapped, addr, func(i uint32, addr uint64) int {
		switch a := d.blocks[i].addr; {
		case a < addr:
			return -1
		case a > addr:
			return 1
		}
		return 0
	})
	return at
}

func (d *device) putUnmapped(i uint32) {
	b := &d.blocks[i]
	s := d.shelves[b.shelf]
	s.unmapped = slices.Insert(s.unmapped, d.placeOn(s, b.addr), i)
}

func (d *device) takeUnmapped(i uint32) {
	b := &d.blocks[i]
	s := d.shelves[b.shelf]
	at := d.placeOn(s, b.addr)
	at += slices.Index(s.unmapped[at:], i)
	s.unmapped = slices.Delete(s.unmapped, at, at+1)
}
