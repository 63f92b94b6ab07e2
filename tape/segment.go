package tape

import "github.com/plimsoll-dev/plimsoll/unit"

// A State says whether a piece of a segment is in use.
type State uint8

// The states. The numbers are written to files: never reuse one.
const (
	Inactive    State = iota // free, in the cache
	Active                   // in use
	PendingFree              // given up, but another stream may still use it
	states
)

var stateNames = [states]string{"inactive", "active", "pending_free"}

// String returns the state's name, "pending_free".
func (s State) String() string { return name(stateNames[:], int(s), "state") }

// A Segment is memory that the allocator holds from the driver: one driver
// allocation, or one run of mapped pages of an expandable segment.
type Segment struct {
	Addr       uint64
	Bytes      unit.Bytes
	Device     uint8
	Stream     StreamID
	Small      bool      // of the small pool
	Expandable bool      // mapped pages of a reserved range
	Pool       [2]uint64 // id of the private pool, {0, 0} for the default pool
	Site       SiteID    // who made the allocator ask for it
	Blocks     []SegmentBlock
}

// A SegmentBlock is a piece of a segment. The pieces follow each other and
// fill the segment.
type SegmentBlock struct {
	Addr      uint64
	Bytes     unit.Bytes // block size, after rounding
	Requested unit.Bytes // what the operator asked for; 0 when inactive
	State     State
	Block     BlockID // NoBlock when inactive
	Site      SiteID
}

// AddInitial adds a segment that existed before event 0 and gives ids to its
// blocks in use whose Block is NoBlock. It must come before the first
// Append, because the ids of initial blocks are the lowest; afterwards it
// does nothing and reports false.
func (t *Tape) AddInitial(s Segment) bool {
	if t.Len() > 0 {
		return false
	}
	lane, ok := t.lanes.intern(s.Device, s.Stream)
	if !ok {
		return false
	}
	blocks := make([]SegmentBlock, len(s.Blocks))
	copy(blocks, s.Blocks)
	for i := range blocks {
		b := &blocks[i]
		if b.State == Inactive {
			b.Block = NoBlock
			continue
		}
		b.Block = t.appendBlock(b.Requested, b.Addr, lane, Unknown, noEvent)
		if b.Site != 0 {
			if t.blocks.initialSites == nil {
				t.blocks.initialSites = map[BlockID]SiteID{}
			}
			t.blocks.initialSites[b.Block] = b.Site
		}
	}
	s.Blocks = blocks
	t.Initial = append(t.Initial, s)
	return true
}

func (t *Tape) appendBlock(bytes unit.Bytes, addr uint64, lane uint16, c Category, alloc uint32) BlockID {
	return t.blocks.append(t.wide.sizeCell(bytes), t.windows.cell(addr, &t.wide), lane, c, alloc)
}
