package tape_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
)

func TestWriterNamesBlocksInOrder(t *testing.T) {
	var w tape.Writer
	a := w.Alloc(100, tape.Parameter)
	w.Phase = tape.Forward
	w.Mark(tape.MarkPhase, "", int64(tape.Forward))
	b := w.Alloc(200, tape.Activation)
	w.Free(a)
	tp := w.Tape()
	if a != 0 || b != 1 || tp.Len() != 3 || tp.Blocks() != 2 {
		t.Fatalf("blocks %d and %d, %d events", a, b, tp.Len())
	}
	if got := tp.Block(a); got.Free != 2 || got.Category != tape.Parameter || got.Phase != tape.Idle {
		t.Errorf("the first block: %+v", got)
	}
	if got := tp.Block(b); got.Free != -1 || got.Bytes != 200 || got.Phase != tape.Forward {
		t.Errorf("the second block: %+v", got)
	}
	if got := tp.Marks[0]; got.Event != 1 {
		t.Errorf("the mark: %+v", got)
	}
}

func BenchmarkWriter(b *testing.B) {
	for b.Loop() {
		var w tape.Writer
		for range 10000 {
			w.Free(w.Alloc(4096, tape.Activation))
		}
	}
}
