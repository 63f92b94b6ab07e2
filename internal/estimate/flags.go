package estimate

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// flagsOf are the flags that turn one recipe into another, "" where the two
// are the same. A flag that is there twice counts as the last time; one that
// does not go with a new one is named, to be left out.
func flagsOf(from, to recipe.Recipe) string {
	var out []string
	add := func(changed bool, format string, value any) {
		if changed {
			out = append(out, fmt.Sprintf(format, value))
		}
	}
	add(from.Batch != to.Batch, "--batch %d", to.Batch)
	add(from.Accumulate != to.Accumulate, "--accumulate %d", to.Accumulate)
	add(from.Seq != to.Seq, "--seq %d", to.Seq)
	add(from.Attention != to.Attention, "--attention %s", to.Attention)
	add(from.Checkpoint != to.Checkpoint, "--checkpoint %s", to.Checkpoint)
	add(from.Optimizer != to.Optimizer, "--optimizer %s", to.Optimizer)
	if a, b := loraFlag(from), loraFlag(to); a != b {
		out = append(out, b)
	}
	add(from.Shard != to.Shard, "--shard %s", to.Shard)
	add(from.AllocConf != to.AllocConf, "--alloc-conf %s", to.AllocConf)
	if from.Precision != to.Precision { // last, since what it replaces stands behind it
		flag, value := precisionFlag(to.Precision)
		add(true, flag+" %s", value)
		if was, replaced := precisionFlag(from.Precision); was != flag && from.Precision != recipe.FP32 {
			add(true, "instead of "+was+" %s", replaced)
		}
	}
	return strings.Join(out, " ")
}

// precisionFlag is --amp or --dtype, and what it is given.
func precisionFlag(p recipe.Precision) (flag, value string) {
	if amp, ok := strings.CutPrefix(string(p), "amp-"); ok {
		return "--amp", amp
	}
	return "--dtype", string(p)
}

// loraFlag is "--lora r=16,targets=q_proj+v_proj", "" without adapters.
func loraFlag(r recipe.Recipe) string {
	if r.LoRA == nil {
		return ""
	}
	out := fmt.Sprintf("--lora r=%d,targets=%s", r.LoRA.Rank, strings.Join(r.LoRA.Targets, "+"))
	if r.Quantize != "" {
		out += ",base=" + r.Quantize
	}
	return out
}
