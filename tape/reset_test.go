package tape_test

import (
	"bytes"
	"testing"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// writeRun puts a small run on a tape and returns the file that it is.
func writeRun(t *testing.T, w *tape.Writer, blocks int) []byte {
	t.Helper()
	w.Phase = tape.Forward
	w.Mark(tape.MarkPhase, "", int64(tape.Forward))
	w.Site = w.Tape().InternSite([]tape.Frame{{Name: "head", File: "aten::mm"}})
	for i := range blocks {
		w.Free(w.Alloc(unit.Bytes(i)<<30, tape.Activation))
	}
	w.Tape().SetMeta("torch", "2.15.0")
	var out bytes.Buffer
	if _, err := w.Tape().WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A writer that was used before writes the same as a new one.
func TestResetLeavesNothingBehind(t *testing.T) {
	var used tape.Writer
	for _, before := range []int{0, 5, 100_000} {
		writeRun(t, &used, before)
		used.Reset()
		if used.Tape().Len() != 0 || used.Tape().Blocks() != 0 || used.Tape().Sites() != 0 || used.Phase != tape.Idle || used.Site != 0 {
			t.Fatalf("%d events are left", used.Tape().Len())
		}
		var fresh tape.Writer
		if !bytes.Equal(writeRun(t, &used, 50_000), writeRun(t, &fresh, 50_000)) {
			t.Errorf("after %d blocks the tape is another one", before)
		}
		used.Reset()
	}
}

func BenchmarkWriterReset(b *testing.B) {
	var w tape.Writer
	for b.Loop() {
		w.Reset()
		for range 10000 {
			w.Free(w.Alloc(4096, tape.Activation))
		}
	}
}
