package alloc

import "github.com/plimsoll-dev/plimsoll/unit"

// releaseBlock gives a whole classic segment, free block i, back to the
// driver. Mirrors release_block.
func (d *device) releaseBlock(i uint32) {
	b := &d.blocks[i]
	s := d.shelves[b.shelf]
	d.driver.free(b.addr, b.size)
	d.scalars.deviceFrees++
	if s.pool.private != nil {
		s.pool.private.segments--
	}
	d.lose(s, b.size)
	d.lower(segmentCount, s.statPool(), 1)
	if b.size >= d.maxSplit {
		d.scalars.oversizeSegments.current--
	}
	d.take(i)
	d.dropBlock(i)
}

// releaseAvailable gives back just enough oversize segments for a request,
// if there is a split limit. Mirrors release_available_cached_blocks.
func (d *device) releaseAvailable(r *request) bool {
	if d.maxSplit == noSplitLimit && d.settings.MaxSplit == 0 {
		return false
	}
	s := d.shelves[r.shelf]
	need := max(r.size, d.maxSplit)
	if i := d.atLeast(s, need); i != 0 {
		if d.blocks[i].extent == 0 {
			d.releaseBlock(i)
		}
		return true
	}
	var sum unit.Bytes
	for i := d.below(s, need, 0); i != 0 && sum < need && d.blocks[i].size >= d.maxSplit; {
		b := d.blocks[i]
		before := d.below(s, b.size, b.addr)
		if b.extent == 0 {
			sum += b.size
			d.releaseBlock(i)
		}
		i = before
	}
	return sum >= need
}

// releaseCached gives back everything that is free and whole, after waiting
// for all streams. Mirrors release_cached_blocks.
func (d *device) releaseCached() {
	d.synchronize()
	d.releasePool(d.pools[1])
	d.releasePool(d.pools[0])
	d.releasePrivate()
}

// emptyCache is torch.cuda.empty_cache. During a capture the newest versions
// leave the default pools alone.
func (d *device) emptyCache() {
	if !d.capturing {
		d.releaseCached()
	}
}

// releasePrivate gives back the private pools that nobody uses any more.
func (d *device) releasePrivate() {
	kept := d.privates[:0]
	for _, p := range d.privates {
		if p.uses == 0 {
			d.releasePool(p.halves[0])
			d.releasePool(p.halves[1])
			if p.segments <= 0 && d.bare(p) {
				continue
			}
		}
		kept = append(kept, p)
	}
	d.privates = kept
}

// bare reports whether no block refers to a private pool.
func (d *device) bare(p *private) bool {
	for i := range d.blocks {
		if b := &d.blocks[i]; b.shelf != 0 && b.state != vacant && d.shelves[b.shelf].pool.private == p {
			return false
		}
	}
	return true
}

// releasePool mirrors release_blocks: classic segments first, in the order
// of the set, then whole pages of expandable ones.
func (d *device) releasePool(p *pool) {
	list := d.freeBlocks(p, d.scratch[:0])
	d.scratch = list
	for _, i := range list {
		if b := &d.blocks[i]; b.extent == 0 && !b.split() {
			d.releaseBlock(i)
		}
	}
	for _, i := range list {
		if b := &d.blocks[i]; b.state == free && b.extent != 0 {
			d.unmapBlock(i)
		}
	}
}

// age is how many searches ago a free block became free. The clock is kept in
// 32 bits.
func (p *pool) age(b *block) float64 { return float64(uint32(p.calls) - b.born) }

// collectGarbage frees whole large segments that were not used for long,
// until what is held is below the threshold. Mirrors
// garbage_collect_cached_blocks.
func (d *device) collectGarbage() {
	threshold := unit.Bytes(d.settings.GCThreshold * float64(d.limit))
	if d.reserved <= threshold {
		return
	}
	target := d.reserved - threshold
	p := d.pools[1]
	list := d.freeBlocks(p, d.scratch[:0])
	d.scratch = list
	var age float64
	count := 0
	for _, i := range list {
		if b := &d.blocks[i]; !b.split() {
			age += p.age(b)
			count++
		}
	}
	var sum unit.Bytes
	found := true
	for sum < target && found && count > 0 {
		mean := age / float64(count)
		found = false
		rest := list[:0]
		for _, i := range list {
			b := &d.blocks[i]
			if old := p.age(b); !b.split() && b.extent == 0 && old >= mean {
				found = true
				sum += b.size
				age -= old
				count--
				d.releaseBlock(i)
			} else {
				rest = append(rest, i)
			}
		}
		list = rest
	}
}
