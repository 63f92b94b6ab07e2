package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/doctest"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// unpaddedPeaks are what PyTorch 2.15.0 with Transformers 5.24.0 allocated at most in
// three steps of training with AdamW, batches without padding, heads for labels with a
// mask of ones: plimsoll capture --values small of bars/truth/case.py, on an A100 SXM4
// 80GB, an H100 SXM5 80GB and a T4.
var unpaddedPeaks = []struct {
	model  string
	task   recipe.Task
	recipe recipe.Recipe
	class  int
	peak   unit.Bytes
}{
	{"albert-base-v2", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.BF16, Batch: 16, Seq: 512}, 80, 4416395776},
	{"bert-base-uncased", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.AmpBF16, Batch: 32, Seq: 512}, 80, 8164596736},
	{"bert-base-uncased", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.BF16, Batch: 16, Seq: 256}, 90, 2054275072},
	{"bert-base-uncased", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.BF16, Batch: 16, Seq: 512, Attention: "eager"}, 80, 6407230464},
	{"bert-base-uncased", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.AmpBF16, Batch: 16, Seq: 512, Attention: "eager"}, 80, 9269718016},
	{"bloom-560m", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 1024}, 80, 17004405760},
	{"deberta-v3-small", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.BF16, Batch: 8, Seq: 256}, 80, 1849817088},
	{"distilbert-base-uncased", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.FP32, Batch: 16, Seq: 256}, 80, 2170361344},
	{"electra-small-discriminator", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.AmpBF16, Batch: 16, Seq: 256}, 80, 738688512},
	{"gemma-2b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 2048, Checkpoint: "full"}, 80, 25061725696},
	{"gpt-neo-125m", "", recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 1024}, 80, 9617941504},
	{"gpt2", "", recipe.Recipe{Precision: recipe.BF16, Batch: 8, Seq: 1024}, 80, 10951441408},
	{"gpt2", "", recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 1024, Checkpoint: "full"}, 90, 3736263168},
	{"gpt2", "", recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 1024, Attention: "eager"}, 80, 8879647744},
	{"gpt2", "", recipe.Recipe{Precision: recipe.AmpFP16, Batch: 4, Seq: 512}, 80, 4846557184},
	{"gpt2", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.BF16, Batch: 8, Seq: 512}, 80, 3018762240},
	{"llama-3.1-8b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 8192, Checkpoint: "full"}, 90, 80302613504},
	{"llama-3.2-1b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 4096, Checkpoint: "full"}, 80, 22797694976},
	{"llama-3.2-1b", "", recipe.Recipe{Precision: recipe.AmpBF16, Batch: 2, Seq: 2048}, 80, 33205643264},
	{"llama-3.2-1b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 2048, Checkpoint: "full", LoRA: &recipe.LoRA{Rank: 16, Targets: []string{"q_proj", "v_proj"}}}, 80, 10150451200},
	{"llama-3.2-1b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 32768, Checkpoint: "full"}, 90, 68948342784},
	{"mistral-7b-v0.1", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 8192, Checkpoint: "full", LoRA: &recipe.LoRA{Rank: 16, Targets: []string{"q_proj", "v_proj"}}}, 80, 20588505088},
	{"mistral-7b-v0.3", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 4096, Checkpoint: "full"}, 80, 72480236544},
	{"opt-125m", "", recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 1024}, 80, 4645310464},
	{"opt-125m", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.BF16, Batch: 8, Seq: 512}, 80, 1869934592},
	{"phi-1.5", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 1024}, 80, 15437117440},
	{"phi-3-mini-4k", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 2048, Checkpoint: "full"}, 80, 38211845120},
	{"phi-3-mini-4k", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 4096, Checkpoint: "full", LoRA: &recipe.LoRA{Rank: 16, Targets: []string{"qkv_proj"}}}, 80, 10433847296},
	{"phi-3-mini-4k", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 4096}, 80, 45826969600},
	{"phi-3-mini-4k", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 2048}, 80, 38212107264},
	{"pythia-160m", "", recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 1024}, 80, 5246211072},
	{"qwen2.5-0.5b", "", recipe.Recipe{Precision: recipe.AmpBF16, Batch: 4, Seq: 1024}, 80, 22227075584},
	{"qwen2.5-0.5b", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.AmpBF16, Batch: 4, Seq: 512}, 80, 10094838784},
	{"qwen2.5-1.5b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 1024}, 90, 19709910016},
	{"qwen2.5-7b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 1, Seq: 4096, Checkpoint: "full", LoRA: &recipe.LoRA{Rank: 16, Targets: []string{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}}}, 80, 25389134848},
	{"qwen3-0.6b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 2048}, 80, 20563779584},
	{"roberta-base", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.AmpFP16, Batch: 16, Seq: 256}, 75, 3389081088},
	{"tinyllama-1.1b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 2048, Checkpoint: "full", LoRA: &recipe.LoRA{Rank: 16, Targets: []string{"q_proj", "v_proj"}}}, 80, 4467513344},
	{"tinyllama-1.1b", "", recipe.Recipe{Precision: recipe.BF16, Batch: 2, Seq: 2048, LoRA: &recipe.LoRA{Rank: 16, Targets: []string{"q_proj", "v_proj"}}}, 80, 10916966400},
	{"tinyllama-1.1b", recipe.SequenceClassification, recipe.Recipe{Precision: recipe.BF16, Batch: 4, Seq: 1024, Checkpoint: "full"}, 80, 10350408704},
}

// TestUnpaddedPeaks compares with what was captured, and writes the table of the page.
func TestUnpaddedPeaks(t *testing.T) {
	var table strings.Builder
	table.WriteString("| model | way | with a mask | without | less |\n|---|---|---|---|---|\n")
	for _, c := range unpaddedPeaks {
		s := find(t, Query{Name: c.model, Task: c.task})
		target := estimate.Target{Name: "a card", Count: 1, Device: cardOf(c.class), Capacity: unit.TiB}
		peak := map[bool]unit.Bytes{}
		for _, unpadded := range []bool{false, true} {
			r := c.recipe
			r.Unpadded = unpadded
			e, err := estimate.On(t.Context(), s, r, target, estimate.Options{Bare: true})
			if err != nil {
				t.Fatalf("%s: %v", c.model, err)
			}
			peak[unpadded] = e.Peak.Allocated
		}
		if peak[true] != c.peak {
			t.Errorf("%s %s on %d: %d bytes, and %d captured", c.model, wayWords(c.recipe, c.task), c.class, peak[true], c.peak)
		}
		gib := func(b unit.Bytes) float64 { return float64(b) / float64(unit.GiB) }
		fmt.Fprintf(&table, "| %s | %s, %d.%d | %.2f | %.2f | %.1f %% |\n", c.model, wayWords(c.recipe, c.task), c.class/10, c.class%10, gib(peak[false]), gib(peak[true]), 100*(1-gib(peak[true])/gib(peak[false])))
	}
	doctest.Page(t, "padding.md", map[string]string{"peaks": table.String()})
}

// wayWords are a recipe for people.
func wayWords(r recipe.Recipe, task recipe.Task) string {
	words := fmt.Sprintf("%s, %d x %d", r.Precision, r.Batch, r.Seq)
	if task != "" {
		words += ", labels"
	}
	if r.Attention != "" {
		words += ", " + r.Attention
	}
	if r.LoRA != nil {
		words += ", LoRA on " + strings.Join(r.LoRA.Targets, "+")
	}
	if r.Checkpoint != "" {
		words += ", checkpoint " + r.Checkpoint
	}
	return words
}
