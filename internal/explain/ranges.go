package explain

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// mostRangesOfLong is how many lengths are tried of a long tape.
const mostRangesOfLong = 3

// tryRanges looks for the length of the address ranges of expandable segments
// under which a recording replays better than best. PyTorch takes nine eighths
// of the device, and a free block counts as what it can grow to there; a
// recording does not say how large the device was.
func (e *Explanation) tryRanges(best *alloc.Comparison, at []int) *alloc.Comparison {
	r := e.recording
	if best.Equal() || !r.Settings.Expandable || r.Settings.Reserve != nil {
		return best
	}
	for _, total := range e.totals() {
		s := r.Settings
		s.Reserve = &alloc.Reserve{Bytes: total + total/8}
		got, err := alloc.VerifyAt(r.Tape, s, r.Final, at)
		if err == nil && got.Total < best.Total {
			best, r.Settings.Reserve = got, s.Reserve
		}
		if best.Equal() {
			break
		}
	}
	return best
}

// totals are sizes that the device may have had, the likeliest first: the one
// that is known, else those of cards, by how close they are to what the
// recording had at least.
func (e *Explanation) totals() []unit.Bytes {
	r := e.recording
	if r.Capacity > 0 {
		return []unit.Bytes{r.Capacity}
	}
	least := e.Levels.Reserved
	for _, i := range e.Levels.Failures {
		if r.Tape.Kind(i) == tape.OOM {
			least = max(least, e.Levels.failedAt[i]+unit.Bytes(r.Tape.Event(i).Addr))
		}
	}
	var out []unit.Bytes
	for _, c := range gpu.All() {
		if c.Capacity >= least {
			out = append(out, c.Capacity)
		}
	}
	slices.Sort(out)
	out = slices.CompactFunc(out, func(a, b unit.Bytes) bool { return b < a+a/20 }) // one of those that are about as large
	if r.Tape.Len() >= longTape && !r.Thorough {
		out = out[:min(len(out), mostRangesOfLong)]
	}
	return out
}
