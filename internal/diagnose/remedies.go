package diagnose

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func otherRemedies(s *situation) []finding.Remedy {
	held := s.foreign()
	name := "see which they are and stop them, or take another GPU"
	if !s.knowsBeside && held < s.outside {
		name += fmt.Sprintf(": %s less the %s that this process's own context may take", fine(s.outside), fine(s.outside-held))
	}
	if p, ok := largestProcess(s); ok {
		name = fmt.Sprintf("stop process %d or move it to another GPU", p.PID)
		held = p.Bytes
	}
	return []finding.Remedy{
		{Action: name, Flag: "nvidia-smi, then CUDA_VISIBLE_DEVICES", Saves: &held, Method: arithmetic, Exact: finding.SameNumbers},
		{Action: "where both must share the card, let the other one give its memory back before this one needs it"},
	}
}

func hugeRemedies(s *situation) []finding.Remedy {
	return append(s.forSize(), s.inParts("find the operation that makes this tensor and do it in parts", 2))
}

// leastChunks is into how many parts a loss is cut at least.
const leastChunks = 8

// inParts is to make the tensor that was asked for in parts, each of which
// fits into what is free: at least so many. Where the message does not tell
// what is free, or next to nothing is, the number of parts stays open.
func (s *situation) inParts(action string, least unit.Bytes) finding.Remedy {
	out := finding.Remedy{Action: action, Exact: finding.SameNumbers}
	if !s.sized || s.free < tie || s.request <= 0 {
		return out
	}
	n := max(least, (s.request+s.free-1)/s.free)
	each := s.request / n
	out.Action += fmt.Sprintf(": %d parts of %s fit into the %s that are free, if each is given up before the next is made", n, fine(each), fine(s.free))
	out.Saves, out.Method = pointer(s.request-each), arithmetic
	return out
}

// missing says how much more would have to be free.
func (s *situation) missing() string {
	if short := s.shortage(); s.sized && short > 0 {
		return fmt.Sprintf(" (%s are missing)", fine(short))
	}
	return ""
}

// capRemedies are for a limit that was set: what lifting it gives is what the
// device has free.
func capRemedies(s *situation) []finding.Remedy {
	lift := finding.Remedy{
		Action: fmt.Sprintf("raise the limit above %s, or take it away", fine(s.reserved+s.request)),
		Flag:   "torch.cuda.set_per_process_memory_fraction(1.0)", Exact: finding.SameNumbers,
	}
	lower := finding.Remedy{Action: "use less: a smaller batch, accumulated over more steps", Exact: finding.SameExpectation}
	if !s.sized {
		return []finding.Remedy{lift, lower}
	}
	if s.free >= s.request {
		lift.Action += fmt.Sprintf("; the device itself has %s free", fine(s.free))
		return []finding.Remedy{lift, lower}
	}
	lower.Action += fmt.Sprintf("; lifting the limit alone does not serve the request: the device itself has %s free, %s less than was asked for", fine(s.free), fine(s.shortage()))
	out := []finding.Remedy{lower}
	grow := finding.Remedy{Flag: s.variable() + "=expandable_segments:True", Method: arithmetic, Exact: finding.SameNumbers}
	switch {
	case !s.growable():
	case s.allowed-s.allocated-s.request > tie:
		grow.Action = fmt.Sprintf("let segments grow: %s allocated + %s asked for fit under the limit without what lies unused", fine(s.allocated), fine(s.request))
		out = append(out, grow)
	case s.spare() > tie:
		grow.Action = fmt.Sprintf("take the limit away and let segments grow as well: of %s free + %s unused, the request would leave %s at most", fine(s.free), fine(s.unused), fine(s.spare()))
		out = append(out, grow)
	}
	return out
}

