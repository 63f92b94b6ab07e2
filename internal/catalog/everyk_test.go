package catalog

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// TestEveryK compares every-K with recordings of models whose other layers have
// checkpointing turned off: every event.
func TestEveryK(t *testing.T) {
	packed, err := os.Open("testdata/every-k.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	in, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	n := 0
	for ; lines.Scan(); n++ {
		var r solve.Recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		j := r.Job
		file, err := recordings.Open("2.15.0", j.Family)
		if err != nil {
			t.Fatal(err)
		}
		s := &source{tapes: file}
		way := recordings.Way{Task: j.Task, Mode: j.Mode, Precision: j.Precision, Attention: j.Attention, Checkpoint: "full", Class: 80, Structure: j.Structure}
		full, err := file.Tape(way.String())
		if err != nil {
			t.Fatal(err)
		}
		run := &run{way: way, tape: full}
		run.env.Kinds = r.Kinds
		if err := s.everyKth(run, everyK(j.Checkpoint)); err != nil {
			t.Fatal(err)
		}
		r.Kinds = run.env.Kinds
		c, err := solve.Verify(run.tape, &r)
		if err != nil {
			t.Fatal(err)
		}
		if !c.OK() {
			t.Errorf("%s %s %s at %v: %+v", j.Family, j.Precision, j.Checkpoint, j.Dims, c)
		}
	}
	if err := lines.Err(); err != nil || n < 4 {
		t.Fatalf("%d recordings: %v", n, err)
	}
}

// Fewer checkpoints keep more, and as many as there are layers are full.
func TestEveryKLiesBetween(t *testing.T) {
	for _, model := range []string{"gpt2", "llama-3.2-1b", "t5-small"} {
		s := find(t, Query{Name: model})
		last := int64(0)
		for _, checkpoint := range []string{"full", "every-1", "every-2", "every-3", "every-6", "none"} {
			r, err := s.Complete(recipe.Recipe{Batch: 2, Precision: recipe.BF16, Checkpoint: checkpoint})
			if err != nil {
				t.Fatal(err)
			}
			var w tape.Writer
			if _, err := s.Play(r, usualDevice, &w, estimate.Sites); err != nil {
				if strings.Contains(err.Error(), "composed") {
					t.Logf("%s: %v", model, err)
					break
				}
				t.Fatalf("%s, %s: %v", model, checkpoint, err)
			}
			peak := int64(estimate.Asked(w.Tape()))
			if checkpoint == "every-1" && peak != last || peak < last {
				t.Errorf("%s: %s comes to %d, the one before to %d", model, checkpoint, peak, last)
			}
			last = peak
			if live := leaked(w.Tape()); checkpoint != "none" && live > 0 {
				t.Errorf("%s: %s leaves %d activations", model, checkpoint, live)
			}
		}
	}
}

// leaked counts activations that live in the end.
func leaked(t *tape.Tape) int {
	n := 0
	for b := range tape.BlockID(t.Blocks()) {
		if x := t.Block(b); x.Category == tape.Activation && x.Free < 0 {
			n++
		}
	}
	return n
}
