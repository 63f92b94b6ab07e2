package alloc

import "github.com/plimsoll-dev/plimsoll/unit"

// giveUp is the program's free of block i: what the user sees as allocated
// drops at once; the block itself goes back when no other stream uses it.
// Mirrors DeviceCachingAllocator::free.
func (d *device) giveUp(i uint32) {
	d.countGivenUp(i)
	if len(d.uses) > 0 && len(d.uses[i]) > 0 {
		d.blocks[i].state = pending
		if d.capturing {
			d.deferred = append(d.deferred, i)
		} else {
			d.insertEvents(i)
		}
		return
	}
	d.freeBlock(i)
}

func (d *device) countGivenUp(i uint32) {
	b := &d.blocks[i]
	pool := d.shelves[b.shelf].statPool()
	d.lower(allocation, pool, 1)
	d.lower(allocatedBytes, pool, b.size)
	if b.size >= d.maxSplit {
		d.scalars.oversizeAllocations.current--
	}
}

// hold marks block i as given up while another stream uses it, when nobody
// but the tape knows for how long.
func (d *device) hold(i uint32) {
	d.countGivenUp(i)
	d.blocks[i].state = pending
	d.held++
}

// freeBlock puts block i into the free set, merged with its free neighbours.
// Mirrors free_block.
func (d *device) freeBlock(i uint32) {
	b := &d.blocks[i]
	pool := d.shelves[b.shelf].statPool()
	d.lower(activeCount, pool, 1)
	d.lower(activeBytes, pool, b.size)
	d.lower(requestedBytes, pool, b.requested)
	b.state, b.events = free, 0
	var count, bytes unit.Bytes
	if gone := d.merge(i, b.prev); gone > 0 {
		count--
		bytes -= gone
	}
	if gone := d.merge(i, b.next); gone > 0 {
		count--
		bytes -= gone
	}
	d.put(i)
	if b.extent != 0 {
		return
	}
	if b.split() {
		count++
		bytes += b.size
	}
	if count != 0 {
		d.change(inactiveSplit, pool, count)
	}
	if bytes != 0 {
		d.change(inactiveSplitBytes, pool, bytes)
	}
}

// merge joins neighbour j to block i, which is in no set, if both are free
// and of the same kind, and returns the size of j. Mirrors try_merge_blocks.
func (d *device) merge(i, j uint32) unit.Bytes {
	if j == 0 {
		return 0
	}
	b, o := &d.blocks[i], &d.blocks[j]
	if o.state != free || o.unmapped != b.unmapped {
		return 0
	}
	if o.unmapped {
		d.takeUnmapped(j)
	} else {
		d.take(j)
	}
	gone := o.size
	if b.prev == j {
		b.addr = o.addr
		b.prev = o.prev
		if b.prev != 0 {
			d.blocks[b.prev].next = i
		}
	} else {
		b.next = o.next
		if b.next != 0 {
			d.blocks[b.next].prev = i
		}
	}
	b.size += gone
	d.dropBlock(j)
	return gone
}
