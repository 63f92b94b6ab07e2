package snapshot

import (
	"cmp"
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A span is memory that the allocator held before the first event: a driver
// allocation or a run of mapped pages.
type span struct {
	addr, size uint64
	stream     uint64
	pool       [2]uint64
	stack      uint32
	small      bool
	expandable bool
	known      bool // from the state at the end, small included
	blocks     []prior
}

func (s *span) end() uint64 { return s.addr + s.size }

func spanOf(s *segment) span {
	return span{
		addr: s.addr, size: s.size, stream: s.stream, pool: s.pool, stack: s.stack,
		small: s.small, expandable: s.expandable, known: true,
	}
}

// spans are the spans before the first event, sorted by address.
func (l *ledger) spans(final []segment) []span {
	var out []span
	for _, e := range l.segments {
		if !e.madeFirst() {
			f := e.first
			out = append(out, span{addr: f.addr, size: f.size, stream: f.stream, pool: f.pool, stack: f.stack})
		}
	}
	for i := range final {
		if s := &final[i]; !s.expandable && l.segments[s.addr] == nil {
			out = append(out, spanOf(s))
		}
	}
	out = append(out, l.mappedSpans(final)...)
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.addr, b.addr) })
	return out
}

// A cell is a stretch of addresses that every event maps or unmaps as a
// whole.
type cell struct {
	addr   uint64
	mapped bool
	final  int // index of the final segment that it is taken from, -1 when an event says so
	event  int // index of the event that says so
}

// mappedSpans are the runs of mapped pages before the first event. The first
// event about a cell decides: what it maps was not mapped, what it unmaps
// was. Cells that no event is about are as at the end.
func (l *ledger) mappedSpans(final []segment) []span {
	cells := l.cells(final)
	if len(cells) == 0 {
		return nil
	}
	find := func(addr uint64) int {
		i, _ := slices.BinarySearchFunc(cells, addr, func(c cell, a uint64) int { return cmp.Compare(c.addr, a) })
		return i
	}
	next := open(len(cells)) // cells that are in no segment of the end
	for i := range final {
		if s := &final[i]; s.expandable {
			for c := root(next, find(s.addr)); c < len(cells) && cells[c].addr < s.addr+s.size; c = root(next, c) {
				cells[c].mapped, cells[c].final = true, i
				next[c] = c + 1
			}
		}
	}
	next = open(len(cells)) // cells that no event was about
	for i, e := range l.ranges {
		for c := root(next, find(e.addr)); c < len(cells) && cells[c].addr < e.addr+e.size; c = root(next, c) {
			cells[c].mapped, cells[c].final, cells[c].event = e.kind == tape.SegmentUnmap, -1, i
			next[c] = c + 1
		}
	}
	return l.runs(cells, final)
}

// cells cuts the addresses at every border of a range. The last cell is
// where the last range ends, and never mapped.
func (l *ledger) cells(final []segment) []cell {
	var borders []uint64
	for i := range final {
		if s := &final[i]; s.expandable {
			borders = append(borders, s.addr, s.addr+s.size)
		}
	}
	for _, e := range l.ranges {
		borders = append(borders, e.addr, e.addr+e.size)
	}
	slices.Sort(borders)
	borders = slices.Compact(borders)
	cells := make([]cell, len(borders))
	for i, b := range borders {
		cells[i] = cell{addr: b, final: -1}
	}
	return cells
}

// open returns a list of n cells, and one behind them, that are all open.
func open(n int) []int {
	next := make([]int, n+1)
	for i := range next {
		next[i] = i
	}
	return next
}

// root finds the first cell from i on that is still open and shortens the
// way to it.
func root(next []int, i int) int {
	for next[i] != i {
		next[i] = next[next[i]]
		i = next[i]
	}
	return i
}

// runs joins mapped cells that lie side by side. Pages that an event unmaps
// later belong to the range beside them; two segments of the end stay two.
func (l *ledger) runs(cells []cell, final []segment) []span {
	var out []span
	last := -1 // final segment of the open run
	for i := 0; i+1 < len(cells); i++ {
		c := cells[i]
		if !c.mapped {
			continue
		}
		size := cells[i+1].addr - c.addr
		var s span
		if c.final >= 0 {
			s = spanOf(&final[c.final])
		} else {
			e := l.ranges[c.event]
			s = span{stream: e.stream, pool: e.pool, stack: e.stack, expandable: true}
		}
		s.addr, s.size = c.addr, size
		if n := len(out) - 1; n >= 0 && out[n].end() == c.addr && out[n].stream == s.stream && (c.final < 0 || last < 0 || last == c.final) {
			if s.known {
				out[n].small, out[n].pool, out[n].known = s.small, s.pool, true
			}
			out[n].size += size
		} else {
			out = append(out, s)
			last = -1
		}
		if c.final >= 0 {
			last = c.final
		}
	}
	return out
}
