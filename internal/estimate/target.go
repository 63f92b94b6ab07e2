package estimate

import (
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Target is the card that a run is judged on.
type Target struct {
	Name     string
	Count    int // cards that share the work, at least 1
	Note     string
	Capacity unit.Bytes
	Context  gpu.Interval
	Device   kernel.Device
}

// TargetOf is a card of the table, as so many of them would be used.
func TargetOf(c gpu.Card, count int) Target {
	return Target{
		Name: c.Name, Count: max(count, 1), Capacity: c.Capacity, Context: c.Context,
		Device: kernel.Device{
			Capability: c.Capability, Multiprocessors: c.Multiprocessors, ThreadsPerMultiprocessor: c.Limits.ThreadsPerMultiprocessor,
		},
	}
}

// A span is an amount that is not one number.
type span struct{ low, typical, high unit.Bytes }

func (s span) plus(t span) span { return span{s.low + t.low, s.typical + t.typical, s.high + t.high} }

func spanOf(i gpu.Interval) span { return span{i.Low, i.Typical, i.High} }

// libraries is what a process's libraries take outside of PyTorch's allocator
// and of the context: NCCL's buffers where several cards share the work.
func libraries(r recipe.Recipe) span {
	var sum span
	for _, l := range gpu.Libraries() {
		if l.Name == "NCCL" && r.World > 1 {
			sum = sum.plus(spanOf(l.Memory))
		}
	}
	return sum
}

// bounds is how much less and more than played the allocator's share may be.
func bounds(doubts []Doubt) (less, more unit.Bytes) {
	for _, d := range doubts {
		less += max(d.Less, 0)
		more += max(d.More, 0)
	}
	return less, more
}
