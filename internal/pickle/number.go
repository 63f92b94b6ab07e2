package pickle

import "math"

// A numberTable holds the 64-bit patterns that do not fit into a Value, each
// once.
type numberTable struct {
	bits  []uint64
	index map[uint64]uint32
}

func (t *numberTable) intern(bits uint64) (n uint32, isNew bool) {
	if n, ok := t.index[bits]; ok {
		return n, false
	}
	if t.index == nil {
		t.index = map[uint64]uint32{}
	}
	n = uint32(len(t.bits))
	t.bits = append(t.bits, bits)
	t.index[bits] = n
	return n, true
}

func (m *Machine) number(t Type, bits uint64) Value {
	n, isNew := m.numbers.intern(bits)
	if isNew {
		m.held++
	}
	return tagged(t, uint64(n))
}

func (m *Machine) makeInt(i int64) Value {
	switch {
	case i >= smallMin && i <= smallMax:
		return smallInt(i)
	case i < 0:
		return m.number(bigNegative, uint64(i))
	default:
		return m.number(bigPositive, uint64(i))
	}
}

// makeLong decodes the argument of LONG1 and LONG4: two's complement, least
// significant byte first, of any length. Nine bytes come from unsigned
// addresses with the top bit set (pytorch issue 115234).
func (m *Machine) makeLong(b []byte) Value {
	if len(b) == 0 {
		return smallInt(0)
	}
	sign := byte(0)
	if b[len(b)-1]&0x80 != 0 {
		sign = 0xff
	}
	var v uint64
	for i := 7; i >= 0; i-- {
		c := sign
		if i < len(b) {
			c = b[i]
		}
		v = v<<8 | uint64(c)
	}
	for _, c := range b[min(8, len(b)):] {
		if c != sign {
			return tagged(huge, 0)
		}
	}
	fits := sign == 0 && int64(v) >= 0 || sign != 0 && int64(v) < 0
	switch {
	case fits:
		return m.makeInt(int64(v))
	case sign == 0:
		return m.number(bigPositive, v)
	default:
		return tagged(huge, 0)
	}
}

// Uint64 returns an integer of at most 64 bits as a bit pattern: -1 is
// 2^64-1, as PyTorch's C++ writer stores addresses. ok is false for anything
// else.
func (m *Machine) Uint64(v Value) (u uint64, ok bool) {
	switch v.tag() {
	case Int:
		return uint64(v.small()), true
	case bigPositive, bigNegative:
		return m.numbers.bits[v.payload()], true
	}
	return 0, false
}

// Int64 returns an integer between -2^63 and 2^63-1; ok is false for
// anything else.
func (m *Machine) Int64(v Value) (i int64, ok bool) {
	switch v.tag() {
	case Int:
		return v.small(), true
	case bigPositive:
		u := m.numbers.bits[v.payload()]
		return int64(u), u <= math.MaxInt64
	case bigNegative:
		return int64(m.numbers.bits[v.payload()]), true
	}
	return 0, false
}

// Float64 returns the value of a Float; ok is false for anything else.
func (m *Machine) Float64(v Value) (f float64, ok bool) {
	if v.tag() != Float {
		return 0, false
	}
	return math.Float64frombits(m.numbers.bits[v.payload()]), true
}
