package catalog

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// recorded are the variants that there are tapes of.
func (s *source) recorded() []recordings.Way {
	s.readWays.Do(func() {
		for _, key := range s.tapes.Keys() {
			if v, ok := recordings.ParseWay(key); ok {
				s.ways = append(s.ways, v)
			}
		}
	})
	return s.ways
}

// classOf is the class of cards that kernels are alike on: attention in half
// precision has kernels of its own before 8.0, and cuDNN's on 9.0 and 10.x.
func classOf(v recordings.Way, d kernel.Device) int {
	switch {
	case v.Precision == string(recipe.FP32) || v.Attention != "sdpa" || lacksKernel(v, d):
		return 80
	case d.Capability < 80:
		return 75
	case d.Capability >= 90 && d.Capability < 110:
		return 90
	}
	return 80
}

// lacksKernel reports whether attention has no kernel for a card: before 8.0 none
// takes bf16 (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, 2.15), and PyTorch
// falls back to operators that keep whole matrices, as "math" asks for.
func lacksKernel(v recordings.Way, d kernel.Device) bool {
	return d.Capability < 80 && v.Attention == "sdpa" && (v.Precision == string(recipe.BF16) || v.Precision == string(recipe.AmpBF16))
}

// A reason is why the answer is not certain, and by which share of the peak it
// may be off.
type reason struct {
	code, message string
	share         float64
	over, under   bool       // it may be less alone, or more
	less, more    unit.Bytes // at least, whatever the share
}

// replicated is training with a copy of the model on each card, which is
// composed from the training on one.
const replicated = "ddp"

// variantOf is what a complete recipe asks for.
func (s *source) variantOf(r recipe.Recipe, d kernel.Device) recordings.Way {
	v := recordings.Way{
		Task: string(r.Task), Mode: string(r.Mode), Precision: string(r.Precision), Attention: r.Attention, Checkpoint: r.Checkpoint,
		Structure: s.structure(), ChannelsLast: r.ChannelsLast, Unpadded: r.Unpadded, Quantize: r.Quantize, Shard: r.Shard,
	}
	if v.Shard == replicated {
		v.Shard = "" // composed
	}
	if v.Checkpoint == "every-1" || everyK(v.Checkpoint) > 0 {
		v.Checkpoint = "full"
	}
	if r.LoRA != nil {
		v.LoRA = s.targetsOf(r.LoRA.Targets)
	}
	v.Class = classOf(v, d)
	return v
}

// A substitute is what may stand for a variant that was not recorded.
type substitute struct {
	code string
	// share is the most by which peaks differed where both are recorded, rounded
	// up; TestSubstitutesAreDoubted measures it. Where both never are, it is that
	// of the substitute whose code is like, or was measured as source says.
	share   float64
	like    string
	source  string
	over    bool   // it takes at least as much as what was asked for
	under   bool   // at most as much
	message string // %s is what was asked for
	asked   func(v recordings.Way) string
	apply   func(s *source, v *recordings.Way) bool // false where it changes nothing
}

// substitutes are tried alone and then in pairs, the least harmful first.
var substitutes = []substitute{
	{
		code: "other-precision", share: 0.01, message: fromBF16,
		asked: precisionOf,
		apply: func(s *source, v *recordings.Way) bool { return !trainsOn75(v) && s.attends80(v) && bf16For(v) },
	},
	{
		code: "other-precision", share: 0.05, like: "other-card", message: fromBF16,
		asked: precisionOf,
		apply: func(s *source, v *recordings.Way) bool { return trainsOn75(v) && s.attends80(v) && bf16For(v) },
	},
	{
		code: "other-precision", share: 0.08, message: fromBF16,
		asked: precisionOf,
		apply: func(s *source, v *recordings.Way) bool { return !s.attends80(v) && bf16For(v) },
	},
	{
		code: "other-precision", share: 0.02, message: fromAmpBF16,
		asked: precisionOf,
		apply: func(_ *source, v *recordings.Way) bool {
			return !trainsOn75(v) && !peaksInSoftmax(v) && ampBF16For(v)
		},
	},
	{
		code: "other-precision", share: 0.09, message: fromAmpBF16,
		asked: precisionOf,
		apply: func(_ *source, v *recordings.Way) bool { return trainsOn75(v) && ampBF16For(v) },
	},
	{
		code: "other-precision", share: leastDoubt, message: "evaluation in %s is answered from amp-fp16, whose tensors are as large",
		asked: precisionOf,
		apply: func(_ *source, v *recordings.Way) bool {
			return v.Mode == string(recipe.Eval) && !peaksInSoftmax(v) && change(&v.Precision, string(recipe.AmpBF16), string(recipe.AmpFP16))
		},
	},
	{
		code: "other-attention", share: 0.05, like: "other-card", message: "attention %q is answered from PyTorch's own choice, which uses the same kernel where it can",
		asked: func(v recordings.Way) string { return v.Attention },
		apply: func(_ *source, v *recordings.Way) bool { return change(&v.Attention, "flash", "sdpa") },
	},
	{
		code: "other-attention", share: 0.45, message: "attention %q is answered from eager attention, which keeps the same matrices, in fewer bits",
		source: "PyTorch 2.15.0: GPT-2 and Llama with two layers, 2 x 1,024 and 4 x 256 tokens; equal to 0.1 % in fp32, 43 % more in bf16 at most",
		asked:  func(v recordings.Way) string { return v.Attention },
		apply:  func(_ *source, v *recordings.Way) bool { return change(&v.Attention, "math", "eager") },
	},
	{
		code: "other-attention", share: 1, under: true, message: "attention %q is answered from PyTorch's own choice, which keeps no matrices of all pairs of tokens",
		source: "PyTorch 2.15.0, bf16 on a card of 7.5: GPT-2 with 4 x 1,024 tokens takes 93 % more, Qwen 2.5 0.5B with six layers and 2 x 1,024 tokens 11 %",
		asked:  func(v recordings.Way) string { return v.Attention },
		apply:  func(_ *source, v *recordings.Way) bool { return change(&v.Attention, "math", "sdpa") },
	},
	{
		code: "other-card", share: 0.05, message: "this was recorded on cards of other compute capability than %s, whose attention takes another kernel",
		asked: func(v recordings.Way) string { return map[int]string{75: "7.5", 90: "9.0 and 10.x"}[v.Class] },
		apply: func(_ *source, v *recordings.Way) bool {
			if v.Class == 80 {
				return false
			}
			v.Class = 80
			return true
		},
	},
	{
		code: "other-layout", share: 0.07, message: otherLayout,
		asked: func(recordings.Way) string { return "channels last" },
		apply: func(_ *source, v *recordings.Way) bool { return !copiesAtPeak(v) && inUsualLayout(v) },
	},
	{
		code: "other-layout", share: 0.45, message: otherLayout,
		asked: func(recordings.Way) string { return "channels last" },
		apply: func(_ *source, v *recordings.Way) bool { return copiesAtPeak(v) && inUsualLayout(v) },
	},
}

