package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// line quotes the code that a sign was seen in.
func (s *situation) line(sign string) string {
	if l := s.signs[sign]; l != "" {
		return ", at " + quote(l)
	}
	return ""
}

// longestQuote is how much of a line of code a sentence takes.
const longestQuote = 80

func quote(l string) string {
	if r := []rune(l); len(r) > longestQuote {
		l = string(r[:longestQuote]) + "..."
	}
	return "`" + l + "`"
}

// at quotes the last line of code before the message, if there is one.
func (s *situation) at() string {
	for i := len(s.m.Before) - 1; i >= 0 && i >= len(s.m.Before)-innermost; i-- {
		l := strings.TrimSpace(s.m.Before[i])
		if strings.Trim(l, "^~- ") == "" || strings.HasPrefix(l, "File ") || strings.HasPrefix(l, "Traceback") {
			continue
		}
		if strings.Contains(l, "(") && (strings.HasPrefix(l, "return ") || strings.Contains(l, "=") || strings.HasSuffix(l, ")")) {
			return ", at " + quote(l)
		}
		return ""
	}
	return ""
}

// phase says what was going on when it is known.
func (s *situation) phase() string {
	switch {
	case s.inOptimizer():
		return "; it was in the optimizer's step"
	case s.has("backward"):
		return "; it was in backward"
	case s.has("collective"):
		return "; it was in a collective"
	case s.has("evaluation"):
		return "; it was in an evaluation"
	}
	return ""
}

// onward are words after a message by which a program says that it caught it,
// in lower case without spaces.
var onward = []string{"retrying", "retrywith", "tryagainwith", "tryingagain", "oomcaught", "caughtoom", "skippingbatch", "skippingthisbatch", "skipbatch", "reducingbatch", "loweringbatch", "attemptingtorecover", "recoverfromoom"}

// wentOn quotes the line by which the program says that it goes on.
func (s *situation) wentOn() string {
	l, there := find(s.m.After, onward)
	if !there {
		return ""
	}
	return "; the program caught it and went on: " + quote(l)
}

func otherVerdict(s *situation) string {
	if p, ok := largestProcess(s); ok && p.Bytes*2 > s.foreign() {
		more := ""
		if s.others > p.Bytes {
			more = fmt.Sprintf(", with the other processes it is %s", fine(s.others))
		}
		return fmt.Sprintf("process %d holds %s of the %s on %s%s; this process has %s", p.PID, fine(p.Bytes), fine(s.total), s.gpu(), more, fine(s.reserved))
	}
	what := fmt.Sprintf("%s of the %s on %s belong to neither PyTorch's allocator in this process nor the free memory", fine(s.outside), fine(s.total), s.gpu())
	if s.knowsBeside {
		what = fmt.Sprintf("%s of the %s on %s belong to other processes", fine(s.foreign()), fine(s.total), s.gpu())
	}
	return fmt.Sprintf("%s; this process reserves %s", what, fine(s.reserved))
}

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

func hugeVerdict(s *situation) string {
	have := fmt.Sprintf("%s free + %s unused in PyTorch", fine(s.free), fine(s.unused))
	left := s.spare()
	if left < 0 {
		return fmt.Sprintf("one request of %s is %s of %s: even in one piece, %s are %s short%s", fine(s.request), percentOf(s.request, s.total), s.gpu(), have, fine(-left), s.at())
	}
	return fmt.Sprintf("one request of %s is %s of %s: of %s, %s would be left over, in no piece that serves it%s", fine(s.request), percentOf(s.request, s.total), s.gpu(), have, fine(left), s.at())
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

func fragmentationVerdict(s *situation) string {
	if s.unused < s.request {
		return fmt.Sprintf("the memory is fragmented: %s reserved and unallocated + %s free at the driver are more than the request of %s, and neither serves it alone",
			fine(s.unused), fine(s.free), fine(s.request))
	}
	return fmt.Sprintf("the memory is fragmented: %s are reserved and unallocated, %s times the request of %s, in pieces that are too small; %s are free at the driver",
		fine(s.unused), times(s.unused, s.request), fine(s.request), fine(s.free))
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

func fullVerdict(s *situation) string {
	if s.total == 0 || !s.sized {
		of := ""
		if s.total > 0 {
			of = fmt.Sprintf(" of %s", fine(s.total))
		}
		return fmt.Sprintf("the device is full: %s%s are live tensors, %s asked for%s", fine(s.allocated), of, fine(s.request), s.phase())
	}
	if s.allocated > s.total {
		return fmt.Sprintf("%s live tensors are more than the %s of %s: the driver has moved part of them to the machine's memory, and %s more failed", fine(s.allocated), fine(s.total), s.gpu(), fine(s.request))
	}
	verdict := fmt.Sprintf("live tensors take %s of the %s on %s (%s), and %s more do not fit", fine(s.allocated), fine(s.total), s.gpu(), percentOf(s.allocated, s.total), fine(s.request))
	if pools, _ := s.m.Get("private_pool_bytes"); s.share(pools) >= besideShare {
		verdict += fmt.Sprintf("; %s of the tensors are in private pools, as of CUDA graphs", fine(pools))
	}
	if s.unused > 0 && s.shortage() > 0 {
		verdict += fmt.Sprintf("; allocator settings could give back %s at most", fine(s.unused))
	}
	return verdict + s.phase()
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

// inOptimizer reports whether the innermost code is that of an optimizer. One
// that calls a closure is not: forward and backward run inside of it.
func (s *situation) inOptimizer() bool { return s.has("inside the optimizer") && !s.has("closure") }

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

// highWatermark is how much of the recommended working set MPS allows itself
// (MPSAllocator.h, PyTorch 1.13 to 2.15).
const highWatermark = 1.7

func mpsVerdict(s *situation) string {
	allocated, _ := s.m.Get("allocated_bytes")
	other, _ := s.m.Get("other_allocations_bytes")
	limit, _ := s.m.Get("max_allowed_bytes")
	if limit == 0 {
		return "what MPS may take of this Mac's memory is used up"
	}
	holder := fmt.Sprintf("this process itself holds %s of the %s that MPS may take", fine(allocated), fine(limit))
	if other > allocated {
		holder = fmt.Sprintf("%s of the %s that MPS may take are other allocations (cached by the driver, or other users of Metal), this process's tensors %s", fine(other), fine(limit), fine(allocated))
	}
	c := unit.NewColumn(limit).AtLeast(2)
	return fmt.Sprintf("%s: %s this process + %s other allocations + %s asked for = %s", holder, c.Number(allocated), c.Number(other), c.Number(s.request), c.Format(allocated+other+s.request))
}

func mpsFacts(s *situation) []finding.Evidence {
	limit, there := s.m.Get("max_allowed_bytes")
	if !there {
		return nil
	}
	working := unit.Bytes(float64(limit) / highWatermark)
	return []finding.Evidence{{
		Fact:  fmt.Sprintf("the limit of %s is %.1f times the working set that Metal recommends, %s, which is two thirds to three quarters of the machine's memory", fine(limit), highWatermark, fine(working)),
		Bytes: &working,
	}}
}
