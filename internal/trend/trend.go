// Package trend says whether a number that was sampled over time grows, how fast,
// and how sure that is.
//
// It would rather say nothing: a number that jumped once, that has stopped to
// grow, or that wavers has no clear trend here.
//
// It is pure: times come in with the points.
package trend

import (
	"math"
	"slices"
	"time"
)

// A Point is a number at a time.
type Point struct {
	At    time.Duration
	Value float64
}

// A Trend is how fast a number changes.
type Trend struct {
	// PerSecond is the median of the slopes between all pairs of points
	// (Theil and Sen), which single outliers do not move; Low and High hold the
	// true slope with a confidence of 95 % where the points waver independently.
	PerSecond, Low, High float64
	// Clear is set where the number goes one way throughout; only then the
	// slopes are of use.
	Clear bool
	// Over is the time from the first point to the last.
	Over time.Duration
}

const (
	// bins bound the work: their medians stand for the points.
	bins = 40
	// fewest is how many bins must have points. With 8 even the clearest trend
	// of Mann and Kendall's test is just above the level below.
	fewest = 8
	// shortest is the least time that says something of the next minutes.
	shortest = 30 * time.Second
	// confident is the normal quantile of 99 %, two-sided, which a trend must
	// pass to be one; interval that of 95 %.
	confident = 2.576
	interval  = 1.960
	// steady is how much slower than the whole one half may be: a number that
	// went up in one half alone has stopped, or has just begun.
	steady = 1.0 / 3
	// setback is how much of what was gained in all may be lost on the way: what
	// loses more wavers, whatever its middle does.
	setback = 0.5
)

// Of is the trend of points, which must be in the order of time.
func Of(points []Point) Trend {
	if len(points) < 2 {
		return Trend{}
	}
	t := Trend{Over: points[len(points)-1].At - points[0].At}
	m := medians(points, t.Over)
	if len(m) < fewest {
		return t
	}
	slopes := slopesOf(m)
	t.PerSecond = middle(slopes)
	n := float64(len(m))
	// The deviation of Kendall's sum under no trend (Kendall 1955, without
	// ties, of which each makes it smaller).
	deviation := math.Sqrt(n * (n - 1) * (2*n + 5) / 18)
	reach := interval * deviation
	count := float64(len(slopes))
	t.Low = slopes[max(int((count-reach)/2), 0)]
	t.High = slopes[min(int((count+reach)/2), len(slopes)-1)]
	first, last := middle(slopesOf(m[:len(m)/2])), middle(slopesOf(m[len(m)/2:]))
	t.Clear = t.Over >= shortest && math.Abs(kendall(m)) >= confident*deviation && t.Low*t.High > 0 &&
		first/t.PerSecond >= steady && last/t.PerSecond >= steady &&
		lost(m, t.PerSecond > 0) <= setback*math.Abs(t.PerSecond)*t.Over.Seconds()
	return t
}

// lost is the greatest way back that the points go, against up. Of each three
// neighbours the middle value counts, so that one outlier is none.
func lost(m []Point, up bool) float64 {
	sign := 1.0
	if !up {
		sign = -1
	}
	high, most := math.Inf(-1), 0.0
	for i := 1; i < len(m)-1; i++ {
		three := []float64{sign * m[i-1].Value, sign * m[i].Value, sign * m[i+1].Value}
		slices.Sort(three)
		high = max(high, three[1])
		most = max(most, high-three[1])
	}
	return most
}

// medians are the points of each of the bins as one, bins without points left out.
func medians(points []Point, over time.Duration) []Point {
	if over <= 0 {
		return nil
	}
	out := make([]Point, 0, bins)
	var values []float64
	for i := 0; i < len(points); {
		bin := binOf(points[i].At-points[0].At, over)
		begin := i
		values = values[:0]
		for i < len(points) && binOf(points[i].At-points[0].At, over) == bin {
			values = append(values, points[i].Value)
			i++
		}
		slices.Sort(values)
		out = append(out, Point{(points[begin].At + points[i-1].At) / 2, middle(values)})
	}
	return out
}

func binOf(at, over time.Duration) int { return min(int(bins*at/over), bins-1) }

// slopesOf are the slopes between all pairs, sorted.
func slopesOf(m []Point) []float64 {
	slopes := make([]float64, 0, len(m)*(len(m)-1)/2)
	for i := range m {
		for j := range i {
			if dt := (m[i].At - m[j].At).Seconds(); dt > 0 {
				slopes = append(slopes, (m[i].Value-m[j].Value)/dt)
			}
		}
	}
	slices.Sort(slopes)
	return slopes
}

// kendall is the number of pairs that go up less that of those that go down.
func kendall(m []Point) float64 {
	sum := 0
	for i := range m {
		for j := range i {
			switch d := m[i].Value - m[j].Value; {
			case d > 0:
				sum++
			case d < 0:
				sum--
			}
		}
	}
	return float64(sum)
}

// middle is the median of sorted numbers, 0 of none.
func middle(sorted []float64) float64 {
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