const (
	fromBF16    = "%s is answered from bf16, whose tensors are as large"
	fromAmpBF16 = "%s is answered from amp-bf16, whose tensors are as large"
)

func precisionOf(v recordings.Way) string { return v.Precision }

func bf16For(v *recordings.Way) bool {
	return change(&v.Precision, string(recipe.FP16), string(recipe.BF16))
}

func ampBF16For(v *recordings.Way) bool {
	return change(&v.Precision, string(recipe.AmpFP16), string(recipe.AmpBF16))
}

// trainsOn75 reports whether attention in training takes the kernels of cards of 7.5,
// which copy other masks than those of later ones.
func trainsOn75(v *recordings.Way) bool { return v.Class == 75 && v.Mode == string(recipe.Train) }

// peaksInSoftmax reports whether the largest tensors are matrices of all pairs of tokens
// that are not kept for the backward pass. Under autocast softmax writes fp32: it reads
// fp16 as it is, and of bf16 a copy in fp32 (aten/src/ATen/native/SoftMax.cpp, softmax,
// 2.15).
func peaksInSoftmax(v *recordings.Way) bool {
	return v.Attention == "eager" && (v.Mode == string(recipe.Eval) || v.Checkpoint == "full")
}

const otherLayout = "images are laid out %s: this was recorded in PyTorch's usual layout only"

// copiesAtPeak reports whether the peak is in the loss of each pixel, nll_loss2d, which
// copies what is channels last.
func copiesAtPeak(v *recordings.Way) bool {
	return v.Mode == string(recipe.Eval) && v.Task == string(recipe.SemanticSegmentation)
}

func inUsualLayout(v *recordings.Way) bool {
	was := v.ChannelsLast
	v.ChannelsLast = false
	return was
}

func change(s *string, from, to string) bool {
	if *s != from {
		return false
	}
	*s = to
	return true
}

// choose finds the tape that answers a recipe, and what is in doubt about it.
func (s *source) choose(r recipe.Recipe, d kernel.Device) (recordings.Way, []reason, error) {
	asked := s.variantOf(r, d)
	want := asked
	if lacksKernel(want, d) && s.attends(want) {
		want.Attention = "math"
	}
	if v, ok := s.find(want); ok {
		return v, nil, nil
	}
	for _, which := range attempts {
		if v, reasons, ok := s.substituted(want, d, which...); ok {
			if v, ok = s.find(v); ok {
				return v, reasons, nil
			}
		}
	}
	if r.Unpadded {
		r.Unpadded = false
		v, reasons, err := s.choose(r, d)
		return v, append(reasons, reason{code: paddedBatch, share: maskShare, message: "batches without padding were not recorded this way: this is with an attention mask"}), err
	}
	return asked, nil, s.refuse(asked)
}

// find is the tape of a variant; what has no kernel for attention is recorded on one
// class of cards for all.
func (s *source) find(v recordings.Way) (recordings.Way, bool) {
	if s.has(v) {
		return v, true
	}
	v.Class = 80
	return v, s.has(v) && !s.attends(v)
}

// attempts are the substitutes that are applied together, one before two.
var attempts = func() [][]int {
	var ones, twos [][]int
	for first := range substitutes {
		ones = append(ones, []int{first})
		for second := first + 1; second < len(substitutes); second++ {
			twos = append(twos, []int{first, second})
		}
	}
	return append(ones, twos...)
}()

// attends80 reports whether models of a way's structure have attention in one kernel,
// from what is recorded in bf16 on most cards.
func (s *source) attends80(v *recordings.Way) bool {
	w := *v
	w.Class, w.Precision = 80, string(recipe.BF16)
	return s.attends(w)
}

// attends reports whether a way has attention in one kernel, from its tape, or where
// there is none from training of its structure.
func (s *source) attends(v recordings.Way) bool {
	if t, err := s.tape(v); err == nil {
		return s.about(t).attends
	}
	return s.training().attends
}

// substituted applies one substitute, or two.
func (s *source) substituted(v recordings.Way, d kernel.Device, which ...int) (recordings.Way, []reason, bool) {
	var reasons []reason
	for _, i := range which {
		x := &substitutes[i]
		asked := x.asked(v)
		if !x.apply(s, &v) {
			return v, nil, false
		}
		if x.code != "other-card" {
			v.Class = classOf(v, d)
		}
		reasons = append(reasons, reason{code: x.code, message: fmt.Sprintf(x.message, asked), share: x.share, over: x.over, under: x.under})
	}
	return v, reasons, true
}
