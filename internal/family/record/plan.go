package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
)

// A variant is one way to use a family's models: a tape.
type variant struct {
	solve.Job
	class int  // of cards: 75, 80 or 90
	few   bool // fewer recordings are enough
}

// key names the tape of a variant.
func (v variant) key() string {
	return recordings.Way{
		Task: v.Task, Mode: v.Mode, Precision: v.Precision, Attention: v.Attention, Checkpoint: v.Checkpoint, Class: v.class, Structure: v.Structure,
		ChannelsLast: v.ChannelsLast, Unpadded: v.Unpadded, LoRA: v.LoRA, Quantize: v.Quantize, Shard: v.Shard,
	}.String()
}

// cards are those of a class: it is recorded on the first, and checked on both. What
// kernels see of them is as in internal/gpu/gpus.csv: T4 and RTX 2080 Ti, A100 and
// RTX 3090, H100 SXM5 and H100 PCIe.
var cards = map[int][2]kernel.Device{
	75: {{Capability: 75, Multiprocessors: 40, ThreadsPerMultiprocessor: 1024}, {Capability: 75, Multiprocessors: 68, ThreadsPerMultiprocessor: 1024}},
	80: {{Capability: 80, Multiprocessors: 108, ThreadsPerMultiprocessor: 2048}, {Capability: 86, Multiprocessors: 82, ThreadsPerMultiprocessor: 1536}},
	90: {{Capability: 90, Multiprocessors: 132, ThreadsPerMultiprocessor: 2048}, {Capability: 90, Multiprocessors: 114, ThreadsPerMultiprocessor: 2048}},
}

// A way is a column of the plan.
type way struct {
	mode, attention, checkpoint string
	class                       int
	precisions                  string
}

// everywhere is how each structure and task is recorded, with the kernels of attention
// that cards of 7.5 have for fp16 alone. What else depends on the class of the cards is
// recorded of the first structure and task; thorough is more of that, for families
// whose row plans it.
var (
	everywhere = []way{
		{"train", "sdpa", "none", 80, "fp32 bf16 amp-bf16 amp-fp16"},
		{"train", "sdpa", "full", 80, "fp32 bf16 amp-bf16 amp-fp16"},
		{"eval", "sdpa", "none", 80, "fp32 bf16 amp-bf16 amp-fp16"},
		{"train", "eager", "none", 80, "fp32 bf16 amp-bf16 amp-fp16"},
		{"train", "eager", "full", 80, "fp32 bf16 amp-bf16 amp-fp16"},
		{"eval", "eager", "none", 80, "fp32 bf16 amp-bf16 amp-fp16"},
		{"train", "sdpa", "none", 75, "amp-fp16"},
		{"train", "sdpa", "full", 75, "amp-fp16"},
		{"eval", "sdpa", "none", 75, "amp-fp16"},
	}
	common = append(slices.Clone(everywhere), []way{
		{"train", "sdpa", "none", 90, "bf16"},
		{"train", "sdpa", "full", 90, "bf16"},
	}...)
	thorough = append(slices.Clone(everywhere), []way{
		{"train", "sdpa", "none", 90, "bf16 amp-bf16"},
		{"train", "sdpa", "full", 90, "bf16 amp-bf16"},
	}...)
)

// variants are the tapes of a family of text models.
func variants(r *row) []variant {
	var list []variant
	for n, s := range r.Structures {
		for i, task := range r.tasks(s.Name) {
			for _, w := range r.baseWays(n, i) {
				list = append(list, w.variants(r, s.Name, task, r.Plan.Shapes != "all")...)
			}
		}
	}
	return list
}

// variants are the tapes of a way, one for each of its precisions that the models have.
func (w way) variants(r *row, structure, task string, few bool) []variant {
	var list []variant
	for p := range strings.FieldsSeq(w.precisions) {
		if len(r.Precisions) == 0 || slices.Contains(r.Precisions, p) {
			j := solve.Job{Family: r.Family, Task: task, Mode: w.mode, Precision: p, Attention: w.attention, Checkpoint: w.checkpoint, Structure: structure}
			list = append(list, variant{Job: j, class: w.class, few: few})
		}
	}
	return list
}

// baseWays are the ways to run a structure and a task of it, by their numbers.
func (r *row) baseWays(structure, task int) []way {
	much := r.Plan.Ways == "thorough"
	switch {
	case r.Plan.Ways == "every":
		return r.able(thorough)
	case structure == 0 && task == 0 && much:
		return r.able(thorough)
	case structure > 0 || task > 0 && !much:
		return r.able(everywhere)
	}
	return r.able(common)
}

// able are the ways that the models can be run.
func (r *row) able(ways []way) []way {
	return slices.DeleteFunc(slices.Clone(ways), func(w way) bool {
		return w.checkpoint != "none" && slices.Contains(r.Plan.Lacks, "checkpoint")
	})
}

// shapes are micro-batches and sequence lengths on both sides of what kernels
// look at: many tokens and few, lengths that are multiples of 64 and such that
// are not, and a batch of one.
var shapes = [][2]int64{
	{5, 768}, {6, 1024}, {7, 832}, {9, 960}, {11, 512}, {1, 4096}, {17, 1024}, {37, 640},
	{2, 448}, {9, 256}, {1, 1024}, {1, 192},
	{7, 197}, {11, 301}, {31, 250}, {1, 515},
}

// spare are the shapes that the less used families are recorded without, and
// spareOfKnown those that ways are which differ from others of the structure by what
// attention does alone: the rest is known of those.
var (
	spare        = []int{1, 6, 11, 13}
	spareOfKnown = []int{1, 3, 4, 6, 8, 11, 13, 15}
)

