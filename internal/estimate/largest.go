package estimate

import (
	"context"
	"math"

	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// mostBatch ends the search for the largest micro-batch.
const mostBatch = 1 << 20

// largest finds the largest micro-batch that fits for certain, 0 when not even
// one sample does; more says that larger ones may fit, since the search ended
// at its limit or at what the source can play. Memory is close to linear in the
// batch, so the search goes to where the line through two plays meets the
// capacity, and from there in steps that double: what is only cached is given
// back, so that somewhat more fits, and gaps stay, so that somewhat less does. The
// attempt is at the recipe's own batch.
func (q *question) largest(ctx context.Context, own *attempt) (batch int64, more bool, err error) {
	s := search{high: mostBatch + 1, open: true}
	if own.free.steady > 0 { // what stays between steps is there without a sample, too
		s.known = append(s.known, point{0, q.left(own.free.steady, own.doubts)})
	}
	s.learn(q.recipe.Batch, own.verdict == Fits)
	s.known = append(s.known, point{q.recipe.Batch, q.left(own.free.reserved, own.doubts)})
	for s.high-s.low > 1 {
		r := q.recipe
		r.Batch = s.next()
		fits, left, err := q.room(ctx, r)
		if ctx.Err() != nil {
			return 0, false, ctx.Err()
		}
		switch {
		case err == nil:
			s.learn(r.Batch, fits)
			s.known = append(s.known, point{r.Batch, left})
		case unlessRefused(err) != nil:
			return 0, false, err
		default: // beyond what the source can play
			s.learn(r.Batch, false)
			s.open = true
		}
	}
	return s.low, s.open, nil
}

// room plays a recipe, and says whether it fits for certain and how much of the
// card its blocks leave. What is more than the card has is not replayed.
func (q *question) room(ctx context.Context, r recipe.Recipe) (fits bool, left unit.Bytes, err error) {
	played, err := q.perform(ctx, r)
	if err != nil {
		return false, 0, err
	}
	defer played.release()
	doubts := q.doubts(played.played)
	if left = q.left(Asked(played.tape), doubts); left < 0 {
		return false, left, nil
	}
	if err := played.settle(); err != nil {
		return false, 0, err
	}
	a, err := q.judge(played)
	if err != nil {
		return false, 0, err
	}
	return a.verdict == Fits, q.left(a.free.reserved, doubts), nil
}

// left is what so many bytes leave of the card, at worst.
func (q *question) left(bytes unit.Bytes, doubts []Doubt) unit.Bytes {
	_, more := bounds(doubts)
	return q.target.Capacity - spanOf(q.target.Context).plus(libraries(q.recipe)).high - more - bytes
}

// A search is what is known of where a run stops fitting: low fits, high does
// not. The two last plays give the line to follow.
type search struct {
	low, high int64
	open      bool // high was not seen not to fit: it is a limit, or was refused
	known     []point
	step      int64 // how far beyond what is known the next guess is put, where it lies there
}

// A point is a batch and how much of the card it leaves, less than nothing where
// it has too little.
type point struct {
	batch int64
	left  unit.Bytes
}

// learn notes what came of a batch.
func (s *search) learn(batch int64, fits bool) {
	if fits {
		s.low = batch
	} else {
		s.high, s.open = batch, false
	}
}

// next is the batch to try: above low and below high.
func (s *search) next() int64 {
	middle := s.low + (s.high-s.low)/2
	n, ok := s.guess()
	switch {
	case !ok && s.high > mostBatch:
		return max(1, min(2*s.low, mostBatch))
	case !ok:
		return middle
	case n > s.low && n < s.high:
		s.step = 0
		return n
	}
	s.step = max(1, 2*s.step)
	if n <= s.low {
		return min(s.low+s.step, max(middle, s.low+1))
	}
	return max(s.high-s.step, middle)
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
	return b.batch + int64(min(max(math.Floor(float64(b.left)/slope), -mostBatch), mostBatch)), true
}
