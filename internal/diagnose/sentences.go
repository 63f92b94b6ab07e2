package diagnose

import (
	"fmt"
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
	case s.has("optimizer"):
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

func otherVerdict(s *situation) string {
	if p, ok := largestProcess(s); ok && p.Bytes*2 > s.foreign() {
		return fmt.Sprintf("process %d holds %s of the %s on %s, all others together %s; this process has %s", p.PID, fine(p.Bytes), fine(s.total), s.gpu(), fine(s.others), fine(s.reserved))
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
	if p, ok := largestProcess(s); ok {
		name = fmt.Sprintf("stop process %d or move it to another GPU", p.PID)
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
	half := s.request / 2
	return append(s.forSize(), finding.Remedy{
		Action: "find the operation that makes this tensor and do it in parts; with 2 parts each asks for half",
		Saves:  &half, Method: arithmetic, Exact: finding.SameNumbers,
	})
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
	return fmt.Sprintf("the memory is fragmented: %s are reserved and unallocated, %s times the request of %s, in pieces that are too small; %s are free at the driver",
		fine(s.unused), times(s.unused, s.request), fine(s.request), fine(s.free))
}

// olderThanExpandable are kinds whose versions do not have the setting.
var olderThanExpandable = map[string]string{
	"torch_cached": "", "torch_reserved": "", "torch_reserved_hint": "max_split_size_mb", "torch_reserved_allowed": "max_split_size_mb",
}

func fragmentationRemedies(s *situation) []finding.Remedy {
	spare := s.spare()
	old, isOld := olderThanExpandable[s.m.Kind.Name]
	name := "PYTORCH_CUDA_ALLOC_CONF"
	if s.m.Kind.Name == "torch_v29" || s.m.Kind.Name == "torch_generic" {
		name = "PYTORCH_ALLOC_CONF"
	}
	var out []finding.Remedy
	switch {
	case !isOld && s.has("windows"):
		out = append(out, finding.Remedy{Action: "split less: large blocks stay whole (expandable segments do not exist on Windows)", Flag: name + "=max_split_size_mb:128", Exact: finding.SameNumbers})
	case !isOld:
		out = append(out, finding.Remedy{
			Action: fmt.Sprintf("let segments grow: the request would leave %s", fine(spare)), Flag: name + "=expandable_segments:True",
			Saves: &s.unused, Method: arithmetic, Exact: finding.SameNumbers,
		})
	case old != "":
		out = append(out,
			finding.Remedy{Action: "split less: large blocks stay whole", Flag: name + "=max_split_size_mb:128", Exact: finding.SameNumbers},
			finding.Remedy{Action: fmt.Sprintf("PyTorch 2.1 and later can let segments grow: the request would leave %s", fine(spare)), Flag: name + "=expandable_segments:True", Saves: &s.unused, Method: arithmetic, Exact: finding.SameNumbers})
	default:
		out = append(out, finding.Remedy{
			Action: fmt.Sprintf("a PyTorch of 2.1 or later can let segments grow: the request would leave %s", fine(spare)), Flag: name + "=expandable_segments:True",
			Saves: &s.unused, Method: arithmetic, Exact: finding.SameNumbers,
		})
	}
	return append(out, finding.Remedy{Action: "keep shapes the same from step to step: pad batches to a few lengths", Exact: finding.SameExpectation})
}

func fullVerdict(s *situation) string {
	if s.total == 0 || !s.sized {
		return fmt.Sprintf("the device is full: %s live tensors, %s asked for%s", fine(s.allocated), fine(s.request), s.phase())
	}
	if s.allocated > s.total {
		return fmt.Sprintf("%s live tensors are more than the %s of %s: the driver has moved part of them to the machine's memory, and %s more failed", fine(s.allocated), fine(s.total), s.gpu(), fine(s.request))
	}
	verdict := fmt.Sprintf("live tensors take %s of the %s on %s (%s), and %s more do not fit", fine(s.allocated), fine(s.total), s.gpu(), percentOf(s.allocated, s.total), fine(s.request))
	if s.unused > 0 && s.shortage() > 0 {
		verdict += fmt.Sprintf("; allocator settings could give back %s at most", fine(s.unused))
	}
	return verdict + s.phase()
}

func fullRemedies(s *situation) []finding.Remedy {
	short := max(s.shortage(), 0)
	out := []finding.Remedy{
		{Action: "half the batch, accumulated over twice the steps; activations halve, parameters and optimizer state stay", Flag: "gradient accumulation", Exact: finding.SameExpectation},
		{Action: "activation checkpointing: keep the inputs of layers and compute the rest again", Flag: "model.gradient_checkpointing_enable()", Exact: finding.SameNumbers},
		{Action: "see what the job needs before it is run again", Flag: "plimsoll estimate, plimsoll capture"},
	}
	if short > 0 {
		out[0].Action += fmt.Sprintf(" (at least %s have to go)", fine(short))
	}
	return out
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
	return fmt.Sprintf("%s; with %s more it is %s", holder, fine(s.request), fine(allocated+other+s.request))
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
