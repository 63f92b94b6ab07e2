package explain

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

const (
	// mostRangesOfLong is how many lengths are tried of a long tape.
	mostRangesOfLong = 3
	// mostTimes is how many times what a recording held its device may have
	// had, where that is no card's size.
	mostTimes = 4
)

// tryRanges looks for the length of the address ranges of expandable segments
// under which a recording replays better than best. PyTorch takes nine eighths
// of the device, and a free block counts as what it can grow to there; a
// recording does not say how large the device was.
func (e *Explanation) tryRanges(best *alloc.Comparison, at []int) *alloc.Comparison {
	r := e.recording
	if best.Equal() || !r.Settings.Expandable || r.Settings.Reserve != nil {
		return best
	}
	without := best.Total
	for i, total := range e.totals() {
		s := r.Settings
		s.Reserve = &alloc.Reserve{Bytes: total + total/8}
		got, err := alloc.VerifyAt(r.Tape, s, r.Final, at)
		if err == nil && got.Total < best.Total {
			best, r.Settings.Reserve = got, s.Reserve
		}
		if best.Equal() || i == 0 && err == nil && got.Total == without {
			break // the shortest range changes nothing: it is something else
		}
	}
	return best
}

// totals are sizes that the device may have had: the one that is known, else
// first what the recording had at least, then the sizes of cards, then others.
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
		if c.Capacity > least {
			out = append(out, c.Capacity)
		}
	}
	out = append(out, least)
	slices.Sort(out)
	out = slices.CompactFunc(out, func(a, b unit.Bytes) bool { return b < a+a/20 }) // one of those that are about as large
	if r.Tape.Len() >= longTape && !r.Thorough {
		return out[:min(len(out), mostRangesOfLong)]
	}
	// A slice of a card, or one that is shared, has a size of its own.
	for n := least + least/20; n < mostTimes*least; n += n / 20 {
		out = append(out, n)
	}
	return out
}
