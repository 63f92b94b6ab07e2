package tape

import "github.com/plimsoll-dev/plimsoll/unit"

// A Kind says what an event did.
type Kind uint8

// The kinds of events. The numbers are written to files: never reuse one.
const (
	Alloc         Kind = iota // an operator got a block
	FreeRequested             // the program gave the block up; another stream may still use it
	Free                      // the block went back into the cache
	SegmentAlloc              // the allocator got a segment from the driver
	SegmentFree               // the allocator gave a segment back
	SegmentMap                // pages of an expandable segment were mapped
	SegmentUnmap              // pages of an expandable segment were unmapped
	OOM                       // an allocation failed; Bytes is the rounded request, Addr what the driver had free
	Snapshot                  // a snapshot was taken; Bytes is what was active
	EmptyCache                // the program emptied the cache
	Other                     // an action this version does not know
	kinds
)

var kindNames = [kinds]string{
	"alloc", "free_requested", "free", "segment_alloc", "segment_free", "segment_map", "segment_unmap",
	"oom", "snapshot", "empty_cache", "other",
}

// String returns the kind's name, "segment_alloc".
func (k Kind) String() string { return name(kindNames[:], int(k), "kind") }

// HasBlock reports whether events of this kind name a block.
func (k Kind) HasBlock() bool { return k <= Free }

const (
	kindBits = 4
	kindMask = 1<<kindBits - 1
	noEvent  = 1<<32 - 1
)

// A BlockID names one allocation. Ids are dense: the initial blocks first,
// then one for each Alloc event in order.
type BlockID uint32

// NoBlock stands where an event or a piece of a segment has no block.
const NoBlock BlockID = 1<<32 - 1

// A StreamID names a stream; 0 is the default stream.
type StreamID uint16

// A SiteID names an interned stack; 0 is the unknown stack.
type SiteID uint32

// An Event is one action at the allocator's door.
type Event struct {
	Kind     Kind
	Device   uint8
	Stream   StreamID
	Phase    Phase
	Category Category   // of the block; Unknown for kinds without one
	Block    BlockID    // NoBlock for kinds without one
	Bytes    unit.Bytes // requested bytes of a block, or the size of a segment or range
	Addr     uint64     // device address; for an OOM the bytes that the driver had free
	Site     SiteID
	Time     int64 // microseconds since the epoch, 0 when unknown
}

// A Block is one allocation from its beginning to its end.
type Block struct {
	Bytes    unit.Bytes // requested
	Addr     uint64
	Device   uint8
	Stream   StreamID
	Site     SiteID
	Category Category
	Phase    Phase // in which it was allocated; Idle for an initial block
	Alloc    int   // index of the Alloc event, -1 for an initial block
	Free     int   // index of the event that gave it up, -1 while it lives
}
