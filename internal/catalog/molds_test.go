package catalog

import (
	"bytes"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// TestMolds plays each of many sizes by one source, which has molds of the sizes
// before, and by a source of its own.
func TestMolds(t *testing.T) {
	recipes := []recipe.Recipe{
		{}, {Precision: recipe.BF16, Optimizer: "adamw-8bit"}, {Precision: recipe.AmpFP16, ClipGradNorm: true, Accumulate: 3},
		{Precision: recipe.BF16, Checkpoint: "full", Optimizer: "sgd-momentum"}, {Mode: recipe.Eval}, {Precision: recipe.BF16, Checkpoint: "every-2"},
	}
	written := func(s *source, r recipe.Recipe) []byte {
		t.Helper()
		var w tape.Writer
		if _, err := s.Play(r, usualDevice, &w, estimate.Events); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := w.Tape().WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	poured := 0
	for _, model := range []string{"gpt2", "llama-3.1-8b", "bert-base-uncased", "resnet18"} {
		s := find(t, Query{Name: model})
		for _, r := range recipes {
			if model == "resnet18" && r.Checkpoint != "" {
				continue
			}
			for _, size := range []struct{ batch, seq int64 }{{1, 64}, {3, 200}, {64, 512}, {8, 511}, {3, 200}, {1, 1}} {
				r.Batch = size.batch
				if model != "resnet18" {
					r.Seq = size.seq
				}
				full, err := s.Complete(r)
				if err != nil {
					t.Fatal(model, err)
				}
				before := len(s.molds.keys)
				if !bytes.Equal(written(s, full), written(find(t, Query{Name: model}), full)) {
					t.Errorf("%s %+v: another run than without molds", model, full)
				}
				if len(s.molds.keys) == before {
					poured++
				}
			}
		}
	}
	if poured < 20 {
		t.Errorf("molds were used %d times", poured)
	}
}
