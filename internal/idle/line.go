package idle

import (
	"math"
	"slices"
)

// A line is one number per sample, NaN where there is none.
type line []float64

func newLine(n int) line {
	l := make(line, n)
	for i := range l {
		l[i] = math.NaN()
	}
	return l
}

// A mask chooses samples; nil chooses all.
type mask []bool

func (m mask) has(i int) bool { return m == nil || m[i] }

// count is how many samples a mask of n chooses.
func (m mask) count(n int) int {
	if m == nil {
		return n
	}
	k := 0
	for _, in := range m {
		if in {
			k++
		}
	}
	return k
}

// and chooses what both choose.
func (m mask) and(other mask) mask {
	switch {
	case m == nil:
		return other
	case other == nil:
		return m
	}
	out := make(mask, len(m))
	for i := range m {
		out[i] = m[i] && other[i]
	}
	return out
}

// mean is the mean of what m chooses and is known; false without any.
func (l line) mean(m mask) (float64, bool) {
	sum, n := 0.0, 0
	for i, v := range l {
		if m.has(i) && !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// known are the numbers that m chooses, sorted.
func (l line) known(m mask) []float64 {
	var out []float64
	for i, v := range l {
		if m.has(i) && !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// quantile is the q-th quantile of what m chooses; false without any.
func (l line) quantile(m mask, q float64) (float64, bool) {
	k := l.known(m)
	if len(k) == 0 {
		return 0, false
	}
	return k[int(q*float64(len(k)-1)+0.5)], true
}

// share is the share of known numbers that m chooses and yes holds for.
func (l line) share(m mask, yes func(float64) bool) (float64, bool) {
	in, n := 0, 0
	for i, v := range l {
		if !m.has(i) || math.IsNaN(v) {
			continue
		}
		n++
		if yes(v) {
			in++
		}
	}
	if n == 0 {
		return 0, false
	}
	return float64(in) / float64(n), true
}

// where chooses the samples whose number is known and that yes holds for.
func (l line) where(yes func(float64) bool) mask {
	out := make(mask, len(l))
	for i, v := range l {
		out[i] = !math.IsNaN(v) && yes(v)
	}
	return out
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
