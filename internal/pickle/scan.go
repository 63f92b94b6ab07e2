package pickle

import (
	"encoding/binary"
	"errors"
	"sync"

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
	middle := middleFrame(in)
	if middle == 0 {
		var s scanner
		if err := s.run(in); err != nil {
			return plan{}, err
		}
		s.plan.seal()
		return s.plan, nil
	}
	// The second half does not know how many slots the first sets. Each takes
	// a byte at least.
	var first scanner
	second := scanner{slots: slots{sets: uint64(middle), top: uint64(middle)}}
	var wait sync.WaitGroup
	var failed error
	wait.Go(func() { failed = second.run(in.Part(middle, in.Size())) })
	err := first.run(in.Part(0, middle))
	wait.Wait()
	if err = errors.Join(err, failed); err != nil {
		return plan{}, err
	}
	first.plan.add(&second.plan)
	first.plan.seal()
	return first.plan, nil
}

const (
	opFrame = 0x95
	// largeFile is the size from which on two goroutines scan.
	largeFile = 16 << 20
)

// middleFrame returns where a frame begins near the middle of a file, so that
// both halves can be read by themselves; 0 when the file is small or not made
// of frames, as before protocol 4.
func middleFrame(in *input.Reader) int64 {
	if in.Size() < largeFile {
		return 0
	}
	var head [9]byte
	at := int64(2) // behind PROTO
	for at < in.Size()/2 {
		if !in.Peek(head[:], at) || head[0] != opFrame {
			return 0
		}
		length := binary.LittleEndian.Uint64(head[1:])
		if length > uint64(in.Size()) {
			return 0
		}
		at += 9 + int64(length)
	}
	if !in.Peek(head[:], at) || head[0] != opFrame {
		return 0
	}
	return at
}

// run scans up to the end of what in gives.
func (s *scanner) run(in *input.Reader) error {
	for !s.end {
		w, err := in.Window(16)
		if err != nil {
			return err
		}
		n := s.burst(w)
		in.Advance(n)
		if n == 0 && !skipLong(in, w) {
			break
		}
	}
	return nil
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
