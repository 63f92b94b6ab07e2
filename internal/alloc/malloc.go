package alloc

import "github.com/plimsoll-dev/plimsoll/unit"

// A request is one allocation on its way through the allocator.
type request struct {
	asked      unit.Bytes // by the operator
	size       unit.Bytes // of the block
	segment    unit.Bytes // what the driver is asked for
	shelf      uint32
	small      bool
	expandable bool
}

// malloc hands out a block of at least n bytes, n > 0, on a stream given by
// its index. Mirrors DeviceCachingAllocator::malloc.
func (d *device) malloc(n unit.Bytes, stream int) (uint32, error) {
	if d.simple && n < hugeRequest && d.awaited|len(d.deferred)|len(d.redirects) == 0 {
		if i := d.hit(n, stream); i != 0 {
			return i, nil
		}
	}
	return d.mallocFully(n, stream)
}

// hit serves a request from the default pool's free blocks, if one fits. It
// is malloc without what most programs never use; nine of ten requests end
// here.
func (d *device) hit(n unit.Bytes, stream int) uint32 {
	s, size, pool := d.usual(n, stream)
	if s == nil {
		return 0
	}
	i := d.pull(s, size)
	if i == 0 {
		return 0
	}
	return d.cut(i, n, size, d.parts(d.blocks[i].size-size, pool), pool)
}

// usual is where a request of the default pool is looked for, nil where there is
// nothing yet, the size of its block, and the pool as counters see it.
func (d *device) usual(n unit.Bytes, stream int) (s *shelf, size unit.Bytes, pool int) {
	size, pool = n.RoundUp(minBlock), largePool
	if d.divided {
		size = d.settings.round(n)
	}
	if size <= smallLimit {
		pool = smallPool
	}
	if stream == 0 {
		return d.main[pool-smallPool], size, pool
	}
	if p := d.pools[pool-smallPool]; stream < len(p.byIndex) {
		s = d.shelves[p.byIndex[stream]]
	}
	return s, size, pool
}

// parts reports whether a block is split that has so much more than is asked for.
func (d *device) parts(rest unit.Bytes, pool int) bool {
	return rest > smallLimit || rest >= minBlock && (pool == smallPool || d.expandable)
}

// mallocFully is malloc with all that can happen.
func (d *device) mallocFully(n unit.Bytes, stream int) (uint32, error) {
	if n >= hugeRequest {
		return 0, &OOMError{Requested: n, Version: d.settings.Version, Device: d.number}
	}
	if d.awaited > 0 || len(d.deferred) > 0 {
		d.processEvents()
	}
	r := d.request(n, stream)
	if d.collecting {
		d.shelves[r.shelf].pool.calls++
	}
	i := d.search(&r)
	if i == 0 {
		r.segment = d.settings.segment(r.size)
		if d.rejecting && r.segment > d.total-d.reserved {
			return 0, d.reject(&r)
		}
		if i = d.obtain(&r); i == 0 {
			return 0, d.outOfMemory(&r)
		}
	}
	return d.handOut(&r, i), nil
}

func (d *device) request(n unit.Bytes, stream int) request {
	r := request{asked: n, size: max(n.RoundUp(minBlock), minBlock)}
	if d.divided {
		r.size = d.settings.round(n)
	}
	r.small = r.size <= smallLimit
	p := d.pools[half(r.small)]
	if len(d.redirects) > 0 {
		p = d.poolFor(r.small)
	}
	r.shelf = d.shelf(p, stream)
	r.expandable = d.expandable && (p.private == nil || d.private)
	return r
}

// search takes the best free block out of the pool. Mirrors get_free_block.
func (d *device) search(r *request) uint32 {
	s := d.shelves[r.shelf]
	i := d.atLeast(s, r.size)
	if i == 0 {
		return 0
	}
	if d.blocks[i].extent != 0 {
		if i = d.searchExpandable(s, i, r.expandable); i == 0 {
			return 0
		}
	}
	if size := d.blocks[i].size; d.maxSplit < noSplitLimit {
		if r.size < d.maxSplit && size >= d.maxSplit || r.size >= d.maxSplit && size >= r.size+d.settings.maxNonSplitRounding() {
			return 0
		}
	}
	d.take(i)
	return i
}

// obtain gets memory for a request that no free block serves; 0 when there
// is none. The order of the attempts is PyTorch's.
func (d *device) obtain(r *request) uint32 {
	if d.collecting {
		d.collectGarbage()
	}
	if i := d.allocate(r, false); i != 0 {
		return i
	}
	if d.releaseAvailable(r) {
		if i := d.allocate(r, false); i != 0 {
			return i
		}
	}
	if d.capturing {
		return 0
	}
	d.releaseCached()
	return d.allocate(r, true)
}

// allocate asks the driver. Mirrors alloc_block.
func (d *device) allocate(r *request, retry bool) uint32 {
	if retry {
		d.scalars.retries++
	}
	if d.limited && r.segment > d.limit-d.reserved {
		return 0
	}
	p := d.shelves[r.shelf].pool
	if r.expandable {
		i := d.allocateExpandable(r)
		if i != 0 && p.private != nil {
			p.private.segments++
		}
		return i
	}
	addr, ok := d.driver.alloc(r.segment)
	if !ok {
		return 0
	}
	if p.private != nil {
		p.private.segments++
	}
	i := d.newBlock()
	b := &d.blocks[i]
	b.addr, b.size, b.shelf = addr, r.segment, r.shelf
	d.countSegment(i)
	return i
}

// countSegment counts a new classic segment, block i.
func (d *device) countSegment(i uint32) {
	b := &d.blocks[i]
	s := d.shelves[b.shelf]
	d.gain(s, b.size)
	d.raise(segmentCount, s.statPool(), 1)
	d.scalars.deviceAllocs++
	if b.size >= d.maxSplit {
		d.scalars.oversizeSegments.add(1)
	}
}

// shouldSplit mirrors should_split.
func (d *device) shouldSplit(r *request, size unit.Bytes) bool {
	rest := size - r.size
	if r.small || r.expandable || d.splitByOption && d.expandable {
		return rest >= minBlock
	}
	return r.size < d.maxSplit && rest > smallLimit
}

// handOut gives block i, which is in no free set, to the request and returns
// the index of the block handed out. Mirrors alloc_found_block.
func (d *device) handOut(r *request, i uint32) uint32 {
	pool := largePool
	if r.small {
		pool = smallPool
	}
	return d.cut(i, r.asked, r.size, d.shouldSplit(r, d.blocks[i].size), pool)
}

// cut hands out block i, or the first size bytes of it.
func (d *device) cut(i uint32, asked, size unit.Bytes, part bool, pool int) uint32 {
	b := &d.blocks[i]
	split, classic := b.split(), b.extent == 0
	if part {
		rest := i
		i = d.newBlock()
		b = &d.blocks[i]
		o := &d.blocks[rest]
		b.addr, b.size, b.shelf, b.extent = o.addr, size, o.shelf, o.extent
		d.splice(o.prev, i, rest)
		o.addr += uint64(size)
		o.size -= size
		d.put(rest)
		if classic && split {
			d.change(inactiveSplitBytes, pool, -size)
		} else if classic {
			d.raise(inactiveSplitBytes, pool, o.size)
			d.raise(inactiveSplit, pool, 1)
		}
	} else if split && classic {
		d.change(inactiveSplitBytes, pool, -b.size)
		d.change(inactiveSplit, pool, -1)
	}
	b.state, b.requested = live, asked
	d.handed(b, pool)
	return i
}
