package main

import (
	"maps"
	"slices"
)

// Columns of the plan of other ways than training all parameters: those of every
// structure, and further ones of the first.
var (
	adapterWays = []way{
		{"train", "sdpa", "full", 80, "bf16"},
		{"train", "sdpa", "none", 80, "bf16"},
	}
	furtherAdapterWays = []way{
		{"train", "sdpa", "none", 80, "amp-bf16 fp32"},
		{"train", "sdpa", "full", 80, "amp-bf16 fp32"},
		{"train", "sdpa", "none", 90, "bf16"},
		{"train", "sdpa", "full", 90, "bf16"},
		{"train", "sdpa", "none", 75, "amp-fp16"},
		{"train", "sdpa", "full", 75, "amp-fp16"},
	}
	inferWays        = []way{{"infer", "sdpa", "none", 80, "bf16 fp32"}}
	furtherInferWays = []way{
		{"infer", "sdpa", "none", 80, "fp16"},
		{"infer", "sdpa", "none", 90, "bf16"},
		{"infer", "sdpa", "none", 75, "fp16"},
	}
	shardWays = []way{
		{"train", "sdpa", "full", 80, "amp-bf16 bf16"},
		{"train", "sdpa", "none", 80, "amp-bf16 bf16"},
	}
	furtherShardWays = []way{
		{"train", "sdpa", "none", 80, "fp32"},
		{"train", "sdpa", "full", 80, "fp32"},
		{"train", "sdpa", "full", 90, "amp-bf16"},
		{"train", "sdpa", "none", 90, "amp-bf16"},
	}
)

// adapterVariants are the tapes of LoRA: on the usual modules with every precision,
// on the further lists of a row with weights in bfloat16, and in 4 bits.
func adapterVariants(r *row) []variant {
	var list []variant
	for _, name := range []string{"default", "all", "attention", "experts"} {
		var further []way
		if name == "default" {
			further = furtherAdapterWays
		}
		for _, v := range r.ways(adapterWays, further) {
			v.LoRA = r.lora(v.Structure, name)
			first := v.Structure == r.Structures[0].Name
			if len(v.LoRA) == 0 || name == "attention" && !first {
				continue
			}
			list = append(list, v)
			if first && name != "attention" && v.Precision == "bf16" && v.class == 80 && r.Plan.has("nf4") {
				v.Quantize = "nf4"
				list = append(list, v)
			}
		}
	}
	return list
}

// inferVariants are the tapes of generation.
func inferVariants(r *row) []variant {
	if r.Classes["causal-lm"] == "" || !r.Plan.has("infer") {
		return nil
	}
	list := r.ways(inferWays, furtherInferWays)
	for i := range list {
		list[i].few = list[i].few && len(r.Regimes) == 0 // a window on both sides, prompts and tokens take many kernels
	}
	return list
}

// shardVariants are the tapes of FSDP2.
func shardVariants(r *row) []variant {
	if !r.Plan.has("shard") {
		return nil
	}
	list := r.ways(shardWays, furtherShardWays)
	for i := range list {
		list[i].Shard = "fsdp2"
	}
	return slices.DeleteFunc(list, func(v variant) bool { return v.Precision == "bf16" && slices.Contains(r.Plan.Lacks, "one-type") })
}

// ways are the variants of a row's structures with their first task: some of all of
// them, further ones of the first.
func (r *row) ways(all, further []way) []variant {
	var list []variant
	for n, s := range r.Structures {
		tasks := r.tasks(s.Name)
		if len(tasks) == 0 {
			continue
		}
		ways := all
		if n == 0 {
			ways = slices.Concat(all, further)
		}
		for _, w := range r.able(ways) {
			list = append(list, w.variants(r, s.Name, tasks[0], n > 0)...)
		}
	}
	return list
}

// picks adds the choices of dimensions that only a mode has. Cards divide all
// extents where a tape is solved, and few where it is checked.
func (v variant) picks(r *row, pick map[string][]int64, check bool) {
	if len(v.LoRA) > 0 {
		pick["A"] = []int64{8, 16, 24, 40, 56}
	}
	if v.Shard != "" {
		pick["D"] = []int64{2, 4, 8, 16}
		if check {
			pick["D"] = []int64{3, 6, 7}
		} else {
			maps.Copy(pick, r.Plan.Sharded)
		}
	}
}