// driverRemedies are for the driver's own error, which has no sizes.
func driverRemedies(s *situation) []finding.Remedy {
	out := []finding.Remedy{{Action: "see what holds the GPU: nvidia-smi"}}
	if s.has("collective") || s.has("nothing allocated") || len(s.m.Ranks) > 0 {
		return append(out, finding.Remedy{Action: "give each rank its own device before the first collective", Flag: "torch.cuda.set_device(local_rank)", Exact: finding.SameNumbers})
	}
	return append(out, finding.Remedy{Action: "leave libraries and kernels room beside PyTorch's allocator, which then gives its cache back earlier", Flag: "torch.cuda.set_per_process_memory_fraction(0.9)", Exact: finding.SameNumbers})
}

// forSize are remedies for large tensors of a known origin.
func (s *situation) forSize() []finding.Remedy {
	switch {
	case s.has("attention"):
		return []finding.Remedy{{Action: "attention that never writes the scores", Flag: "attn_implementation=\"sdpa\" or flash attention", Saves: pointer(s.request), Method: arithmetic, Exact: finding.SameExpectation}}
	case s.has("logits"):
		return []finding.Remedy{{Action: "compute the loss in chunks of tokens, or with a fused linear cross entropy", Exact: finding.SameNumbers}}
	}
	return nil
}

// olderThanExpandable are kinds whose versions do not have the setting.
var olderThanExpandable = map[string]string{
	"torch_cached": "", "torch_reserved": "", "torch_reserved_hint": "max_split_size_mb", "torch_reserved_allowed": "max_split_size_mb",
}

// variable is where the settings of PyTorch's allocator stand.
func (s *situation) variable() string {
	if s.m.Kind.Name == "torch_npu" {
		return "PYTORCH_NPU_ALLOC_CONF"
	}
	if s.m.Kind.Name == "torch_v29" || s.m.Kind.Name == "torch_generic" {
		return "PYTORCH_ALLOC_CONF"
	}
	return "PYTORCH_CUDA_ALLOC_CONF"
}

// withoutSegments are kinds of allocators that do not have the setting.
var withoutSegments = []string{"torch_xpu_v1", "torch_xpu_v2", "torch_async"}

// growable reports whether this PyTorch can let segments grow, and the log
// does not show that it does already.
func (s *situation) growable() bool {
	_, old := olderThanExpandable[s.m.Kind.Name]
	return !old && !s.growing() && !s.has("windows") && !slices.Contains(withoutSegments, s.m.Kind.Name)
}

// growing reports that segments grow: the message says so, or a setting.
func (s *situation) growing() bool { return s.has("segments grow") || s.log.Expandable }

// atMost says what growing segments give. Blocks do not move: pages that hold
// a live one stay, so that a log tells the most that it can be.
func (s *situation) atMost() string {
	return fmt.Sprintf(": pages without a live block can then serve the request; %s would be left at most", fine(s.spare()))
}

