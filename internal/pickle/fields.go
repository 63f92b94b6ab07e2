package pickle

import "encoding/binary"

// shapeLen is how many keys of a dict are guessed.
const shapeLen = 16

// A shapedKey is a key that a dict had at some place: the opcode that read it
// from the memo, with the slot, and the string.
type shapedKey struct {
	code, mask uint64
	key        Value
}

// beginsDict reports whether the MARK that was just made stands behind a dict.
func (m *Machine) beginsDict() bool {
	n := len(m.stack)
	return n > 0 && m.stack[n-1].tag() == Dict
}

// fields runs the opcodes behind the MARK of a dict for as long as they are
// keys from the memo with plain values or values from the memo, and returns
// where it stopped, at the latest before the last 16 bytes of the window. The
// dicts of a list have the same keys in the same order, so that each key is
// compared with that of the last dict before it is looked up.
func (m *Machine) fields(w []byte, pos int) int {
	if len(m.stack)+2*shapeLen > m.limits.MaxValues {
		return pos
	}
	for i := 0; i < shapeLen && pos+32 <= len(w); i++ {
		s := &m.shape[i]
		code := binary.LittleEndian.Uint64(w[pos:])
		if s.mask == 0 || code&s.mask != s.code {
			if !m.learn(s, code) {
				return pos
			}
		}
		at := pos + slotWidth(s.mask)
		v, next, ok := m.field(w, at)
		if !ok {
			return pos
		}
		m.stack = append(m.stack, s.key, v)
		pos = next
	}
	return pos
}

// slotWidth is how many bytes an opcode takes that its mask covers.
func slotWidth(mask uint64) int {
	if mask == maskBinGet {
		return 2
	}
	return 5
}

const (
	maskBinGet     = 1<<16 - 1
	maskLongBinGet = 1<<40 - 1
)

// learn makes the key that an opcode reads the one to expect; false for any
// other opcode and any other value.
func (m *Machine) learn(s *shapedKey, code uint64) bool {
	var slot, mask uint64
	switch byte(code) {
	case opBinGet:
		slot, mask = code>>8&0xff, maskBinGet
	case opLongBinGet:
		slot, mask = code>>8&0xffffffff, maskLongBinGet
	default:
		return false
	}
	v, ok := m.remembered(slot)
	if !ok || v.tag() != String {
		return false
	}
	*s = shapedKey{code: code & mask, mask: mask, key: v}
	return true
}

// field is the value that an opcode pushes, and where the next one begins;
// ok is false for those that do more, and for what is wrong.
func (m *Machine) field(w []byte, pos int) (v Value, next int, ok bool) {
	switch arg := w[pos+1:]; w[pos] {
	case opBinGet:
		v, ok = m.remembered(uint64(arg[0]))
		return v, pos + 2, ok
	case opLongBinGet:
		v, ok = m.remembered(uint64(binary.LittleEndian.Uint32(arg)))
		return v, pos + 5, ok
	case opBinInt1:
		return smallInt(int64(arg[0])), pos + 2, true
	case opBinInt2:
		return smallInt(int64(binary.LittleEndian.Uint16(arg))), pos + 3, true
	case opBinInt:
		return smallInt(int64(int32(binary.LittleEndian.Uint32(arg)))), pos + 5, true
	case opLong1:
		if n := uint(arg[0]); n > 0 && n < 8 {
			unused := 64 - 8*n
			return smallInt(int64(binary.LittleEndian.Uint64(arg[1:])<<unused) >> unused), pos + 2 + int(n), true
		}
	}
	return 0, 0, false
}
