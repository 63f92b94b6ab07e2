package alloc

import (
	"math/bits"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// A shelf holds the free blocks of one pool and one stream in the order of
// PyTorch's set: by size, then by address. PyTorch keeps one tree for all
// streams of a pool, whose first key is the stream; a search never leaves
// the stream, so one shelf for each stream is the same.
//
// Blocks lie in bins by size, with a bit for each bin that is not empty, so
// that a search is two bit scans. A bin spans 1/128 of its size (512 bytes
// below 128 KiB); in a bin the blocks form a treap.
type shelf struct {
	summary  uint64 // one bit for each word of filled
	filled   [binWords]uint64
	roots    [bins]uint32
	unmapped []uint32 // unmapped blocks of expandable segments, by address
	pool     *pool
	stream   uint64 // handle
	small    bool
}

const (
	stepBits  = 7 // bins for each doubling of the size: 2^7
	maxOctave = 27
	bins      = maxOctave<<stepBits + 2<<stepBits
	binWords  = bins / 64
)

// binOf returns the bin for blocks of the given size; it never falls when
// the size grows.
func binOf(size unit.Bytes) int {
	u := uint64(size) >> 9
	if u < 2<<stepBits {
		return int(u)
	}
	octave := bits.Len64(u) - stepBits - 1
	if octave > maxOctave {
		return bins - 1
	}
	return octave<<stepBits + int(u>>octave)
}

// filledFrom returns the first bin from i on that is not empty, or -1.
func (s *shelf) filledFrom(i int) int {
	if i >= bins {
		return -1
	}
	word := i >> 6
	if rest := s.filled[word] >> (i & 63); rest != 0 {
		return i + bits.TrailingZeros64(rest)
	}
	rest := s.summary >> (word + 1) // a shift by 64 gives 0
	if rest == 0 {
		return -1
	}
	word += 1 + bits.TrailingZeros64(rest)
	return word<<6 + bits.TrailingZeros64(s.filled[word])
}

// filledUpTo returns the last bin up to i that is not empty, or -1.
func (s *shelf) filledUpTo(i int) int {
	word := i >> 6
	if rest := s.filled[word] << (63 - i&63); rest != 0 {
		return i - bits.LeadingZeros64(rest)
	}
	rest := s.summary & (1<<word - 1)
	if rest == 0 {
		return -1
	}
	word = bits.Len64(rest) - 1
	return word<<6 + bits.Len64(s.filled[word]) - 1
}

// put adds a free block to its shelf.
func (d *device) put(i uint32) { d.putOn(d.shelves[d.blocks[i].shelf], i) }

func (d *device) putOn(s *shelf, i uint32) {
	b := &d.blocks[i]
	b.state = free
	if d.clocked {
		b.born = uint32(s.pool.calls)
	}
	n := binOf(b.size)
	if root := s.roots[n]; root == 0 {
		b.left, b.right, b.parent = 0, 0, 0
		s.roots[n] = i
		s.filled[n>>6] |= 1 << (n & 63)
		s.summary |= 1 << (n >> 6)
		return
	}
	d.insert(&s.roots[n], i)
}

// take removes a free block from its shelf.
func (d *device) take(i uint32) { d.takeFrom(d.shelves[d.blocks[i].shelf], i) }

func (d *device) takeFrom(s *shelf, i uint32) {
	b := &d.blocks[i]
	n := binOf(b.size)
	if s.roots[n] != i || b.left|b.right != 0 {
		d.remove(&s.roots[n], i)
		if s.roots[n] != 0 {
			return
		}
	}
	s.clear(n)
}

// atLeast returns the smallest block of at least the given size, the lowest
// address first; 0 when there is none.
func (d *device) atLeast(s *shelf, size unit.Bytes) uint32 {
	n := s.filledFrom(binOf(size))
	if n < 0 {
		return 0
	}
	if n == binOf(size) {
		if i := d.lowerBound(s.roots[n], size, 0); i != 0 {
			return i
		}
		if n = s.filledFrom(n + 1); n < 0 {
			return 0
		}
	}
	return d.leftmost(s.roots[n])
}

// pull takes the best free block of at least the given size off the shelf, 0
// when there is none.
func (d *device) pull(s *shelf, size unit.Bytes) uint32 {
	n := s.filledFrom(binOf(size))
	if n < 0 {
		return 0
	}
	i := s.roots[n]
	b := &d.blocks[i]
	if b.left|b.right == 0 && b.size >= size && b.extent == 0 { // alone in its bin, as nearly always
		s.clear(n)
		return i
	}
	if i = d.atLeast(s, size); i == 0 {
		return 0
	}
	if d.blocks[i].extent != 0 {
		if i = d.searchExpandable(s, i, d.expandable); i == 0 {
			return 0
		}
	}
	d.takeFrom(s, i)
	return i
}

// clear empties a bin that holds one block.
func (s *shelf) clear(n int) {
	s.roots[n] = 0
	if s.filled[n>>6] &^= 1 << (n & 63); s.filled[n>>6] == 0 {
		s.summary &^= 1 << (n >> 6)
	}
}

// after returns the block that follows block i in the order of the shelf.
func (d *device) after(s *shelf, i uint32) uint32 {
	b := &d.blocks[i]
	n := binOf(b.size)
	if j := d.lowerBound(s.roots[n], b.size, b.addr+1); j != 0 {
		return j
	}
	if n = s.filledFrom(n + 1); n < 0 {
		return 0
	}
	return d.leftmost(s.roots[n])
}

// below returns the last block that is smaller than the given size, or that
// size and below the given address; 0 when there is none.
func (d *device) below(s *shelf, size unit.Bytes, addr uint64) uint32 {
	n := s.filledUpTo(binOf(size))
	if n < 0 {
		return 0
	}
	if n == binOf(size) {
		if i := d.upperBound(s.roots[n], size, addr); i != 0 {
			return i
		}
		if n == 0 {
			return 0
		}
		if n = s.filledUpTo(n - 1); n < 0 {
			return 0
		}
	}
	return d.rightmost(s.roots[n])
}

// all appends the free blocks of a shelf to list, in order.
func (d *device) all(s *shelf, list []uint32) []uint32 {
	for n := s.filledFrom(0); n >= 0; n = s.filledFrom(n + 1) {
		list = d.walk(s.roots[n], list)
	}
	return list
}
