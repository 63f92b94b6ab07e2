package alloc

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Comparison is what a recording and the simulator agree and differ on.
type Comparison struct {
	// What was compared: events of each kind, flushes, and pieces of the
	// final layout.
	Allocs, SegmentAllocs, SegmentFrees, Maps, Unmaps, OOMs, Flushes, Segments, Blocks int
	// Differences are the first ones, at most maxDifferences; Total is how
	// many there are.
	Differences []Difference
	Total       int

	// Emptied are the calls of empty_cache that the recording shows without
	// naming them, Marks the changes of pool: a replay of the tape needs both.
	Emptied []Cut
	// Retried are the requests that were served after the cache had been
	// given back right before: the allocator's own retry, or a call of
	// empty_cache that looks the same.
	Retried []Cut
	Marks   []tape.Mark
	// Devices are the levels that the recording went through, by device
	// number; they hold as far as there are no differences.
	Devices []DeviceTimeline
	// Moments are the layouts that were asked for.
	Moments []Moment
}

// A Moment is the layout of a device right after an event of a recording, at
// its own addresses.
type Moment struct {
	Event    int
	Device   int
	Level    Level
	Segments []tape.Segment
}

const maxDifferences = 20

// A Difference is one thing that the simulator did otherwise.
type Difference struct {
	Event int    // -1 for the final layout
	What  string // one sentence without a full stop
}

// String writes the difference with its place.
func (d Difference) String() string {
	if d.Event < 0 {
		return "at the end: " + d.What
	}
	return fmt.Sprintf("event %d: %s", d.Event, d.What)
}

// Equal reports whether there are no differences.
func (c *Comparison) Equal() bool { return c.Total == 0 }

func (c *Comparison) differ(event int, format string, args ...any) {
	c.Total++
	if len(c.Differences) < maxDifferences {
		c.Differences = append(c.Differences, Difference{event, fmt.Sprintf(format, args...)})
	}
}

// layout compares the segments at the end. handle tells the meaning of the
// streams of want, streams that of got.
func (c *Comparison) layout(got, want []tape.Segment, streams []uint64, handle func(tape.StreamID) uint64) {
	byAddr := map[uint64]*tape.Segment{}
	for i := range got {
		byAddr[got[i].Addr] = &got[i]
	}
	for i := range want {
		w := &want[i]
		c.Segments++
		g := byAddr[w.Addr]
		if g == nil {
			c.differ(-1, "segment at %#x is missing", w.Addr)
			continue
		}
		delete(byAddr, w.Addr)
		if g.Bytes != w.Bytes || g.Small != w.Small || g.Expandable != w.Expandable || g.Pool != w.Pool || streams[g.Stream] != handle(w.Stream) {
			c.differ(-1, "segment at %#x is %d bytes, small %t, expandable %t, pool %v, stream %d; recorded %d, %t, %t, %v, %d", w.Addr,
				g.Bytes, g.Small, g.Expandable, g.Pool, streams[g.Stream], w.Bytes, w.Small, w.Expandable, w.Pool, handle(w.Stream))
			continue
		}
		c.blocks(g, w)
	}
	for _, g := range got {
		if byAddr[g.Addr] != nil {
			c.differ(-1, "segment at %#x with %d bytes was not recorded", g.Addr, g.Bytes)
		}
	}
}

func (c *Comparison) blocks(got, want *tape.Segment) {
	if len(got.Blocks) != len(want.Blocks) {
		c.differ(-1, "segment at %#x has %d blocks, recorded %d", want.Addr, len(got.Blocks), len(want.Blocks))
		return
	}
	for i, w := range want.Blocks {
		c.Blocks++
		g := got.Blocks[i]
		if g.Addr != w.Addr || g.Bytes != w.Bytes || g.State != w.State || w.State != tape.Inactive && (g.Requested != w.Requested || g.Block != w.Block) {
			c.differ(-1, "block at %#x is %s with %d bytes for %d, number %d; recorded %#x, %s, %d, %d, %d",
				g.Addr, g.State, g.Bytes, g.Requested, g.Block, w.Addr, w.State, w.Bytes, w.Requested, w.Block)
		}
	}
}
