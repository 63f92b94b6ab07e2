package pickle

// A shape says what follows an opcode.
type shape uint8

const (
	unknown shape = iota
	bare          // nothing
	one           // 1, 2, 4 or 8 bytes
	two
	four
	eight
	short // a length of 1, 4 or 8 bytes, then so many bytes
	long
	wide
	refused
)

// width is the number of bytes right behind the opcode, length or value.
var width = [...]int{bare: 0, one: 1, two: 2, four: 4, eight: 8, short: 1, long: 4, wide: 8, refused: 0}

// Why opcodes are refused.
const (
	callsCode = "it makes an object or calls a function, and plain data needs neither"
	oldText   = "it belongs to protocols 0 and 1; protocols 2 to 5 are read"
	otherData = "no memory snapshot holds this kind of data"
)

// An opcode is one row of the table.
type opcode struct {
	name   string
	shape  shape
	reason string // of a refusal
}

// Opcodes of which the two passes and the messages speak by name.
const (
	opMark       = '('
	opStop       = '.'
	opBinGet     = 'h'
	opLongBinGet = 'j'
	opBinPut     = 'q'
	opLongBinPut = 'r'
	opMemoize    = 0x94
	opEmptyDict  = '}'
	opSetItems   = 'u'
	opBinInt1    = 'K'
	opBinInt2    = 'M'
	opBinInt     = 'J'
	opLong1      = 0x8a
	opGlobal     = 'c'
	opStackName  = 0x93
	opProto      = 0x80
)

// opcodes is every opcode of CPython's Lib/pickletools.py (3.14). The rows
// with a shape other than refused are what Python and PyTorch write for plain
// data.
var opcodes = [256]opcode{
	opProto:      {"PROTO", one, ""},
	0x95:         {"FRAME", eight, ""},
	opStop:       {"STOP", bare, ""},
	opMark:       {"MARK", bare, ""},
	opEmptyDict:  {"EMPTY_DICT", bare, ""},
	']':          {"EMPTY_LIST", bare, ""},
	')':          {"EMPTY_TUPLE", bare, ""},
	's':          {"SETITEM", bare, ""},
	opSetItems:   {"SETITEMS", bare, ""},
	'a':          {"APPEND", bare, ""},
	'e':          {"APPENDS", bare, ""},
	't':          {"TUPLE", bare, ""},
	0x85:         {"TUPLE1", bare, ""},
	0x86:         {"TUPLE2", bare, ""},
	0x87:         {"TUPLE3", bare, ""},
	0x8c:         {"SHORT_BINUNICODE", short, ""},
	'X':          {"BINUNICODE", long, ""},
	0x8d:         {"BINUNICODE8", wide, ""},
	opMemoize:    {"MEMOIZE", bare, ""},
	opBinPut:     {"BINPUT", one, ""},
	opLongBinPut: {"LONG_BINPUT", four, ""},
	opBinGet:     {"BINGET", one, ""},
	opLongBinGet: {"LONG_BINGET", four, ""},
	opBinInt1:    {"BININT1", one, ""},
	opBinInt2:    {"BININT2", two, ""},
	opBinInt:     {"BININT", four, ""},
	opLong1:      {"LONG1", short, ""},
	0x8b:         {"LONG4", long, ""},
	'G':          {"BINFLOAT", eight, ""},
	0x88:         {"NEWTRUE", bare, ""},
	0x89:         {"NEWFALSE", bare, ""},
	'N':          {"NONE", bare, ""},

	opGlobal:    {"GLOBAL", refused, callsCode},
	opStackName: {"STACK_GLOBAL", refused, callsCode},
	'R':         {"REDUCE", refused, callsCode},
	'b':         {"BUILD", refused, callsCode},
	'i':         {"INST", refused, callsCode},
	'o':         {"OBJ", refused, callsCode},
	0x81:        {"NEWOBJ", refused, callsCode},
	0x92:        {"NEWOBJ_EX", refused, callsCode},
	0x82:        {"EXT1", refused, callsCode},
	0x83:        {"EXT2", refused, callsCode},
	0x84:        {"EXT4", refused, callsCode},
	'P':         {"PERSID", refused, callsCode},
	'Q':         {"BINPERSID", refused, callsCode},

	'I': {"INT", refused, oldText},
	'L': {"LONG", refused, oldText},
	'F': {"FLOAT", refused, oldText},
	'S': {"STRING", refused, oldText},
	'V': {"UNICODE", refused, oldText},
	'g': {"GET", refused, oldText},
	'p': {"PUT", refused, oldText},
	'l': {"LIST", refused, oldText},
	'd': {"DICT", refused, oldText},

	'0':  {"POP", refused, otherData},
	'1':  {"POP_MARK", refused, otherData},
	'2':  {"DUP", refused, otherData},
	'T':  {"BINSTRING", refused, otherData},
	'U':  {"SHORT_BINSTRING", refused, otherData},
	'B':  {"BINBYTES", refused, otherData},
	'C':  {"SHORT_BINBYTES", refused, otherData},
	0x8e: {"BINBYTES8", refused, otherData},
	0x8f: {"EMPTY_SET", refused, otherData},
	0x90: {"ADDITEMS", refused, otherData},
	0x91: {"FROZENSET", refused, otherData},
	0x96: {"BYTEARRAY8", refused, otherData},
	0x97: {"NEXT_BUFFER", refused, otherData},
	0x98: {"READONLY_BUFFER", refused, otherData},
}
