package capture

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A span is an amount that is known from low to high.
type span struct{ low, typical, high unit.Bytes }

func (s span) plus(t span) span { return span{s.low + t.low, s.typical + t.typical, s.high + t.high} }

func spanOf(i gpu.Interval) span { return span{i.Low, i.Typical, i.High} }

// contextOn is the CUDA context of a process on a card. One that the user
// gave is certain, and the same everywhere.
func (o Options) contextOn(c gpu.Card) span {
	if o.Context != o.Card.Context.Typical {
		return span{o.Context, o.Context, o.Context}
	}
	return spanOf(c.Context)
}

// librariesOf is what a process's libraries take outside of PyTorch's
// allocator and the context: NCCL's buffers in a run of several ranks, and the
// kernels where they are all loaded at once.
func librariesOf(world int, o Options) span {
	var sum span
	for _, l := range gpu.Libraries() {
		switch {
		case l.Name == "NCCL" && world > 1,
			l.Name == "all kernels at once" && strings.EqualFold(o.getenv("CUDA_MODULE_LOADING"), "EAGER"):
			sum = sum.plus(spanOf(l.Memory))
		}
	}
	return sum
}
