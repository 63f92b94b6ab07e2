package pickle

import (
	"encoding/binary"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// A scanner is the first pass: it steps over opcodes and notes which memo
// slots are read.
type scanner struct {
	plan  plan
	slots slots
	end   bool // STOP, or something that the second pass will complain about
}

// scan makes the plan of a pickle. What is wrong with the file is no error
// here: the second pass gets just as far, and knows more to say about it.
func scan(in *input.Reader) (plan, error) {
	var s scanner
	for !s.end {
		w, err := in.Window(16)
		if err != nil {
			return plan{}, err
		}
		n := s.burst(w)
		in.Advance(n)
		if n == 0 && !skipLong(in, w) {
			break
		}
	}
	s.plan.seal()
	return s.plan, nil
}

// burst steps over the opcodes that lie in the window as a whole and returns
// how many bytes they take.
func (s *scanner) burst(w []byte) int {
	pos := 0
	for pos < len(w) && !s.end {
		op := w[pos]
		sh := opcodes[op].shape
		next := pos + 1 + width[sh]
		if next > len(w) || sh == unknown || sh == refused {
			return pos
		}
		if sh >= short {
			length := little(w[pos+1 : next])
			if length > uint64(len(w)-next) {
				return pos
			}
			pos = next + int(length)
			continue
		}
		switch op {
		case opBinGet:
			s.get(uint64(w[pos+1]))
		case opLongBinGet:
			s.get(uint64(binary.LittleEndian.Uint32(w[pos+1:])))
		case opMemoize:
			s.slots.next()
		case opBinPut, opLongBinPut:
			s.end = !s.slots.set(little(w[pos+1 : next]))
		case opStop:
			s.end = true
		}
		pos = next
	}
	return pos
}

func (s *scanner) get(slot uint64) {
	if !s.slots.has(slot) {
		s.end = true
		return
	}
	s.plan.mark(slot)
}

// skipLong steps over an opcode whose string is longer than the window w. It
// reports false for any other reason that burst had to give up.
func skipLong(in *input.Reader, w []byte) bool {
	if len(w) == 0 {
		return false
	}
	sh := opcodes[w[0]].shape
	if sh < short || sh == refused || len(w) < 1+width[sh] {
		return false
	}
	length := little(w[1 : 1+width[sh]])
	in.Advance(1 + width[sh])
	return length <= uint64(in.Limits().MaxString) && in.Skip(int64(length)) == nil
}

// little decodes an unsigned integer of 1, 2, 4 or 8 bytes, the least
// significant first.
func little(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	default:
		return binary.LittleEndian.Uint64(b)
	}
}
