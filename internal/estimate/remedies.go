package estimate

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// A remedy is a change of a recipe that takes less memory.
type remedy struct {
	code      string
	exactness Exactness
	why       string
	// change makes the change, and reports whether there is one to make.
	change func(f facts) (r recipe.Recipe, ok bool)
	// judge says how exact the remedy is, and why, where that depends on the
	// model and the recipe.
	judge func(f facts) (Exactness, string)
}

// facts are what a remedy may look at.
type facts struct {
	recipe  recipe.Recipe
	model   Model
	largest int64 // micro-batch that fits, 0 for none
	target  Target
}

// effect is how exact the remedy is, and why.
func (m remedy) effect(f facts) (Exactness, string) {
	if m.judge != nil {
		return m.judge(f)
	}
	return m.exactness, m.why
}

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

func expandable(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	if strings.Contains(r.AllocConf, "expandable_segments") {
		return r, false
	}
	if r.AllocConf != "" {
		r.AllocConf += ","
	}
	r.AllocConf += "expandable_segments:True"
	return r, true
}

func attentionSDPA(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	ok := r.Attention == "eager" || r.Attention == "math"
	r.Attention = "sdpa"
	return r, ok
}

// fused takes the fused kernel of the optimizer; the source knows which have
// one.
func fused(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	ok := r.Mode == recipe.Train && !strings.HasSuffix(r.Optimizer, "-fused")
	r.Optimizer = strings.TrimSuffix(r.Optimizer, "-forloop") + "-fused"
	return r, ok
}

func shardFSDP2(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	ok := r.World > 1 && r.Shard != "fsdp2" && r.Mode == recipe.Train
	r.Shard = "fsdp2"
	return r, ok
}

func checkpointFull(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	ok := r.Mode == recipe.Train && r.Checkpoint != "full" && r.Checkpoint != "every-1"
	r.Checkpoint = "full"
	return r, ok
}

// smallerBatch splits the batch into equal parts that fit, or into parts of
// one sample where none does.
func smallerBatch(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	if r.Batch < 2 {
		return r, false
	}
	part := max(min(f.largest, r.Batch-1), 1)
	for r.Batch%part != 0 {
		part--
	}
	if r.Mode == recipe.Train && f.model.Script == nil { // a script accumulates by itself
		r.Accumulate = max(r.Accumulate, 1) * (r.Batch / part)
	}
	r.Batch = part
	return r, true
}

// judgeSplit says what a split batch changes: statistics of its parts and the
// order in which random numbers are drawn.
func judgeSplit(f facts) (Exactness, string) {
	summed := "the gradients of the parts are summed before the step; "
	if f.model.Script != nil {
		summed = "have the script sum the gradients of the parts before its step; "
	}
	switch {
	case f.recipe.Mode != recipe.Train:
		return SameNumbers, "the samples are worked on in parts, one part after another"
	case f.model.BatchNorm:
		return SameExpectation, summed + "batch normalisation sees smaller batches"
	case f.model.Dropout:
		return SameExpectation, summed + "dropout draws other masks"
	}
	return SameNumbers, summed + "equal up to rounding, if each part's loss counts by its share of the batch"
}

// amp takes the 16 bits that the card is made for.
func amp(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	ok := r.Precision == recipe.FP32
	r.Precision = recipe.AmpFP16
	if f.target.Device.Capability >= 80 {
		r.Precision = recipe.AmpBF16
	}
	return r, ok
}

func bf16Weights(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	ok := r.Precision != recipe.BF16 && r.Precision != recipe.FP16
	r.Precision = recipe.BF16
	return r, ok
}

func optimizer8bit(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	ok := r.Mode == recipe.Train && strings.HasPrefix(r.Optimizer, "adam") && !strings.HasSuffix(r.Optimizer, "-8bit")
	name, _, _ := strings.Cut(r.Optimizer, "-") // of adamw-fused, too
	r.Optimizer = name + "-8bit"
	return r, ok
}

func optimizerSGD(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	plain := r.Optimizer == "sgd" || r.Optimizer == "sgd-fused" || r.Optimizer == "sgd-forloop"
	r.Optimizer = "sgd"
	return r, r.Mode == recipe.Train && !plain
}

// usualRank is the rank that most adapters are trained with.
const usualRank = 16

func lora(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	if r.Mode != recipe.Train || r.LoRA != nil || len(f.model.LoRATargets) == 0 {
		return r, false
	}
	r.LoRA = &recipe.LoRA{Rank: usualRank, Targets: f.model.LoRATargets}
	return r, true
}

// qlora keeps the adapters that are there, or takes the usual ones.
func qlora(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	if r.LoRA == nil {
		r, _ = lora(f)
	}
	ok := r.LoRA != nil && r.Quantize == "" && r.Mode == recipe.Train
	r.Quantize = "nf4"
	return r, ok
}

// shortest is the length below which a sequence is not shortened further.
const shortest = 128

func shorter(f facts) (recipe.Recipe, bool) {
	r := f.recipe
	ok := r.Seq >= 2*shortest
	r.Seq /= 2
	return r, ok
}
