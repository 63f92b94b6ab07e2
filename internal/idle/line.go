package idle

import (
	"math"
	"slices"
	"sync"
)

// A line is one number per sample, NaN where there is none.
type line []float64

// A mask weighs samples: 0 leaves one out. Samples of a view weigh what they stand
// for, the time since the one before. nil weighs all alike.
type mask []float64

func (m mask) has(i int) bool { return m == nil || m[i] > 0 }

func (m mask) weight(i int) float64 {
	if m == nil {
		return 1
	}
	return m[i]
}

// count is how many samples a mask of n chooses.
func (m mask) count(n int) int {
	if m == nil {
		return n
	}
	k := 0
	for _, w := range m {
		if w > 0 {
			k++
		}
	}
	return k
}

// sum is what all samples weigh together.
func (m mask) sum() float64 {
	s := 0.0
	for _, w := range m {
		s += w
	}
	return s
}

// mean is the mean of what m chooses and is known; false without any.
func (l line) mean(m mask) (float64, bool) {
	sum, n := 0.0, 0.0
	for i, v := range l {
		if w := m.weight(i); w > 0 && !math.IsNaN(v) {
			sum += v * w
			n += w
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / n, true
}

// known are the numbers that m chooses, sorted.
func (l line) known(m mask) []float64 { return l.appendKnown(make([]float64, 0, len(l)), m) }

func (l line) appendKnown(to []float64, m mask) []float64 {
	for i, v := range l {
		if m.has(i) && !math.IsNaN(v) {
			to = append(to, v)
		}
	}
	slices.Sort(to)
	return to
}

// sortingRoom is what quantile sorts in, *[]float64: it is asked for thousands of
// times a window.
var sortingRoom = sync.Pool{New: func() any { return new([]float64) }}

// quantile is the q-th quantile of what m chooses and is known; false without any.
func (l line) quantile(m mask, q float64) (float64, bool) {
	room := sortingRoom.Get().(*[]float64)
	defer sortingRoom.Put(room)
	k := l.appendKnown((*room)[:0], m)
	*room = k
	if len(k) == 0 {
		return 0, false
	}
	return k[int(q*float64(len(k)-1)+0.5)], true
}

// add adds b to l; a number that only one has is that one's.
func (l line) add(b line) {
	for i := range l {
		switch {
		case math.IsNaN(b[i]):
		case math.IsNaN(l[i]):
			l[i] = b[i]
		default:
			l[i] += b[i]
		}
	}
}
