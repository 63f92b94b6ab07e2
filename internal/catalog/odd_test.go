package catalog

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// oddPeaks were measured by PyTorch 2.15.0 on the virtual A100, as the given truth is:
// three steps with AdamW, without a context.
var oddPeaks = []struct {
	why   string
	model string
	task  recipe.Task
	recipe.Recipe
	allocated, reserved unit.Bytes
}{
	{"a length that lacks one of a multiple of 8", "modernbert-base", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 1023}, 3575564288, 3852468224},
	{"the same", "modernbert-base", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.AmpBF16, Batch: 4, Seq: 2047}, 7933809152, 8453619712},
	{"the same", "pythia-70m", "", recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 1023}, 3802787328, 4404019200},
	{"the same", "phi-1.5", "", recipe.Recipe{Precision: recipe.FP32, Batch: 2, Seq: 1023}, 29406283776, 30182211584},
	{"the same", "gpt2", "", recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 1023}, 5949678592, 6373244928},
	{"the same", "qwen2.5-0.5b", "", recipe.Recipe{Precision: recipe.AmpBF16, Batch: 2, Seq: 511}, 10883987456, 12123635712},
	{"the same", "gemma-2b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 1023}, 25061996032, 26952597504},
	{"gradients of a bias for positions that is padded", "t5-small", "", recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 255}, 1034826752, 1105199104},
	{"the same", "t5-small", "", recipe.Recipe{Precision: recipe.AmpBF16, Batch: 3, Seq: 500}, 2154083840, 2350907392},
	{"a mean over the tokens of each example", "modernbert-base", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 4096}, 12966021120, 13941866496},
	{"a head that is made before the layers", "xlm-roberta-base", "", recipe.Recipe{Precision: recipe.AmpFP16, Batch: 1, Seq: 128, ClipGradNorm: true}, 5568024576, 5723127808},
}

// What was off before its rule was found stays equal to the byte.
func TestOddPeaks(t *testing.T) {
	for _, c := range oddPeaks {
		s := find(t, Query{Name: c.model, Task: c.task})
		target := estimate.Target{Name: "a card", Count: 1, Device: usualDevice, Capacity: unit.TiB}
		e, err := estimate.On(t.Context(), s, c.Recipe, target, estimate.Options{Bare: true})
		if err != nil {
			t.Fatalf("%s: %v", c.model, err)
		}
		if e.Peak.Allocated != c.allocated || e.Peak.Reserved != c.reserved {
			t.Errorf("%s, %s: %d allocated and %d reserved, not %d and %d", c.why, c.model, e.Peak.Allocated, e.Peak.Reserved, c.allocated, c.reserved)
		}
	}
}
