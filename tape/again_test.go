package tape_test

import (
	"bytes"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A run written again is the run with other sizes, in a writer that was used before
// as in a new one.
func TestAgain(t *testing.T) {
	play := func(w *tape.Writer, blocks int, size func(i int) unit.Bytes) {
		for i := range blocks {
			w.Phase = tape.Phase(i % 3)
			b := w.Alloc(size(i), tape.Activation)
			if i%3 > 0 {
				w.Free(b)
			}
		}
		w.Mark(tape.MarkStep, "", 1)
	}
	text := func(w *tape.Writer) []byte {
		var out bytes.Buffer
		if _, err := w.Tape().WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	var used tape.Writer
	for _, blocks := range []int{100_000, 10, 70_000} {
		var first, want tape.Writer
		play(&first, blocks, func(i int) unit.Bytes { return unit.Bytes(i) })
		play(&want, blocks, func(i int) unit.Bytes { return unit.Bytes(i) << 20 })
		sizes := make([]unit.Bytes, blocks)
		for i := range sizes {
			sizes[i] = unit.Bytes(i) << 20
		}
		used.Reset()
		used.Again(first.Tape(), sizes)
		if !bytes.Equal(text(&used), text(&want)) {
			t.Errorf("%d blocks are written otherwise", blocks)
		}
	}
}
