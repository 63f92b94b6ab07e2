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

func hugeVerdict(s *situation) string {
	have := fmt.Sprintf("%s free + %s unused in PyTorch", fine(s.free), fine(s.unused))
	left := s.spare()
	if left < 0 {
		return fmt.Sprintf("one request of %s is %s of %s: even in one piece, %s are %s short%s", fine(s.request), percentOf(s.request, s.total), s.gpu(), have, fine(-left), s.at())
	}
	return fmt.Sprintf("one request of %s is %s of %s: of %s, %s would be left over, in no piece that serves it%s", fine(s.request), percentOf(s.request, s.total), s.gpu(), have, fine(left), s.at())
}

func fragmentationVerdict(s *situation) string {
	if s.unused < s.request {
		return fmt.Sprintf("the memory is fragmented: %s reserved and unallocated + %s free at the driver are more than the request of %s, and neither serves it alone",
			fine(s.unused), fine(s.free), fine(s.request))
	}
	return fmt.Sprintf("the memory is fragmented: %s are reserved and unallocated, %s times the request of %s, in pieces that are too small; %s are free at the driver",
		fine(s.unused), times(s.unused, s.request), fine(s.request), fine(s.free))
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

// inOptimizer reports whether the innermost code is that of an optimizer. One
// that calls a closure is not: forward and backward run inside of it.
func (s *situation) inOptimizer() bool { return s.has("inside the optimizer") && !s.has("closure") }

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
