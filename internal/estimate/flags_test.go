package estimate

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// What cannot stand beside a new flag is named; what only is given again is
// not.
func TestFlagsOf(t *testing.T) {
	for _, c := range []struct {
		from, to recipe.Recipe
		want     string
	}{
		{recipe.Recipe{Precision: recipe.AmpBF16}, recipe.Recipe{Precision: recipe.BF16}, "--dtype bf16 instead of --amp bf16"},
		{recipe.Recipe{Precision: recipe.FP16}, recipe.Recipe{Precision: recipe.AmpBF16}, "--amp bf16 instead of --dtype fp16"},
		{recipe.Recipe{Precision: recipe.FP32}, recipe.Recipe{Precision: recipe.AmpFP16}, "--amp fp16"},
		{recipe.Recipe{Precision: recipe.FP32}, recipe.Recipe{Precision: recipe.BF16}, "--dtype bf16"},
		{recipe.Recipe{Precision: recipe.AmpBF16, Batch: 2}, recipe.Recipe{Precision: recipe.BF16, Batch: 1, Checkpoint: "full"}, "--batch 1 --checkpoint full --dtype bf16 instead of --amp bf16"},
	} {
		if got := flagsOf(c.from, c.to); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestOptimizersIn8Bits(t *testing.T) {
	for name, want := range map[string]string{"adam": "adam-8bit", "adam-fused": "adam-8bit", "adamw": "adamw-8bit", "adamw-forloop": "adamw-8bit"} {
		r, ok := optimizer8bit(facts{recipe: recipe.Recipe{Mode: recipe.Train, Optimizer: name}})
		if !ok || r.Optimizer != want {
			t.Errorf("%s: %s, want %s", name, r.Optimizer, want)
		}
	}
	if _, ok := optimizer8bit(facts{recipe: recipe.Recipe{Mode: recipe.Train, Optimizer: "adam-8bit"}}); ok {
		t.Error("8 bits are taken again")
	}
}
