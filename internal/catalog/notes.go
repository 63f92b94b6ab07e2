package catalog

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Shares of the peak that were measured; the tests of doubts have those that
// recordings give. Below the recorded sizes PyTorch was asked for 96 peaks of GPT-2,
// Llama, BERT and Qwen 3 with two layers, in fp32 and bf16, of 1 to 1,000 examples of
// 1 to 256 tokens: with two tokens and more the allocated peak was equal in all, the
// reserved one of one of them a segment of 2 MiB larger; with one token up to 34 % were
// counted that are not there. Nine runs of images of more pixels, channels last, of
// EfficientNet B0 and v2 S, MobileNet v2 and v3, ResNet-50 and ConvNeXt at 512 to 1,100
// pixels, were off by 0.7 % in what is allocated and 3 % in what is reserved at most.
const (
	belowRecorded = 0.01
	aboveRecorded = 0.04
	otherVersion  = 0.08
	singleToken   = 0.4
	otherKernel   = 0.05  // as other-card of substitutes: attention in another kernel
	otherKinds    = 0.01  // Gemma 3 with 3 and 5 sliding layers: 0.33 and 0.50 % of what is allocated
	orderShare    = 0.001 // Gemma 3 270M, two runs several times each: 0.02 and 0.07 % of what is reserved
)

// unsureWarnings are the codes of a model's warnings that make sizes doubtful,
// with the share of the peak that they may be off by.
var unsureWarnings = map[string]float64{
	// Assumed: nobody knows what another architecture does.
	"unrecorded-value": 0.2,
	"assumed-family":   0.2,
}

// modelNotes are what the reading of the model's description left in doubt.
func (s *source) modelNotes() []reason {
	var list []reason
	for _, w := range s.model.Warnings {
		list = append(list, reason{code: w.Code, message: w.Message, share: unsureWarnings[w.Code]})
	}
	return list
}

// unseen says where a run is outside of what was recorded in a way that may
// matter. Larger is the normal case: formulas hold there as they are, and kernels
// choose by functions that are known for all sizes. Short sequences and small
// batches take paths of their own, and so do heads of sizes that no recording
// had.
func unseen(t *symbolic.Tape, a *about, env symbolic.Env) []reason {
	var list []reason
	for _, s := range t.Seen {
		v, ok := env.Dims[s.Name]
		switch {
		case !ok:
		case v == 1 && s.Name == "S" && s.Low > 1:
			list = append(list, reason{
				code: "below-recordings", share: singleToken, over: true,
				message: fmt.Sprintf("sequences of one token were not recorded: where there is one, many a copy is none, and less is taken than from %d on", s.Low),
			})
		case v < s.Low && (runSizes[s.Name] || a.guarded[s.Name]):
			list = append(list, reason{
				code: "below-recordings", share: belowRecorded,
				message: fmt.Sprintf("%s is %d, and the smallest recorded is %d: kernels may choose otherwise there", s.Name, v, s.Low),
			})
		case sides[s.Name] && s.Step > 1 && v%s.Step != 0:
			next := float64((v/s.Step + 1) * s.Step)
			list = append(list, reason{
				code: "between-recordings", share: math.Pow(next/float64(v), 2) - 1,
				message: fmt.Sprintf("images are %d wide or high, and those recorded are multiples of %d: others are padded, at most to the next of these", v, s.Step),
			})
		case s.Name == headSize && (v < s.Low || v > s.High || v%8 != 0):
			list = append(list, reason{
				code: "other-heads", share: otherKernel,
				message: fmt.Sprintf("heads of size %d were not recorded, those from %d to %d were: attention may take another kernel", v, s.Low, s.High),
			})
		}
	}
	if r, ok := larger(t, a, env); ok {
		list = append(list, r)
	}
	return list
}

// larger is the doubt about images of more pixels than any that was recorded, channels
// last: from 1,021 pixels of a tensor on, a mean over them is shared by blocks and has
// buffers, which a tape lacks where no recording had so many.
func larger(t *symbolic.Tape, a *about, env symbolic.Env) (reason, bool) {
	recorded, asked := int64(1), int64(1)
	for _, s := range t.Seen {
		if sides[s.Name] {
			recorded, asked = recorded*s.High, asked*env.Dims[s.Name]
		}
	}
	return reason{
		code: "above-recordings", share: aboveRecorded,
		message: fmt.Sprintf("images have %d pixels, and the largest recorded %d: a mean over so many, channels last, may take buffers of its own", asked, recorded),
	}, a.channelsLast && asked > recorded
}

// fewLayers is the doubt about shards of models with fewer layers than any that
// was recorded: the gathering of the layers ahead overlaps otherwise there.
// At most one layer more or less is whole at a time.
func (s *source) fewLayers(t *symbolic.Tape, env symbolic.Env) []reason {
	counts := s.counts()
	for stack, kinds := range env.Kinds {
		for _, seen := range t.Seen {
			if n := int64(len(kinds)); n > 0 && seen.Name == counts[stack] && n < seen.Low-1 {
				return []reason{{code: "below-recordings", share: 1 / float64(n), message: fmt.Sprintf("%d layers in %s are fewer than were recorded: shards are gathered otherwise there", n, stack)}}
			}
		}
	}
	return nil
}

