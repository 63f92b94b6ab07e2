package tape_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
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

// A writer writes what Append does.
func TestWriterIsAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w tape.Writer
		var want tape.Tape
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			w.Phase, w.Site = tape.Phase(rapid.IntRange(0, 4).Draw(t, "phase")), tape.SiteID(rapid.IntRange(0, 9).Draw(t, "site"))
			e := tape.Event{Kind: tape.Alloc, Phase: w.Phase, Site: w.Site, Category: tape.Activation}
			if n := want.Blocks(); n > 0 && rapid.Bool().Draw(t, "free") {
				e.Kind, e.Block = tape.Free, tape.BlockID(rapid.IntRange(0, n-1).Draw(t, "block"))
				w.Free(e.Block)
			} else {
				e.Bytes = unit.Bytes(rapid.Int64Range(0, 1<<40).Draw(t, "bytes"))
				w.Alloc(e.Bytes, e.Category)
			}
			want.Append(e)
		}
		got := w.Tape()
		if got.Len() != want.Len() || got.Blocks() != want.Blocks() {
			t.Fatalf("%d events, want %d", got.Len(), want.Len())
		}
		for i := range want.Len() {
			if got.Event(i) != want.Event(i) {
				t.Fatalf("event %d is %v, want %v", i, got.Event(i), want.Event(i))
			}
		}
		for b := range want.Blocks() {
			if got.Block(tape.BlockID(b)) != want.Block(tape.BlockID(b)) {
				t.Fatalf("block %d is %v, want %v", b, got.Block(tape.BlockID(b)), want.Block(tape.BlockID(b)))
			}
		}
	})
}

// Times may begin late, and be missing in between.
func TestTimesThatBeginLate(t *testing.T) {
	var tp tape.Tape
	times := []int64{0, 0, 7_000_000_000, 0, 7_000_000_001}
	for _, us := range times {
		tp.Append(tape.Event{Kind: tape.Alloc, Bytes: 8, Time: us})
	}
	for i, us := range times {
		if got := tp.Event(i).Time; got != us {
			t.Errorf("event %d is at %d, want %d", i, got, us)
		}
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
