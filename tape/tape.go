// Package tape holds what a program did to GPU memory: an ordered list of
// allocations, frees and driver calls, with who made them and when.
//
// A Tape stores sizes as the operators asked for them. What the allocator
// made of them, block sizes and segments, is computed by replaying the tape;
// the segment events on a recorded tape are what really happened and serve to
// check such a replay.
//
// A Tape is not safe for writing from several goroutines. It draws nothing
// and knows no file format but its own.
package tape

import "github.com/plimsoll-dev/plimsoll/unit"

// A Tape is an ordered list of events stored by column. The zero value is an
// empty tape that is ready to use.
//
// An event and its share of the block table take 32 bytes at most, so
// 100 million events fit into 3 GB. A tape holds fewer than 2^31 blocks and
// fewer than 2^32 events, on at most 4,096 pairs of device and stream.
type Tape struct {
	// Marks are notes between events, sorted by Event.
	Marks []Mark
	// Initial are the segments and blocks that existed before event 0. Use
	// AddInitial to add to it, so that the blocks get their ids.
	Initial []Segment
	// Meta says how the tape was made; the keys are listed in
	// docs/tape-format.md.
	Meta map[string]string

	ops   column[uint8]  // Kind and Phase
	refs  column[uint32] // block id, or index into the asides for kinds without a block
	sites column[uint32]
	times column[uint32] // offset from the base of its chunk
	bases []int64        // one a chunk of times; microseconds since the epoch

	blocks blockTable
	asides asideTable

	wide    wideTable
	windows windowTable
	lanes   laneTable
	frames  frameTable
	names   siteTable
	streams streamTable
}

// Len returns the number of events.
func (t *Tape) Len() int { return t.ops.len() }

// Blocks returns the number of blocks; ids are 0 to Blocks()-1.
func (t *Tape) Blocks() int { return t.blocks.len() }

// Event returns event i, which must be in [0, Len()). The bytes, address,
// stream and category of a free are those of its block.
func (t *Tape) Event(i int) Event {
	op, ref := t.ops.at(i), t.refs.at(i)
	e := Event{
		Kind:  Kind(op & kindMask),
		Phase: Phase(op >> kindBits),
		Site:  SiteID(t.sites.at(i)),
		Time:  t.time(i),
		Block: NoBlock,
	}
	if e.Kind.HasBlock() {
		e.Block = BlockID(ref)
		e.Bytes = t.wide.size(t.blocks.bytes.at(int(ref)))
		e.Addr = t.windows.address(t.blocks.addrs.at(int(ref)), &t.wide)
		e.Device, e.Stream = t.lanes.at(t.blocks.lane(int(ref)))
		e.Category = t.blocks.category(int(ref))
		return e
	}
	e.Bytes = t.wide.size(t.asides.bytes.at(int(ref)))
	e.Addr = t.windows.address(t.asides.addrs.at(int(ref)), &t.wide)
	e.Device, e.Stream = t.lanes.at(t.asides.lanes.at(int(ref)))
	return e
}

// Kind returns the kind of event i. With BlockOf and Request it is the way
// for those who walk over millions of events.
func (t *Tape) Kind(i int) Kind { return Kind(t.ops.at(i) & kindMask) }

// PhaseOf returns the phase in which event i happened.
func (t *Tape) PhaseOf(i int) Phase { return Phase(t.ops.at(i) >> kindBits) }

// SiteOf returns the stack of event i.
func (t *Tape) SiteOf(i int) SiteID { return SiteID(t.sites.at(i)) }

// BlockOf returns the block of event i, which must be of a kind that has one.
func (t *Tape) BlockOf(i int) BlockID { return BlockID(t.refs.at(i)) }

// Request returns what was asked for when block b was allocated.
func (t *Tape) Request(b BlockID) (bytes unit.Bytes, device uint8, stream StreamID) {
	device, stream = t.lanes.at(t.blocks.lane(int(b)))
	return t.wide.size(t.blocks.bytes.at(int(b))), device, stream
}

// Block returns block b, which must be below Blocks().
func (t *Tape) Block(b BlockID) Block {
	n := int(b)
	out := Block{
		Bytes:    t.wide.size(t.blocks.bytes.at(n)),
		Addr:     t.windows.address(t.blocks.addrs.at(n), &t.wide),
		Category: t.blocks.category(n),
		Alloc:    eventIndex(t.blocks.allocs.at(n)),
		Free:     eventIndex(t.blocks.frees.at(n)),
	}
	out.Device, out.Stream = t.lanes.at(t.blocks.lane(n))
	if out.Alloc >= 0 {
		out.Site = SiteID(t.sites.at(out.Alloc))
		out.Phase = Phase(t.ops.at(out.Alloc) >> kindBits)
		return out
	}
	out.Site = t.blocks.initialSites[b]
	return out
}

// SetCategory says what block b holds.
func (t *Tape) SetCategory(b BlockID, c Category) { t.blocks.setCategory(int(b), c) }

// SetPhase says in which phase event i happened.
func (t *Tape) SetPhase(i int, p Phase) {
	t.ops.set(i, t.ops.at(i)&kindMask|uint8(p)<<kindBits)
}

// SetMeta records how the tape was made.
func (t *Tape) SetMeta(key, value string) {
	if t.Meta == nil {
		t.Meta = map[string]string{}
	}
	t.Meta[key] = value
}

func eventIndex(v uint32) int {
	if v == noEvent {
		return -1
	}
	return int(v)
}
