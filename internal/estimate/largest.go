package estimate

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// mostBatch ends the search for the largest micro-batch.
const mostBatch = 1 << 20

// largest finds the largest micro-batch that fits for certain, 0 when not even
// one sample does; more says that larger ones may fit, since the search ended
// at its limit or at what the source can play. Memory is close to linear in the batch, so the search goes
// to where the line through two plays meets the capacity, and halves or doubles
// where that does not help. The attempt is at the recipe's own batch.
func (q *question) largest(ctx context.Context, own *attempt) (batch int64, more bool, err error) {
	s := search{high: mostBatch + 1, open: true}
	s.learn(q.recipe.Batch, own, q.target.Capacity)
	for s.high-s.low > 1 {
		n := s.next()
		r := q.recipe
		r.Batch = n
		a, err := q.try(ctx, r)
		if ctx.Err() != nil {
			return 0, false, ctx.Err()
		}
		if err := unlessRefused(err); err != nil {
			return 0, false, err
		}
		// An attempt that was refused is nil: beyond what the source can play.
		s.learn(n, a, q.target.Capacity)
		if a != nil {
			a.release()
		}
	}
	return s.low, s.open, nil
}

// A search is what is known of where a run stops fitting: low fits, high does
// not. The two last plays give the line to follow.
type search struct {
	low, high int64
	open      bool // high was not seen not to fit: it is a limit, or was refused
	known     []point
	sure      bool // the next step halves or doubles, because the last guess did less
}

// A point is a batch and how much of the card is left, less than nothing where
// it does not fit.
type point struct {
	batch int64
	left  unit.Bytes
}

// learn notes what came of a batch; a is nil where it cannot be played.
func (s *search) learn(batch int64, a *attempt, capacity unit.Bytes) {
	before := s.high - s.low
	if a != nil && a.verdict == Fits {
		s.low = batch
	} else {
		s.high, s.open = batch, a == nil
	}
	s.sure = !s.sure && 2*(s.high-s.low) > before
	if a != nil {
		_, more := bounds(a.doubts)
		s.known = append(s.known, point{batch, capacity - a.free.reserved - a.beside.high - more})
	}
}

// next is the batch to try: above low and below high.
func (s *search) next() int64 {
	n := s.low + (s.high-s.low)/2
	if s.high > mostBatch {
		n = max(1, 2*s.low)
	}
	if g, ok := s.guess(); ok && !s.sure {
		n = g
	}
	return min(max(n, s.low+1), s.high-1)
}

// guess is the largest batch at which the line through the two last points has
// something left.
func (s *search) guess() (int64, bool) {
	if len(s.known) < 2 {
		return 0, false
	}
	a, b := s.known[len(s.known)-2], s.known[len(s.known)-1]
	slope := float64(a.left-b.left) / float64(b.batch-a.batch) // of one sample
	if slope <= 0 {
		return 0, false
	}
	return b.batch + int64(min(max(float64(b.left)/slope, -mostBatch), mostBatch)), true
}