// fewTokens are further shapes for weights in 4 bits, which few tokens are multiplied
// with as they are; how few depends on the weight and the card.
var fewTokens = [][2]int64{
	{2, 160}, {3, 64}, {2, 16}, {2, 40}, {3, 10}, {1, 24}, {2, 14}, {3, 20}, {4, 8}, {1, 16}, {2, 12}, {1, 350},
}

// checks are the shapes that a tape is checked at, the second on the other card.
var checks = [][2]int64{{3, 1216}, {19, 384}}

var (
	vocabularies = []int64{1984, 4288, 8128, 13504, 21184}
	positions    = []int64{4160, 4608, 5120}
)

// isKnown reports whether the plan has the rest of a way with other attention.
func (v variant) isKnown() bool {
	base := len(v.LoRA) == 0 && v.Shard == "" && !v.Unpadded && v.Mode != "infer"
	return base && (v.Attention == "eager" || v.class == 75) && (v.Mode == "eval" || v.Checkpoint == "full")
}

// jobs are the recordings of a variant; those from solved on are for the check.
func (v variant) jobs(r *row) (list []job, solved int) {
	if r.Library == "torchvision" {
		return v.pictureJobs()
	}
	add := func(n int, shape [2]int64, card int, more bool) {
		j := job{Job: v.Job, Seed: fmt.Sprintf("%s-%d", v.Family, n), Pick: map[string][]int64{"B": {shape[0]}, "S": {shape[1]}, "V": vocabularies, "P": positions}}
		v.picks(r, j.Pick, more)
		j.Device = cards[v.class][card]
		j.More = more
		if len(r.Regimes) > 0 {
			j.Regime = r.Regimes[n%len(r.Regimes)].Name
		}
		list = append(list, j)
	}
	for n, s := range shapes {
		if v.few && slices.Contains(spare, n) || v.isKnown() && slices.Contains(spareOfKnown, n) {
			continue
		}
		add(n, s, 0, false)
	}
	if v.Quantize != "" {
		for n, s := range fewTokens {
			add(len(shapes)+n, s, 0, false)
		}
	}
	solved = len(list)
	for n, s := range checks {
		add(100+n, s, n, true)
	}
	return list, solved
}

// A job is a line that the recorder reads.
type job struct {
	solve.Job
	Dims   symbolic.Dims      `json:"dims,omitempty"` // otherwise drawn by the recorder
	Seed   string             `json:"seed"`
	Pick   map[string][]int64 `json:"pick"`
	Regime string             `json:"regime,omitempty"`
	More   bool               `json:"more,omitempty"` // more layers than those that are solved from

	// Of models of images; see vision.py.
	Extents bool  `json:"extents,omitempty"` // note them
	Fill    int64 `json:"fill,omitempty"`    // bytes that the largest tensor is to have
	Most    int64 `json:"most,omitempty"`    // images
}

// Columns of the plan of batches without padding: those of every structure, and
// further ones of the first. Adapters are on all modules that a row lists, since
// shorter lists are composed from it.
var (
	unpaddedWays = []way{
		{"train", "sdpa", "none", 80, "bf16 amp-bf16"},
		{"train", "sdpa", "full", 80, "bf16 amp-bf16"},
	}
	furtherUnpaddedWays = []way{
		{"train", "sdpa", "none", 80, "fp32 amp-fp16"},
		{"train", "sdpa", "full", 80, "fp32"},
		{"train", "sdpa", "none", 90, "bf16 amp-bf16"},
		{"train", "sdpa", "full", 90, "bf16 amp-bf16"},
		{"train", "sdpa", "none", 75, "amp-fp16"},
		{"eval", "sdpa", "none", 80, "bf16 fp32"},
	}
)

// unpaddedVariants are the tapes of batches without padding.
func unpaddedVariants(r *row) []variant {
	if !r.Plan.has("unpadded") {
		return nil
	}
	list := r.ways(unpaddedWays, furtherUnpaddedWays)
	for _, v := range r.ways(nil, adapterWays) {
		for _, name := range []string{"all", "attention", "default"} {
			if len(r.LoRA[name]) > 0 {
				v.LoRA = r.LoRA[name]
				list = append(list, v)
				break
			}
		}
	}
	for i := range list {
		list[i].Unpadded, list[i].few = true, true
	}
	return list
}

type planPart struct {
	name string
	of   func(r *row) []variant
}

// plans are the parts of the plan, in the order of their use.
var plans = []planPart{
	{"base", variants},
	{"unpadded", unpaddedVariants},
	{"infer", inferVariants},
	{"adapters", adapterVariants},
	{"shard", shardVariants},
}

// checkPlans refuses names of parts that there are not.
func checkPlans(names string) error {
	for name := range strings.SplitSeq(names, ",") {
		if name != "" && !slices.ContainsFunc(plans, func(p planPart) bool { return p.name == name }) {
			return fmt.Errorf("-plan %s: base, unpadded, infer, adapters or shard expected", name)
		}
	}
	return nil
}

// planOf is what is recorded of a row: all parts of the plan, or the named ones.
// Models of images have the base alone.
func planOf(r *row, names string) []variant {
	plans := plans
	if r.Library == "torchvision" {
		plans = []planPart{{"base", visionVariants}}
	}
	var list []variant
	for _, p := range plans {
		if names == "" || slices.Contains(strings.Split(names, ","), p.name) {
			list = append(list, p.of(r)...)
		}
	}
	return list
}