func fragmentationRemedies(s *situation) []finding.Remedy {
	old, isOld := olderThanExpandable[s.m.Kind.Name]
	name := s.variable()
	var out []finding.Remedy
	switch {
	case slices.Contains(withoutSegments, s.m.Kind.Name):
		out = append(out, finding.Remedy{Action: "give unused memory back before the phase that fails", Flag: "empty_cache()", Exact: finding.SameNumbers})
	case s.has("segments grow"):
		out = append(out, finding.Remedy{Action: "segments grow already: what lies unused shares pages with live blocks, or belongs to other streams and to pools of CUDA graphs; give it back before the phase that fails", Flag: "torch.cuda.empty_cache()", Exact: finding.SameNumbers})
	case s.log.Expandable:
		out = append(out,
			finding.Remedy{Action: "the log sets expandable_segments:True already: see that it stands before the first CUDA call of this very process, and that the platform has it (not Windows)"},
			finding.Remedy{Action: "give unused memory back before the phase that fails; private pools of CUDA graphs and other streams keep theirs", Flag: "torch.cuda.empty_cache()", Exact: finding.SameNumbers})
	case !isOld && s.has("windows"):
		out = append(out, finding.Remedy{Action: "split less: large blocks stay whole (expandable segments do not exist on Windows)", Flag: name + "=max_split_size_mb:128", Exact: finding.SameNumbers})
	case !isOld:
		out = append(out, finding.Remedy{
			Action: "let segments grow" + s.atMost(), Flag: name + "=expandable_segments:True", Method: arithmetic, Exact: finding.SameNumbers,
		})
	case old != "":
		out = append(out,
			finding.Remedy{Action: "split less: large blocks stay whole", Flag: name + "=max_split_size_mb:128", Exact: finding.SameNumbers},
			finding.Remedy{Action: "PyTorch 2.1 and later can let segments grow" + s.atMost(), Flag: name + "=expandable_segments:True", Method: arithmetic, Exact: finding.SameNumbers})
	default:
		out = append(out, finding.Remedy{
			Action: "a PyTorch of 2.1 or later can let segments grow" + s.atMost(), Flag: name + "=expandable_segments:True", Method: arithmetic, Exact: finding.SameNumbers,
		})
	}
	return append(out, finding.Remedy{Action: "keep shapes the same from step to step: pad batches to a few lengths", Exact: finding.SameExpectation})
}

func fullRemedies(s *situation) []finding.Remedy {
	var out []finding.Remedy
	switch {
	case s.inOptimizer():
		out = append(out, s.optimizerRemedies()...)
	case s.has("inference") && !s.has("backward"):
		out = append(out,
			finding.Remedy{Action: "fewer sequences or images at once" + s.missing(), Exact: finding.SameNumbers},
			finding.Remedy{Action: "fewer tokens kept: a shorter input or max_new_tokens, a KV cache in 8 bits", Exact: finding.ChangesResults},
			finding.Remedy{Action: "weights in bf16 or quantised", Exact: finding.ChangesResults},
			finding.Remedy{Action: "no gradients and no outputs kept on the GPU", Flag: "torch.inference_mode(), output.cpu()", Exact: finding.SameNumbers})
	default:
		out = append(out,
			finding.Remedy{Action: "half the batch, accumulated over twice the steps; activations halve, parameters and optimizer state stay" + s.missing(), Flag: "gradient accumulation", Exact: finding.SameExpectation},
			finding.Remedy{Action: "activation checkpointing: keep the inputs of layers and compute the rest again", Flag: "model.gradient_checkpointing_enable()", Exact: finding.SameNumbers})
	}
	if s.sized && s.growable() && s.shortage() > 0 && s.unused >= s.shortage() && s.spare() > tie {
		out = append(out, finding.Remedy{
			Action: "let segments grow" + s.atMost() + ", and the next requests need more",
			Flag:   s.variable() + "=expandable_segments:True", Method: arithmetic, Exact: finding.SameNumbers,
		})
	}
	return append(out, finding.Remedy{Action: "see what the job needs before it is run again", Flag: "plimsoll estimate, plimsoll capture"})
}

// optimizerRemedies are for a request of the optimizer's step, when
// activations are gone: batch and length play no part.
func (s *situation) optimizerRemedies() []finding.Remedy {
	var out []finding.Remedy
	if contains(s.signs["inside the optimizer"], "_foreach_") || s.has("foreach") {
		out = append(out, finding.Remedy{Action: "update one parameter at a time: the foreach step makes temporaries of the size of all of them" + s.missing(), Flag: "foreach=False", Exact: finding.SameNumbers})
	}
	return append(out,
		finding.Remedy{Action: "shard optimizer state and gradients over the ranks (ZeRO, FSDP)", Exact: finding.SameExpectation},
		finding.Remedy{Action: "optimizer state in 8 bits, or an optimizer with less of it", Flag: "bitsandbytes.optim.AdamW8bit", Exact: finding.ChangesResults})
}
