package pickle

// A Value is one pickled value in eight bytes: a tag and either the value
// itself or a place in a table of the machine. The zero Value is None.
type Value uint64

// A Type says what a Value is.
type Type uint8

// The types of values.
const (
	None Type = iota
	Bool
	Int
	Float
	String
	Atom  // something that the consumer made
	Gone  // something that the consumer took; it is left out of lists
	List  // from here on: containers
	Dict  // keys and values alternate
	Tuple // never changes
	bigPositive
	bigNegative
	huge // an integer of more than 64 bits; its value is not kept
)

const (
	payloadBits = 60
	payloadMask = 1<<payloadBits - 1
	kindBits    = 8 // of an atom's payload
	kindShift   = payloadBits - kindBits
	smallMax    = 1<<(payloadBits-1) - 1
	smallMin    = -1 << (payloadBits - 1)
)

func tagged(t Type, payload uint64) Value {
	return Value(t)<<payloadBits | Value(payload&payloadMask)
}

func (v Value) tag() Type       { return Type(v >> payloadBits) }
func (v Value) payload() uint64 { return uint64(v) & payloadMask }

// container reports whether the value owns others.
func (v Value) container() bool { t := v.tag(); return t >= List && t <= Tuple }

// Type returns what the value is.
func (v Value) Type() Type {
	if t := v.tag(); t < bigPositive {
		return t
	}
	return Int
}

// Bool returns the value of a Bool, and false for anything else.
func (v Value) Bool() bool { return v.tag() == Bool && v.payload() != 0 }

// MakeAtom returns a value for the consumer's own use: a kind of its choice
// and a number below 2^52.
func MakeAtom(kind uint8, n uint64) Value {
	return tagged(Atom, uint64(kind)<<kindShift|n&(1<<kindShift-1))
}

// MakeGone returns the value that says: taken, keep no place for it.
func MakeGone() Value { return tagged(Gone, 0) }

// Atom returns kind and number of an Atom; ok is false for anything else.
func (v Value) Atom() (kind uint8, n uint64, ok bool) {
	if v.tag() != Atom {
		return 0, 0, false
	}
	return uint8(v.payload() >> kindShift), v.payload() & (1<<kindShift - 1), true
}

func smallInt(i int64) Value { return tagged(Int, uint64(i)) }

func (v Value) small() int64 { return int64(v<<(64-payloadBits)) >> (64 - payloadBits) }