// leastDoubt is the share by which a peak may be off where checks found all
// peaks right but not all events.
const leastDoubt = 0.0005

// unordered are the families whose class goes through its kinds of layers as a set
// (modeling_gemma3.py and modeling_modernbert.py, forward, Transformers 5.24).
var unordered = map[string]bool{"gemma3_text": true, "modernbert": true}

// kindsAsSet are the doubts about such families. Runs are not alike: blocks of one size
// that are made in another order leave other gaps. And where all layers are of one kind,
// tables and masks of the others, which all recordings have, are counted and not there.
func (s *source) kindsAsSet() []reason {
	if !unordered[s.model.Family] {
		return nil
	}
	for _, kinds := range s.model.Kinds {
		if slices.ContainsFunc(kinds, func(k string) bool { return k != kinds[0] }) {
			return []reason{{code: "any-order", share: orderShare, message: "Transformers makes the tables of positions of each kind of layer in the order of a set of words, which differs from run to run: what is reserved may, too"}}
		}
	}
	return []reason{{code: "absent-kind", share: otherKinds, over: true, message: "all layers are of one kind: tables of positions and masks for others are counted, since all recordings have them, and are not there"}}
}

// unequal says how a tape disagrees with recordings that it was not solved from.
func unequal(t *symbolic.Tape) []reason {
	events, equal, share := 0, 0, 0.0
	for _, c := range t.Checked {
		events, equal = events+c.Events, equal+c.Equal
		share = max(share, math.Abs(c.Peak))
	}
	if events == equal && share == 0 {
		return nil
	}
	return []reason{{
		code: "not-exact", share: max(share, leastDoubt),
		message: fmt.Sprintf("of the events of recordings at other sizes %.2f %% agree, and their peaks to %.2f %%", 100*float64(equal)/float64(max(events, 1)), 100*share),
	}}
}

// runSizes are the symbols that a recipe gives, and headSize the one that
// chooses attention's kernel.
var runSizes = map[string]bool{"B": true, "S": true, "H": true, "W": true}

const headSize = "d"

// sides are those of images. Tensors grow at most as their product does.
var sides = map[string]bool{"H": true, "W": true}

// cudnn are the doubts about scratch memory of cuDNN, which takes none on the
// virtual GPU. What its plans want is at most: attention, the largest of its
// tensors once more; a convolution, its input, filter and output once more, of
// which the input is taken to be as large as the largest output.
func cudnn(a *about, env symbolic.Env, params []symbolic.Tensor) []estimate.Doubt {
	var list []estimate.Doubt
	add := func(more int64, message string) {
		if more > 0 {
			list = append(list, estimate.Doubt{Code: estimate.CuDNNWorkspace, Message: message, More: unit.Bytes(more)})
		}
	}
	add(largest(a.attention, env), "cuDNN's attention may take scratch memory, which recordings do not show")
	if conv := largest(a.convs, env); conv > 0 {
		var filter int64
		for i := range params {
			if p := &params[i]; len(p.Shape) == 4 {
				filter = max(filter, p.Elements()*elementBytes(p.DType))
			}
		}
		add(2*conv+filter, "cuDNN's convolutions may take scratch memory, which recordings do not show")
	}
	return list
}

// manyTokens is from how many on a weight in 4 bits is unpacked whatever its shape
// (gemm_4bit in bitsandbytes/backends/cuda/ops.py, 0.50).
const manyTokens = 1536

// packed is the doubt about fewer tokens where a tape does not know when weights are
// unpacked: at most one is at a time, the largest.
func packed(r *run, a *about, params []symbolic.Tensor) []estimate.Doubt {
	if r.way.Quantize == "" || a.unpacks || r.recipe.Batch*r.recipe.Seq > manyTokens {
		return nil
	}
	element := int64(2)
	if r.recipe.Precision == recipe.FP32 {
		element = 4
	}
	var most int64
	for i := range params {
		if p := &params[i]; p.DType == "uint8" {
			most = max(most, 2*p.Elements()*element)
		}
	}
	return []estimate.Doubt{{Code: "few-tokens", Less: unit.Bytes(most), Message: fmt.Sprintf("up to %d tokens may be multiplied with weights in 4 bits as they are: they are taken to be unpacked", manyTokens)}}
}

// largest is the largest value of some sizes.
func largest(sizes []symbolic.Expr, env symbolic.Env) int64 {
	var most int64
	for _, e := range sizes {
		if v, err := e.Eval(env.Dims, env.Device); err == nil {
			most = max(most, v)
		}
	}
	return most
}
