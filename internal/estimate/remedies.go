package estimate

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// remedies are the known cures, the least intrusive of each kind of exactness
// first.
var remedies = []remedy{
	{
		code: "expandable-segments", exactness: SameNumbers, change: expandable,
		why: "segments that grow leave no gaps between them, so that less is cached",
	},
	{
		code: "attention-sdpa", exactness: SameNumbers, change: attentionSDPA,
		why: "the fused kernel never holds the matrix of scores, which grows with the square of the sequence; equal up to rounding",
	},
	{
		code: "optimizer-fused", exactness: SameNumbers, change: fused,
		why: "the fused kernel updates in place, where the default makes temporary copies of all parameters; equal up to rounding",
	},
	{
		code: "shard-fsdp2", exactness: SameNumbers, change: shardFSDP2,
		why: "each card keeps its share of the parameters, gradients and states, and gathers a layer when it needs it; equal up to rounding",
	},
	{
		code: "checkpoint-full", exactness: SameNumbers, change: checkpointFull,
		why: "only the input of each layer is kept, and the layer runs forward again before its backward pass: about a third more time",
	},
	{code: "micro-batch", change: smallerBatch, judge: judgeSplit},
	{
		code: "amp", exactness: ChangesResults, change: amp,
		why: "activations are kept in 16 bits; weights, gradients and states stay in fp32",
	},
	{
		code: "bf16-weights", exactness: ChangesResults, change: bf16Weights,
		why: "weights, gradients and states in 16 bits: small updates of large weights are rounded away",
	},
	{
		code: "optimizer-8bit", exactness: ChangesResults, change: optimizer8bit,
		why: "both moments in 8 bits with a scale for every block, from bitsandbytes",
	},
	{
		code: "optimizer-sgd", exactness: ChangesResults, change: optimizerSGD,
		why: "no moments are kept; another learning rate is needed, and transformers train badly with it",
	},
	{
		code: "lora", exactness: ChangesResults, change: lora,
		why: "the model is frozen and small matrices beside some layers are trained, so that most gradients and states are not there",
	},
	{
		code: "qlora", exactness: ChangesResults, change: qlora,
		why: "as with LoRA, and the frozen weights are kept in 4 bits",
	},
	{
		code: "shorter-sequence", exactness: ChangesResults, change: shorter,
		why: "activations grow with the length of the sequence",
	},
}

func expandable(f facts) (recipe.Recipe, string) {
	r := f.recipe
	const setting = "expandable_segments:True"
	if strings.Contains(r.AllocConf, "expandable_segments") {
		return r, ""
	}
	if r.AllocConf != "" {
		r.AllocConf += ","
	}
	r.AllocConf += setting
	return r, "--alloc-conf " + r.AllocConf
}

func attentionSDPA(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Attention != "eager" && r.Attention != "math" {
		return r, ""
	}
	r.Attention = "sdpa"
	return r, "--attention sdpa"
}

// fused takes the fused kernel of an optimizer that has one, which
// NewOptimizer knows.
func fused(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Mode != recipe.Train || strings.HasSuffix(r.Optimizer, "-fused") {
		return r, ""
	}
	r.Optimizer = strings.TrimSuffix(r.Optimizer, "-forloop") + "-fused"
	return r, "--optimizer " + r.Optimizer
}

func shardFSDP2(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.World < 2 || r.Shard == "fsdp2" || r.Mode != recipe.Train {
		return r, ""
	}
	r.Shard = "fsdp2"
	return r, "--shard fsdp2"
}

func checkpointFull(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Mode != recipe.Train || r.Checkpoint != "" && r.Checkpoint != "none" {
		return r, ""
	}
	r.Checkpoint = "full"
	return r, "--checkpoint full"
}

// smallerBatch splits the batch into equal parts that fit, or into parts of
// one sample where none does.
func smallerBatch(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Batch < 2 {
		return r, ""
	}
	part := max(min(f.largest, r.Batch-1), 1)
	for r.Batch%part != 0 {
		part--
	}
	flags := fmt.Sprintf("--batch %d", part)
	if r.Mode == recipe.Train {
		r.Accumulate = max(r.Accumulate, 1) * (r.Batch / part)
		flags += fmt.Sprintf(" --accumulate %d", r.Accumulate)
	}
	r.Batch = part
	return r, flags
}

// judgeSplit says what a split batch changes: statistics of its parts and the
// order in which random numbers are drawn.
func judgeSplit(m Model) (Exactness, string) {
	switch {
	case m.BatchNorm:
		return SameExpectation, "the gradients of the parts are summed before the step; batch normalisation sees smaller batches"
	case m.Dropout:
		return SameExpectation, "the gradients of the parts are summed before the step; dropout draws other masks"
	}
	return SameNumbers, "the gradients of the parts are summed before the step; equal up to rounding, if each part's loss counts by its share of the batch"
}

// amp takes the 16 bits that the card is made for.
func amp(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Precision != recipe.FP32 {
		return r, ""
	}
	if f.target.Device.Capability >= 80 {
		r.Precision = recipe.AmpBF16
		return r, "--amp bf16"
	}
	r.Precision = recipe.AmpFP16
	return r, "--amp fp16"
}

func bf16Weights(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Precision == recipe.BF16 || r.Precision == recipe.FP16 {
		return r, ""
	}
	r.Precision = recipe.BF16
	return r, "--dtype bf16"
}

func optimizer8bit(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Mode != recipe.Train || !strings.HasPrefix(r.Optimizer, "adam") || strings.HasSuffix(r.Optimizer, "-8bit") {
		return r, ""
	}
	r.Optimizer = "adamw-8bit"
	return r, "--optimizer adamw-8bit"
}

func optimizerSGD(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Mode != recipe.Train || strings.HasPrefix(r.Optimizer, "sgd") && !strings.HasPrefix(r.Optimizer, "sgd-momentum") {
		return r, ""
	}
	r.Optimizer = "sgd"
	return r, "--optimizer sgd"
}

// usualRank is the rank that most adapters are trained with.
const usualRank = 16

func lora(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Mode != recipe.Train || r.LoRA != nil || len(f.model.LoRATargets) == 0 {
		return r, ""
	}
	r.LoRA = &recipe.LoRA{Rank: usualRank, Targets: f.model.LoRATargets}
	return r, fmt.Sprintf("--lora r=%d,targets=%s", usualRank, strings.Join(f.model.LoRATargets, "+"))
}

// qlora keeps the adapters that are there, or takes the usual ones.
func qlora(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.LoRA == nil {
		r, _ = lora(f)
	}
	if r.LoRA == nil || r.Quantize != "" || r.Mode != recipe.Train {
		return r, ""
	}
	r.Quantize = "nf4"
	return r, fmt.Sprintf("--lora r=%d,targets=%s,base=nf4", r.LoRA.Rank, strings.Join(r.LoRA.Targets, "+"))
}

// shortest is the length below which a sequence is not shortened further.
const shortest = 128

func shorter(f facts) (recipe.Recipe, string) {
	r := f.recipe
	if r.Seq < 2*shortest {
		return r, ""
	}
	r.Seq /= 2
	return r, fmt.Sprintf("--seq %d", r.Seq)
}
