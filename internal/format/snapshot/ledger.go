package snapshot

import "github.com/plimsoll-dev/plimsoll/tape"

// A ledger is what the events of one device tell about the state before
// them: whatever was given up first must have been there, and whatever was
// made first must not.
type ledger struct {
	blocks   map[uint64]*entry // by address
	segments map[uint64]*entry // driver allocations by address
	ranges   []event           // map and unmap of pages, in order
	requests bool              // some event is a free_requested
	events   int               // that were taken
}

// An entry is one address: the first event there, its index, and whether
// something is there after the last.
type entry struct {
	first event
	index int
	now   bool
}

func newLedger() *ledger {
	return &ledger{blocks: map[uint64]*entry{}, segments: map[uint64]*entry{}}
}

// take takes the next events.
func (l *ledger) take(v values, chunks []*chunk) {
	v.each(chunks, func(e event) {
		index := l.events
		l.events++
		switch e.kind {
		case tape.Alloc, tape.Free:
			note(l.blocks, e, index, e.kind == tape.Alloc)
		case tape.FreeRequested:
			note(l.blocks, e, index, true)
			l.requests = true
		case tape.SegmentAlloc, tape.SegmentFree:
			note(l.segments, e, index, e.kind == tape.SegmentAlloc)
		case tape.SegmentMap, tape.SegmentUnmap:
			l.ranges = append(l.ranges, e)
		}
	})
}

func note(entries map[uint64]*entry, e event, index int, now bool) {
	if known := entries[e.addr]; known != nil {
		known.now = now
		return
	}
	entries[e.addr] = &entry{first: e, index: index, now: now}
}

// madeFirst reports whether the first event at an address made what is
// there, so that it was not there before.
func (e *entry) madeFirst() bool {
	return e.first.kind == tape.Alloc || e.first.kind == tape.SegmentAlloc
}

// inherits reports whether an event is about a block that no event made.
func (l *ledger) inherits() bool {
	for _, e := range l.blocks {
		if !e.madeFirst() {
			return true
		}
	}
	return false
}

// A prior is a block that was there before the first event.
type prior struct {
	addr      uint64
	requested uint64
	size      uint64 // 0 when it must be worked out
	stream    uint64
	pool      [2]uint64
	state     tape.State
	stack     uint32
	freed     int // index of the event that gives it up, when its size must be worked out
}

// priors are the blocks before the first event: those that are given up
// without having been made, and those of the end that no event speaks of.
// Of a recording that ends early the end is not the end of these events, so
// that only the former are certain.
func (l *ledger) priors(final []segment, complete bool) []prior {
	var out []prior
	for _, e := range l.blocks {
		if e.madeFirst() {
			continue
		}
		state := tape.Active
		if e.first.kind == tape.Free && l.requests {
			state = tape.PendingFree // its free_requested came before
		}
		out = append(out, prior{
			addr: e.first.addr, requested: e.first.size, stream: e.first.stream, pool: e.first.pool,
			state: state, stack: e.first.stack, freed: e.index,
		})
	}
	if !complete {
		return out
	}
	for i := range final {
		s := &final[i]
		for _, b := range s.blocks {
			if b.state != tape.Inactive && l.blocks[b.addr] == nil {
				out = append(out, prior{
					addr: b.addr, requested: b.requested, size: b.size, stream: s.stream, pool: s.pool,
					state: b.state, stack: b.stack,
				})
			}
		}
	}
	return out
}

// differences counts the addresses at which the events end in another state
// than the file gives.
func (l *ledger) differences(final []segment) int {
	inUse := map[uint64]bool{}
	for i := range final {
		for _, b := range final[i].blocks {
			inUse[b.addr] = b.state != tape.Inactive
		}
	}
	n := 0
	for addr, e := range l.blocks {
		if e.now != inUse[addr] {
			n++
		}
	}
	return n
}
