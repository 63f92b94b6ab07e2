package samples

import "math/bits"

// Numbers are packed by a range coder of binary decisions, each with a probability
// that follows what it was so far. Columns hold noise, of which the high bits are
// alike and the low ones are not: this takes some 5 % more than their entropy, where
// bytes through zstd took twice of it.

// A chance is the probability that a decision is 0, of 2^chanceBits. It moves by one
// part in 2^follow to what was seen.
type chance uint16

const (
	chanceBits = 12
	follow     = 5
	even       = chance(1 << (chanceBits - 1))
	narrow     = 1 << 24 // a range below this is widened by a byte
)

// seen moves the chance to what was decided.
func (c *chance) seen(bit int) {
	if bit == 0 {
		*c += (1<<chanceBits - *c) >> follow
	} else {
		*c -= *c >> follow
	}
}

// learnt is how many bits below the highest have a chance of their own.
const learnt = 3

// A model is what is known of the numbers of a column.
type model struct {
	stride *model                    // of the places of strides
	same   chance                    // that a column of a group does not change
	width  [128]chance               // a tree: how many bits a number has
	high   [65][1 << (learnt)]chance // a tree for each width: the bits below the highest
}

func newModel() *model {
	m := newNumbers()
	m.stride = newNumbers()
	return m
}

func newNumbers() *model {
	m := &model{same: even}
	for i := range m.width {
		m.width[i] = even
	}
	for i := range m.high {
		for j := range m.high[i] {
			m.high[i][j] = even
		}
	}
	return m
}

// An encoder packs decisions.
type encoder struct {
	out    []byte
	low    uint64 // 33 bits: bit 32 is a carry into what was put out
	size   uint32 // of the range
	held   byte   // the last byte, which a carry may still change
	filled int    // bytes of 0xff behind it, which a carry runs through
	some   bool   // held is one
}

func newEncoder() *encoder { return &encoder{size: 1<<32 - 1} }

// shift puts out the highest byte of low.
func (e *encoder) shift() {
	if e.low < 0xff<<24 || e.low >= 1<<32 {
		carry := byte(e.low >> 32)
		if e.some {
			e.out = append(e.out, e.held+carry)
		}
		for ; e.filled > 0; e.filled-- {
			e.out = append(e.out, 0xff+carry)
		}
		e.held, e.some = byte(e.low>>24), true
	} else {
		e.filled++
	}
	e.low = e.low << 8 & (1<<32 - 1)
}

func (e *encoder) widen() {
	for e.size < narrow {
		e.size <<= 8
		e.shift()
	}
}

// bit packs a decision.
func (e *encoder) bit(c *chance, bit int) {
	bound := e.size >> chanceBits * uint32(*c)
	if bit == 0 {
		e.size = bound
	} else {
		e.low += uint64(bound)
		e.size -= bound
	}
	c.seen(bit)
	e.widen()
}

// plain packs n bits of which nothing is known.
func (e *encoder) plain(v uint64, n int) {
	for n--; n >= 0; n-- {
		e.size >>= 1
		if v>>n&1 != 0 {
			e.low += uint64(e.size)
		}
		e.widen()
	}
}

// number packs a number.
func (e *encoder) number(m *model, v int64) {
	u := uint64(v)<<1 ^ uint64(v>>63) // small for small ones of either sign
	width := bits.Len64(u)
	at := 1
	for i := 6; i >= 0; i-- {
		b := width >> i & 1
		e.bit(&m.width[at], b)
		at = at<<1 | b
	}
	rest := width - 1
	at = 1
	for i := 0; i < learnt && rest > 0; i++ {
		rest--
		b := int(u >> rest & 1)
		e.bit(&m.high[width][at], b)
		at = at<<1 | b
	}
	if rest > 0 {
		e.plain(u, rest)
	}
}

// end puts out what is left.
func (e *encoder) end() []byte {
	for range 5 {
		e.shift()
	}
	return e.out
}

// An unpacker reads what an encoder packed. Behind the end it reads zeros.
type unpacker struct {
	in   []byte
	at   uint32 // within the range
	size uint32
	over int // bytes read behind the end
}

func newUnpacker(in []byte) *unpacker {
	u := &unpacker{in: in, size: 1<<32 - 1}
	for range 4 {
		u.at = u.at<<8 | uint32(u.next())
	}
	return u
}

func (u *unpacker) next() byte {
	if len(u.in) == 0 {
		u.over++
		return 0
	}
	b := u.in[0]
	u.in = u.in[1:]
	return b
}

func (u *unpacker) widen() {
	for u.size < narrow {
		u.size <<= 8
		u.at = u.at<<8 | uint32(u.next())
	}
}

func (u *unpacker) bit(c *chance) int {
	bound := u.size >> chanceBits * uint32(*c)
	bit := 0
	if u.at < bound {
		u.size = bound
	} else {
		u.at -= bound
		u.size -= bound
		bit = 1
	}
	c.seen(bit)
	u.widen()
	return bit
}

func (u *unpacker) plain(n int) uint64 {
	var v uint64
	for range n {
		u.size >>= 1
		v <<= 1
		if u.at >= u.size {
			u.at -= u.size
			v |= 1
		}
		u.widen()
	}
	return v
}

func (u *unpacker) number(m *model) int64 {
	width := 1
	for range 7 {
		width = width<<1 | u.bit(&m.width[width])
	}
	width -= 128
	if width == 0 {
		return 0
	}
	if width > 64 {
		u.over = len(u.in) + 5 // no encoder packs this
		return 0
	}
	v, at, rest := uint64(1), 1, width-1
	for i := 0; i < learnt && rest > 0; i++ {
		rest--
		b := u.bit(&m.high[width][at])
		at = at<<1 | b
		v = v<<1 | uint64(b)
	}
	v = v<<rest | u.plain(rest)
	return int64(v>>1) ^ -int64(v&1)
}

// broken reports whether more was read than was packed.
func (u *unpacker) broken() bool { return u.over > 4 }
