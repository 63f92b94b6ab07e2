package alloc

import "github.com/plimsoll-dev/plimsoll/unit"

// A block is a piece of a segment. Blocks live in one dense slice per device
// and name each other by index; index 0 is no block. A block fills a cache
// line.
type block struct {
	addr      uint64
	size      unit.Bytes
	requested unit.Bytes
	born      uint32 // of a free block: calls of its pool when it became free
	prev      uint32 // neighbours in address order, in the same segment
	next      uint32
	left      uint32 // children in the tree of a bin, while it is free
	right     uint32
	parent    uint32
	shelf     uint32 // pool and stream
	extent    uint32 // the expandable segment it is part of, 0 for classic ones
	state     state
	unmapped  bool
	events    uint16 // cross-stream uses that are not over
	owner     uint32 // the tape's block plus 1, in a replay
}

// A state says who holds a block.
type state uint8

const (
	free    state = iota // in the free set, or unmapped
	live                 // handed out
	pending              // given up, but another stream may still use it
	vacant               // the slot holds no block
)

// newBlock returns the index of a zeroed block; slots are used again, last
// freed first.
func (d *device) newBlock() uint32 {
	if n := len(d.slots); n > 0 {
		i := d.slots[n-1]
		d.slots = d.slots[:n-1]
		d.blocks[i] = block{}
		return i
	}
	d.blocks = append(d.blocks, block{})
	return uint32(len(d.blocks) - 1)
}

func (d *device) dropBlock(i uint32) {
	d.blocks[i].state = vacant
	d.slots = append(d.slots, i)
}

// split reports whether the block has a neighbour in its segment.
func (b *block) split() bool { return b.prev != 0 || b.next != 0 }

// splice puts block i between two others.
func (d *device) splice(before, i, after uint32) {
	d.blocks[i].prev, d.blocks[i].next = before, after
	if before != 0 {
		d.blocks[before].next = i
	}
	if after != 0 {
		d.blocks[after].prev = i
	}
}

// idle reports whether a neighbour can be merged with or mapped into: it
// exists, nobody holds it and no event is outstanding.
func (d *device) idle(i uint32) bool { return i != 0 && d.blocks[i].state == free }
