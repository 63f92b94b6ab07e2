package pickle

import "math/bits"

// memoSlack is how far ahead of its count a writer may number its memo slots.
// CPython and PyTorch number them densely; old picklers began at 1.
const memoSlack = 1024

// A slots counts the memo slots that a pickle has set, which is all that is
// needed to tell a good slot number from a wild one.
type slots struct {
	sets uint64
	top  uint64 // one past the highest slot set
}

// next is the slot that MEMOIZE sets.
func (s *slots) next() uint64 {
	n := s.sets
	s.sets++
	s.top = max(s.top, s.sets)
	return n
}

// set notes an explicit slot number; false when it is wild.
func (s *slots) set(slot uint64) bool {
	if slot > s.sets+memoSlack {
		return false
	}
	s.sets++
	s.top = max(s.top, slot+1)
	return true
}

// has reports whether a slot can have been set.
func (s *slots) has(slot uint64) bool { return slot < s.top }

// A plan says which memo slots are read back, and gives those a dense
// number. Slots that are never read need no place.
type plan struct {
	read  []uint64 // one bit a slot
	ranks []uint32 // set bits before each word of read
	count int      // set bits in all
}

func (p *plan) mark(slot uint64) {
	word := int(slot >> 6)
	if word >= len(p.read) {
		p.read = append(p.read, make([]uint64, word+1-len(p.read))...)
	}
	p.read[word] |= 1 << (slot & 63)
}

// add marks what another plan has marked.
func (p *plan) add(q *plan) {
	if len(q.read) > len(p.read) {
		p.read = append(p.read, make([]uint64, len(q.read)-len(p.read))...)
	}
	for i, w := range q.read {
		p.read[i] |= w
	}
}

// keep marks a slot behind all that are marked and returns its dense number,
// -1 for one that lies before the last.
func (p *plan) keep(slot uint64) int {
	word, bit := int(slot>>6), uint64(1)<<(slot&63)
	if word+1 < len(p.read) || word < len(p.read) && p.read[word] >= bit {
		return -1
	}
	for word >= len(p.read) {
		p.read = append(p.read, 0)
		p.ranks = append(p.ranks, uint32(p.count))
	}
	p.read[word] |= bit
	p.count++
	return p.count - 1
}

// seal computes the dense numbers, after which slots can be looked up.
func (p *plan) seal() {
	p.ranks = make([]uint32, len(p.read))
	p.count = 0
	for i, w := range p.read {
		p.ranks[i] = uint32(p.count)
		p.count += bits.OnesCount64(w)
	}
}

// dense returns the number of a slot, -1 when it is never read.
func (p *plan) dense(slot uint64) int {
	word := slot >> 6
	if word >= uint64(len(p.read)) {
		return -1
	}
	w, bit := p.read[word], uint64(1)<<(slot&63)
	if w&bit == 0 {
		return -1
	}
	return int(p.ranks[word]) + bits.OnesCount64(w&(bit-1))
}
