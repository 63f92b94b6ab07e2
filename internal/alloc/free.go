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
	d.givenUp(b, d.shelves[b.shelf].statPool())
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
	s := d.shelves[b.shelf]
	pool := s.statPool()
	d.inactive(b, pool)
	b.state, b.events = free, 0
	var count, bytes unit.Bytes
	for _, j := range [2]uint32{b.prev, b.next} {
		if j == 0 || d.blocks[j].state != free {
			continue
		}
		if gone := d.mergeOn(s, i, j); gone > 0 {
			count--
			bytes -= gone
		}
	}
	d.putOn(s, i)
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

// mergeOn joins neighbour j to block i, which is in no set, if both are free
// and of the same kind, and returns the size of j. Mirrors try_merge_blocks.
func (d *device) mergeOn(s *shelf, i, j uint32) unit.Bytes {
	b, o := &d.blocks[i], &d.blocks[j]
	if o.state != free || o.unmapped != b.unmapped {
		return 0
	}
	if o.unmapped {
		d.takeUnmapped(j)
	} else {
		d.takeFrom(s, j)
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
