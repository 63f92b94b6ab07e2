package alloc

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// TestPassingBlocksAreCounted replays runs in which many blocks are given back at
// once, and again without their short cut.
func TestPassingBlocksAreCounted(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var w tape.Writer
		var held []tape.BlockID
		for range 400 {
			size := unit.Bytes(1) << rnd.IntN(26)
			size += unit.Bytes(rnd.Int64N(int64(size)))
			b := w.Alloc(size, tape.Temporary)
			switch {
			case rnd.IntN(2) == 0:
				w.Free(b)
			default:
				held = append(held, b)
			}
			for len(held) > 0 && rnd.IntN(3) > 0 {
				n := rnd.IntN(len(held))
				w.Free(held[n])
				held[n] = held[len(held)-1]
				held = held[:len(held)-1]
			}
		}
		for _, s := range []Settings{{}, {Expandable: true}, {MaxSplit: 20 * unit.MiB}} {
			capacity := unit.Bytes(rnd.IntN(3)) * unit.GiB
			starts := []int{0, 100, 100, 300}
			with, err := ReplayStretches(w.Tape(), s, capacity, starts)
			if err != nil {
				t.Fatal(err)
			}
			without, err := ReplayEditedStretches(w.Tape(), s, capacity, Edit{Bytes: func(_ tape.BlockID, n unit.Bytes) unit.Bytes { return n }}, starts)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(with.Devices, without.Devices) || (with.OOM == nil) != (without.OOM == nil) {
				t.Fatalf("seed %d, %+v: %+v, not %+v", seed, s, with.Devices, without.Devices)
			}
		}
	}
}
