package oomlog

import (
	"bytes"
	"hash/maphash"
)

// A crash that is tried again and again prints its message thousands of times,
// with the same numbers or with others. Lines that read as those of messages
// that were read already are counted, and not read again.
//
// A line is compared from the first words on that a message may begin with: what
// stands before are clocks and ranks.
type repeats struct {
	seed    maphash.Seed
	copies  map[uint64]*Message // by the line
	shapes  map[uint64]*Kind    // of the messages, by the line without its numbers
	nothing map[uint64]int      // by the same: how often the line was none
	pending []pending           // of the open window
}

// A pending line may turn out to be a message.
type pending struct {
	offset        int64 // of the line
	exact, shaped uint64
}

// How many copies of a message are read whole where few lines stand before it,
// and how many lines that turn out to be none.
const (
	leastRead    = 8
	leastNothing = 64
	// mostShapes bounds what is kept of a log whose lines all differ.
	mostShapes = 1 << 14
)

func newRepeats() *repeats {
	return &repeats{seed: maphash.MakeSeed(), copies: map[uint64]*Message{}, shapes: map[uint64]*Kind{}, nothing: map[uint64]int{}}
}

// at is a line from its first words on; its numbers are taken out for shaped.
func (r *repeats) at(offset int64, line []byte) pending {
	var exact, shaped maphash.Hash
	exact.SetSeed(r.seed)
	shaped.SetSeed(r.seed)
	_, _ = exact.Write(line) // it never fails
	for len(line) > 0 {
		n := 0
		for n < len(line) && !isDigit(line[n]) {
			n++
		}
		_, _ = shaped.Write(line[:n])
		for n < len(line) && isDigit(line[n]) {
			n++
		}
		line = line[n:]
	}
	return pending{offset, exact.Sum64(), shaped.Sum64()}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// known reports whether a line needs no reading: it is a copy, it differs from
// others only in its numbers and there are enough of them, or it is none.
func (r *repeats) known(c *collector, p pending) bool {
	if m := r.copies[p.exact]; m != nil {
		return m.Count >= leastRead || len(m.Before) >= linesBefore/4
	}
	if k := r.shapes[p.shaped]; k != nil {
		return c.full(k)
	}
	return r.nothing[p.shaped] >= leastNothing
}

// count counts a line that is known. whole is the line with what stands before
// its first words.
func (r *repeats) count(c *collector, p pending, whole []byte) {
	m := r.copies[p.exact]
	switch {
	case m != nil:
		m.last = p.offset
		m.Count++
		if _, rank := unprefixed(plain(dockerLine(whole))); rank >= 0 {
			m.onRank(rank)
		}
	case r.shapes[p.shaped] != nil:
		c.log.Dropped++
	}
}

// learn keeps what the lines of a window turned out to be. Those from until on
// come again.
func (r *repeats) learn(c *collector, until int64) {
	later := r.pending[:0]
	for _, p := range r.pending {
		is, told := c.told[p.offset]
		switch {
		case p.offset >= until:
			later = append(later, p)
		case told && is == nil || c.inside(p.offset):
			delete(r.nothing, p.shaped)
		case len(r.shapes)+len(r.copies)+len(r.nothing) > mostShapes:
		case !told:
			if r.shapes[p.shaped] == nil {
				r.nothing[p.shaped]++
			}
		default:
			r.shapes[p.shaped] = is.Kind
			delete(r.nothing, p.shaped)
			if is.Count > 0 {
				r.copies[p.exact] = is
			}
		}
	}
	r.pending = later
	clear(c.told)
	c.long = c.long[:0]
}

// lineAround returns where the line of b[at] begins and ends. It is not whole
// when its end is not there yet. It looks back no further than sizeBefore.
func lineAround(b []byte, at int) (from, to int, whole bool) {
	from = max(0, at-sizeBefore)
	for _, c := range []byte("\n\r") {
		from += 1 + bytes.LastIndexByte(b[from:at], c)
	}
	to = len(b)
	for _, c := range []byte("\n\r") {
		if n := bytes.IndexByte(b[at:to], c); n >= 0 {
			to, whole = at+n, true
		}
	}
	return from, to, whole
}
