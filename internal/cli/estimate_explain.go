package cli

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// explainSection says of each line of the peak how it adds up, for somebody who
// sees such a list for the first time.
func explainSection(e *estimate.Estimate) report.Section {
	s := report.Section{Title: "How it adds up"}
	for _, p := range partsOf(e.ByCategory) {
		if p.bytes == 0 {
			continue
		}
		text := p.bytes.String()
		if why := explanations[p.key]; why != nil && (e.Script == nil || !ofRecipe[p.key]) {
			text += ": " + why(e)
		}
		if f := e.Formula[p.key]; f != "" {
			text += "; in bytes, " + f
		}
		s.Facts = append(s.Facts, report.Fact{Name: p.label, Value: text})
	}
	s.Facts = append(s.Facts, report.Fact{Name: "in all", Value: fmt.Sprintf("%s, the sum; %s to %s is how far it may be off", e.Peak.Device, e.Peak.Low, e.Peak.High)})
	return s
}

// ofRecipe are the categories that are explained by a recipe, which a script's tape
// has none of.
var ofRecipe = map[string]bool{"parameter": true, "gradient": true, "optimizer": true, "input": true, "kv_cache": true, "master_weight": true}

// explanations say where the bytes of a category come from.
var explanations = map[string]func(e *estimate.Estimate) string{
	"parameter": func(e *estimate.Estimate) string {
		n, each, share := e.Model.Parameter, e.Recipe.Precision.WeightBytes(), shareOf(e)
		if unit.Bytes(n*each) == e.ByCategory.Parameter {
			return fmt.Sprintf("%s parameters, at %d bytes each in %s", report.Grouped(n), each, typeOf(e.Recipe.Precision))
		}
		return fmt.Sprintf("%s parameters, at %.3g bytes each on average%s", report.Grouped(n), float64(e.ByCategory.Parameter)*float64(share)/float64(max(n, 1)), ofShare(share))
	},
	"gradient": func(e *estimate.Estimate) string {
		share := shareOf(e)
		all := e.Model.Trainable * e.Recipe.Precision.WeightBytes() / share
		return fmt.Sprintf("one of the size of each of the %s trainable parameters, %s when all are there%s; the backward pass makes them one after another", report.Grouped(e.Model.Trainable), unit.Bytes(all), ofShare(share))
	},
	"optimizer": func(e *estimate.Estimate) string {
		share := shareOf(e)
		each := float64(e.ByCategory.Optimizer) * float64(share) / float64(max(e.Model.Trainable, 1))
		return fmt.Sprintf("what %s remembers of each of the %s trainable parameters, %.3g bytes each%s, from the first step on", e.Recipe.Optimizer, report.Grouped(e.Model.Trainable), each, ofShare(share))
	},
	"activation": func(e *estimate.Estimate) string {
		var kept unit.Bytes
		for _, l := range e.Layers {
			kept += l.Saved
		}
		if kept == 0 {
			return "results that the next operators still need"
		}
		return fmt.Sprintf("results of the forward pass that the backward pass needs; the layers keep %s of them, %s a sample", kept, kept/unit.Bytes(max(e.Recipe.Batch, 1)))
	},
	"input": func(e *estimate.Estimate) string { return "the batch itself: " + batchOf(e.Recipe) },
	"buffer": func(*estimate.Estimate) string {
		return "tensors of the model that are not trained, such as running means and tables of positions"
	},
	"temporary": func(e *estimate.Estimate) string {
		return "results that live for a moment; the peak is where they are large: " + e.Peak.Site
	},
	"workspace": func(*estimate.Estimate) string {
		return "scratch memory that libraries keep, such as cuBLAS's for each stream"
	},
	"communication": func(e *estimate.Estimate) string {
		return fmt.Sprintf("buffers of %d cards that exchange data, NCCL's own among them", e.GPU.Count)
	},
	"kv_cache": func(e *estimate.Estimate) string {
		return "keys and values of all tokens so far, for each layer: " + batchOf(e.Recipe)
	},
	"master_weight": func(*estimate.Estimate) string { return "fp32 copies of weights that are trained in 16 bits" },
	"rounding": func(*estimate.Estimate) string {
		return "blocks are multiples of 512 bytes, and up to 1 MiB at the end of a segment is not split off"
	},
	"cached": func(e *estimate.Estimate) string {
		return fmt.Sprintf("%s are reserved and %s of them were in use at the peak; the allocator keeps the rest to hand it out again", e.Peak.Reserved, e.Peak.Allocated)
	},
	"context": func(e *estimate.Estimate) string {
		return "what CUDA takes for the process, its kernels and libraries; " + orGiven(e.ContextSource)
	},
}

// shareOf is the number of cards that have a share of each parameter, 1 where
// each has all.
func shareOf(e *estimate.Estimate) int64 {
	if e.Recipe.Shard != "fsdp2" {
		return 1
	}
	return max(e.Recipe.World, 1)
}

// ofShare says that a card has a share alone.
func ofShare(cards int64) string {
	if cards == 1 {
		return ""
	}
	return fmt.Sprintf(", of which this card has 1/%d", cards)
}

// typeOf is the type that weights are held in.
func typeOf(p recipe.Precision) string {
	if strings.HasPrefix(string(p), "amp-") {
		return string(recipe.FP32)
	}
	return string(p)
}
