package estimate

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// flagsOf are the flags that turn one recipe into another, "" where the two
// are the same.
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
	if from.Precision != to.Precision {
		if amp, ok := strings.CutPrefix(string(to.Precision), "amp-"); ok {
			out = append(out, "--amp "+amp)
		} else {
			out = append(out, "--dtype "+string(to.Precision))
		}
	}
	add(from.Attention != to.Attention, "--attention %s", to.Attention)
	add(from.Checkpoint != to.Checkpoint, "--checkpoint %s", to.Checkpoint)
	add(from.Optimizer != to.Optimizer, "--optimizer %s", to.Optimizer)
	if a, b := loraFlag(from), loraFlag(to); a != b {
		out = append(out, b)
	}
	add(from.Shard != to.Shard, "--shard %s", to.Shard)
	add(from.AllocConf != to.AllocConf, "--alloc-conf %s", to.AllocConf)
	return strings.Join(out, " ")
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
