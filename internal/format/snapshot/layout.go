package snapshot

import (
	"cmp"
	"slices"
)

// A layout is the state before the first event: spans that do not overlap,
// with their blocks.
type layout struct {
	spans   []span
	orphans int // blocks that no span holds; each got one of its own
	clashes int // spans and blocks that overlap others, cut short or left out
}

// lay works out the state before the first event. Where a block's size is
// not known, it follows from the request and the block behind it.
func (l *ledger) lay(final []segment, r rounding, complete bool) layout {
	var out layout
	spans := l.spans(final)
	if !complete {
		spans = l.touched(spans)
	}
	out.spans = disjoint(spans, &out.clashes)
	blocks := l.priors(final, complete)
	slices.SortFunc(blocks, func(a, b prior) int { return cmp.Compare(a.addr, b.addr) })
	out.place(blocks, r)
	l.guessPools(out.spans, r)
	starts := l.starts()
	for i := range out.spans {
		out.clashes += out.spans[i].fit(r, starts)
	}
	return out
}

// starts are the entries of blocks that an event made, by rising address.
func (l *ledger) starts() []*entry {
	var out []*entry
	for _, e := range l.blocks {
		if e.madeFirst() {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int { return cmp.Compare(a.first.addr, b.first.addr) })
	return out
}

// disjoint leaves out spans that overlap an earlier one.
func disjoint(sorted []span, left *int) []span {
	out := sorted[:0]
	for _, s := range sorted {
		if n := len(out); s.end() <= s.addr || n > 0 && s.addr < out[n-1].end() {
			*left++
			continue
		}
		out = append(out, s)
	}
	return out
}

// place puts sorted blocks into the spans that hold them.
func (o *layout) place(blocks []prior, r rounding) {
	var lone []span
	for i, b := range blocks {
		if i > 0 && blocks[i-1].addr == b.addr {
			o.clashes++
			continue
		}
		if n := spanAt(o.spans, b.addr); n >= 0 {
			o.spans[n].blocks = append(o.spans[n].blocks, b)
			continue
		}
		o.orphans++
		lone = append(lone, span{
			addr: b.addr, size: max(b.size, r.block(b.requested)), stream: b.stream, pool: b.pool,
			small: r.block(b.requested) <= smallLimit, known: true, blocks: []prior{b},
		})
	}
	if len(lone) == 0 {
		return
	}
	o.spans = append(o.spans, lone...)
	slices.SortFunc(o.spans, func(a, b span) int { return cmp.Compare(a.addr, b.addr) })
	for i := range o.spans[1:] {
		// A lone block ends at the latest where the next span begins.
		o.spans[i].size = min(o.spans[i].size, o.spans[i+1].addr-o.spans[i].addr)
	}
	if last := &o.spans[len(o.spans)-1]; last.end() < last.addr {
		last.size = -last.addr
	}
}

// fit gives each block of a span its size and returns how many had to be cut
// short.
func (s *span) fit(r rounding, starts []*entry) (cut int) {
	for i := range s.blocks {
		b := &s.blocks[i]
		limit := s.end() - b.addr
		if i+1 < len(s.blocks) {
			limit = s.blocks[i+1].addr - b.addr
		}
		if b.size == 0 {
			b.size = s.sizeOf(b, limit, r, starts)
		}
		if b.size > limit {
			b.size = limit
			cut++
		}
	}
	return cut
}

// sizeOf works out the size of a block that ends within limit bytes. In a
// driver allocation of the large pool a remainder of at most 1 MiB is not
// split off, so that such a gap belongs to the block before it, and a larger
// gap may begin with one. Elsewhere everything from 512 bytes on is split
// off.
func (s *span) sizeOf(b *prior, limit uint64, r rounding, starts []*entry) uint64 {
	size := r.block(b.requested)
	switch {
	case size > limit || s.expandable || s.small:
		return size
	case size >= r.maxSplit:
		return s.end() - b.addr
	case limit-size <= smallLimit:
		return limit
	}
	// The first block that is cut from the free memory behind this one
	// begins where this one ends.
	i, _ := slices.BinarySearchFunc(starts, b.addr+size, func(e *entry, a uint64) int { return cmp.Compare(e.first.addr, a) })
	for ; i < len(starts) && starts[i].first.addr-b.addr <= size+smallLimit; i++ {
		if starts[i].index < b.freed {
			return starts[i].first.addr - b.addr
		}
	}
	return size
}

// guessPools says which spans belong to the small pool when the file does
// not: by a request that was served from it, else by its size.
func (l *ledger) guessPools(spans []span, r rounding) {
	served := make([]bool, len(spans))
	for addr, e := range l.blocks {
		if i := spanAt(spans, addr); i >= 0 && !spans[i].known && !served[i] {
			served[i] = true
			spans[i].small = r.block(e.first.size) <= smallLimit
		}
	}
	for i := range spans {
		s := &spans[i]
		switch {
		case s.known || served[i]:
		case s.expandable:
			s.small = s.size%largePage != 0
		default:
			s.small = s.size == smallSegment
		}
	}
}

// touched are the spans in which an event happens.
func (l *ledger) touched(spans []span) []span {
	used := make([]bool, len(spans))
	for addr := range l.blocks {
		if i := spanAt(spans, addr); i >= 0 {
			used[i] = true
		}
	}
	out := spans[:0:0]
	for i, s := range spans {
		if used[i] || !s.known {
			out = append(out, s)
		}
	}
	return out
}

// spanAt returns the index of the span that holds an address, -1 when none
// does.
func spanAt(spans []span, addr uint64) int {
	i, found := slices.BinarySearchFunc(spans, addr, func(s span, a uint64) int { return cmp.Compare(s.addr, a) })
	if !found {
		i--
	}
	if i < 0 || addr-spans[i].addr >= spans[i].size {
		return -1
	}
	return i
}
