package alloc

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// FuzzReplay replays and verifies whatever tape the bytes describe: no
// operation may panic, hang or break the books.
func FuzzReplay(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 40, 5, 6, 7, 8, 9, 10, 200, 100, 50, 25}, uint16(100), uint8(0))
	f.Add([]byte{12, 0, 0, 12, 0, 0, 3, 255, 0, 4, 255, 0, 9, 9, 9}, uint16(0), uint8(1))
	f.Fuzz(func(t *testing.T, program []byte, capacity uint16, config uint8) {
		tp := fuzzTape(program)
		s := settings(t, configs[int(config)%len(configs)])
		tl, err := Replay(tp, s, unit.Bytes(capacity)*unit.MiB)
		if err == nil {
			for _, d := range tl.replay.devices {
				checkDevice(t, d)
			}
		}
		if _, err := Verify(tp, s, tp.Initial); err != nil {
			return
		}
	})
}

// fuzzTape makes a tape out of bytes, three for each thing on it. It trusts
// nothing but what a tape file can hold.
func fuzzTape(program []byte) *tape.Tape {
	tp := &tape.Tape{}
	for ; len(program) >= 3; program = program[3:] {
		op, a, b := program[0], program[1], program[2]
		addr := uint64(a&7)<<21 | uint64(b>>4)<<9
		size := unit.Bytes(1) << (b % 61)
		device, stream := a>>3&1, tp.InternStream(uint64(a>>4&1))
		switch {
		case op%16 == 12:
			n := unit.Bytes(b%5+1) << 20
			tp.AddInitial(tape.Segment{
				Addr: uint64(a) << 20, Bytes: 2 * n, Device: device, Stream: stream, Small: b&8 != 0, Expandable: b&16 != 0, Pool: [2]uint64{0, uint64(b >> 7)},
				Blocks: []tape.SegmentBlock{
					{Addr: uint64(a) << 20, Bytes: n, Requested: n, State: tape.State(b >> 5 & 1)},
					{Addr: uint64(a)<<20 + uint64(n), Bytes: n, State: tape.State(b >> 6 & 1)},
				},
			})
		case op%16 < 3 || op%16 > 12:
			tp.Append(tape.Event{Kind: tape.Alloc, Bytes: size + unit.Bytes(a), Addr: addr, Device: device, Stream: stream})
		case op%16 < 5:
			if n := tp.Blocks(); n > 0 {
				tp.Append(tape.Event{Kind: tape.FreeRequested + tape.Kind(op%16-3), Block: tape.BlockID((int(a)<<8 | int(b)) % n)})
			}
		default:
			if b > 250 {
				tp.Marks = append(tp.Marks, tape.Mark{Event: tp.Len(), Kind: tape.MarkPool, Device: device, Name: []string{"1.0", "0.2", ""}[a%3]})
			}
			kind := tape.SegmentAlloc + tape.Kind(op%16-5)
			tp.Append(tape.Event{Kind: kind, Bytes: size &^ 511, Addr: addr, Device: device, Stream: stream, Block: tape.NoBlock})
		}
	}
	return tp
}
