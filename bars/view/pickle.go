package main

import (
	"bufio"
	"encoding/binary"
	"io"
)

// A pickler writes what Python's own pickler writes with protocol 4, without
// holding the objects: strings and frames get their place in the memo when
// they first come, and every dict and list takes a place that nobody asks for
// again, as in real files. Lists and dicts that are large go out in batches of
// a thousand.
type pickler struct {
	w       *bufio.Writer
	written int64
	memo    uint32
	strings map[string]uint32
	scratch [9]byte
	err     error
}

// The opcodes that are needed. Source: Lib/pickle.py.
const (
	opProto, opFrame, opStop           = 0x80, 0x95, '.'
	opMark, opMemoize                  = '(', 0x94
	opEmptyDict, opEmptyList           = '}', ']'
	opSetItems, opAppends, opAppend    = 'u', 'e', 'a'
	opShortUnicode, opUnicode          = 0x8c, 'X'
	opBinGet, opLongBinGet             = 'h', 'j'
	opBinInt1, opBinInt2, opBinInt     = 'K', 'M', 'J'
	opLong1                            = 0x8a
	opTrue, opFalse, opNone, opPairing = 0x88, 0x89, 'N', 0x86
)

func newPickler(w io.Writer) *pickler {
	p := &pickler{w: bufio.NewWriterSize(w, 1<<20), strings: map[string]uint32{}}
	p.bytes(opProto, 4)
	return p
}

func (p *pickler) bytes(b ...byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
		p.written += int64(len(b))
	}
}

func (p *pickler) memoize() uint32 {
	p.bytes(opMemoize)
	p.memo++
	return p.memo - 1
}

func (p *pickler) get(place uint32) {
	if place < 256 {
		p.bytes(opBinGet, byte(place))
		return
	}
	p.getFar(place)
}

// getFar writes the long form, which nearly all frames of real files have:
// there are more than 256 before them.
func (p *pickler) getFar(place uint32) {
	p.scratch[0] = opLongBinGet
	binary.LittleEndian.PutUint32(p.scratch[1:], place)
	p.bytes(p.scratch[:5]...)
}

// text writes a string, or where it stood first.
func (p *pickler) text(s string) {
	if place, ok := p.strings[s]; ok {
		p.get(place)
		return
	}
	if len(s) < 256 {
		p.bytes(opShortUnicode, byte(len(s)))
	} else {
		p.scratch[0] = opUnicode
		binary.LittleEndian.PutUint32(p.scratch[1:], uint32(len(s)))
		p.bytes(p.scratch[:5]...)
	}
	p.bytes([]byte(s)...)
	p.strings[s] = p.memoize()
}

func (p *pickler) number(n uint64) {
	switch {
	case n < 1<<8:
		p.bytes(opBinInt1, byte(n))
	case n < 1<<16:
		p.bytes(opBinInt2, byte(n), byte(n>>8))
	case n < 1<<31:
		p.scratch[0] = opBinInt
		binary.LittleEndian.PutUint32(p.scratch[1:], uint32(n))
		p.bytes(p.scratch[:5]...)
	default:
		size := 4
		for size < 8 && n>>(8*size-1) != 0 {
			size++
		}
		binary.LittleEndian.PutUint64(p.scratch[:8], n)
		p.bytes(opLong1, byte(size))
		p.bytes(p.scratch[:size]...)
	}
}

func (p *pickler) beginDict() { p.bytes(opEmptyDict); p.memoize(); p.bytes(opMark) }
func (p *pickler) endDict()   { p.bytes(opSetItems) }

// A list is written item by item.
type list struct {
	p     *pickler
	items int
}

func (p *pickler) beginList() *list {
	p.bytes(opEmptyList)
	p.memoize()
	return &list{p: p}
}

// next comes before each item.
func (l *list) next() {
	if l.items%1000 == 0 {
		if l.items > 0 {
			l.p.bytes(opAppends)
		}
		l.p.bytes(opMark)
	}
	l.items++
}

func (l *list) end() {
	if l.items > 0 {
		l.p.bytes(opAppends)
	}
}

func (p *pickler) end() error {
	p.bytes(opStop)
	if p.err == nil {
		p.err = p.w.Flush()
	}
	return p.err
}
