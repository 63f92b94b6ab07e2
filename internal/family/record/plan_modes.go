package main

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
)

// llamaLike are the families whose layers are alike and that are trained in every
// way there is.
var llamaLike = []string{"llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "phi3", "olmo2", "starcoder2", "gpt2", "gpt_neox", "opt"}

// quantizable are the families whose layers are all of class Linear and that are
// tuned in 4 bits.
var quantizable = []string{"llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "phi3"}

// generators are further families that text is generated with.
var generators = []string{"mixtral", "qwen3_moe", "qwen2_moe", "phi", "gptj", "falcon", "bloom", "gpt_neo"}

// A mode is a column of the plan of other ways than training all parameters.
type mode struct {
	way
	further bool // for structures after the first, too
}

var (
	adapterModes = []mode{
		{way{"train", "sdpa", "none", 80, "bf16 fp32 amp-bf16"}, true},
		{way{"train", "sdpa", "full", 80, "bf16 fp32 amp-bf16"}, true},
		{way{"train", "sdpa", "none", 90, "bf16"}, false},
		{way{"train", "sdpa", "full", 90, "bf16"}, false},
		{way{"train", "sdpa", "none", 75, "amp-fp16"}, false},
		{way{"train", "sdpa", "full", 75, "amp-fp16"}, false},
	}
	inferModes = []mode{
		{way{"infer", "sdpa", "none", 80, "bf16 fp16 fp32"}, true},
		{way{"infer", "sdpa", "none", 90, "bf16 fp16"}, false},
		{way{"infer", "sdpa", "none", 75, "fp16"}, false},
	}
	shardModes = []mode{
		{way{"train", "sdpa", "none", 80, "amp-bf16 bf16 fp32"}, true},
		{way{"train", "sdpa", "full", 80, "amp-bf16 bf16 fp32"}, true},
		{way{"train", "sdpa", "none", 90, "amp-bf16 bf16"}, false},
		{way{"train", "sdpa", "full", 90, "amp-bf16 bf16"}, false},
	}
)

// adapterVariants are the tapes of LoRA: the usual modules with every precision,
// the further lists of a row with weights in bfloat16.
func adapterVariants(r *row) []variant {
	var list []variant
	for _, name := range []string{"default", "attention", "all"} {
		targets := r.LoRA[name]
		if len(targets) == 0 {
			continue
		}
		modes := adapterModes
		if name != "default" {
			modes = []mode{{way{"train", "sdpa", "none", 80, "bf16"}, true}, {way{"train", "sdpa", "full", 80, "bf16"}, true}}
		}
		for _, v := range r.modes(modes) {
			v.LoRA = targets
			list = append(list, v)
			if v.Precision == "bf16" && v.class == 80 && slices.Contains(quantizable, r.Family) {
				v.Quantize = "nf4"
				list = append(list, v)
			}
		}
	}
	return list
}

// inferVariants are the tapes of generation.
func inferVariants(r *row) []variant {
	if r.Classes["causal-lm"] == "" || !slices.Contains(slices.Concat(llamaLike, generators), r.Family) {
		return nil
	}
	return r.modes(inferModes)
}

// shardVariants are the tapes of FSDP2.
func shardVariants(r *row) []variant {
	if !slices.Contains(llamaLike, r.Family) {
		return nil
	}
	list := r.modes(shardModes)
	for i := range list {
		list[i].Shard = "fsdp2"
	}
	return list
}

// modes are the variants of a row's structures in some modes, of the first task.
func (r *row) modes(modes []mode) []variant {
	var list []variant
	for n, s := range r.Structures {
		tasks := r.tasks(s.Name)
		if len(tasks) == 0 {
			continue
		}
		for _, m := range modes {
			if n > 0 && !m.further {
				continue
			}
			for p := range strings.FieldsSeq(m.precisions) {
				j := solve.Job{Family: r.Family, Task: tasks[0], Mode: m.mode, Precision: p, Attention: m.attention, Checkpoint: m.checkpoint, Structure: s.Name}
				list = append(list, variant{Job: j, class: m.class})
			}
		}
	}
	return list
}

// picks adds the choices of dimensions that only a mode has. Cards divide all
// extents where a tape is solved, and few where it is checked.
func (v variant) picks(pick map[string][]int64, check bool) {
	if len(v.LoRA) > 0 {
		pick["A"] = []int64{8, 16, 24, 40, 56}
	}
	if v.Shard != "" {
		pick["D"] = []int64{2, 4, 8, 16}
		if check {
			pick["D"] = []int64{3, 6, 7}
		}
	}
}
