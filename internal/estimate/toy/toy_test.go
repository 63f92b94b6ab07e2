package toy_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate/sourcetest"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/toy"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

func TestToyIsASource(t *testing.T) {
	for name, r := range map[string]recipe.Recipe{
		"defaults":   {},
		"evaluation": {Mode: recipe.Eval, Batch: 3},
		"adapters":   {LoRA: &recipe.LoRA{Rank: 4, Targets: []string{"up"}}, Accumulate: 2, Checkpoint: "full"},
	} {
		t.Run(name, func(t *testing.T) { sourcetest.Test(t, toy.New(), r, kernel.Device{}) })
	}
}
