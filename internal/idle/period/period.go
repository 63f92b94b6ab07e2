// Package period finds how long a training step takes from samples of a GPU's
// utilisation, which show the step as a wave.
//
// Samples at random intervals show waves much shorter than the mean interval;
// samples on a regular grid cannot tell those from slow ones, so that only waves
// of many samples are looked for there. It stays silent rather than give a number
// that may be wrong: what the sampling cannot tell is not claimed.
package period

import (
	"math"
	"slices"
)

// A Status says what came of looking for a period.
type Status string

// The statuses.
const (
	Known   Status = "known"    // Seconds is the period
	None    Status = "none"     // nothing repeats, or it repeats too irregularly
	TooFast Status = "too-fast" // it changes faster than the sampling can see
	TooFew  Status = "too-few"  // the window is too short, or too little of it was read
)

// An Answer is the period, or why there is none.
type Answer struct {
	Status Status `json:"status"`
	// Seconds is the time after which the wave repeats, only where Known: a step of
	// the optimizer, with all that it accumulates. Where it accumulates and nothing
	// of the optimizer shows, or too few of its steps were seen, it is a micro-step:
	// Parts is 1 then, as where nothing is accumulated.
	Seconds float64 `json:"seconds,omitempty"`
	// Parts is how many waves lie in one repetition: the micro-steps that are
	// accumulated, and the optimizer's own where it is about as long.
	Parts int `json:"parts,omitempty"`
	// Error is the standard error of Seconds as a share of it.
	Error float64 `json:"error_ratio,omitempty"`
	// Cycles is how often the wave was seen.
	Cycles float64 `json:"cycles,omitempty"`
	// Fastest is the shortest period that this sampling could have shown.
	Fastest float64 `json:"fastest_seconds,omitempty"`
}

// Limits. Those with "reference" are the guards of the simulation that the
// table in the test repeats; the others follow from the sampling.
const (
	leastSamples = 30
	leastSwing   = 0.20    // p90 - p10, reference
	leastPower   = 0.12    // share of the variance that one wave explains, reference
	leastCycles  = 6       // a wave that is seen less often may be chance
	perPeriod    = 6       // samples in a period on a regular grid, reference
	fastest      = 0.4     // of the mean interval at random intervals: 2.5 Hz at 1 Hz, reference
	refreshUsual = 1.0 / 6 // seconds; the faster of the two periods that nvml.h gives
	refreshSlow  = 1.0
	mostError    = 0.016 // standard error that still keeps nearly all within 3 %
	chance       = 1e-5  // that noise has a peak as high anywhere
)

// Find looks for the period of values at times in seconds. Refresh is the
// driver's sample period in seconds, 0 where unknown.
func Find(times, values []float64, refresh float64) Answer {
	t, x := known(times, values)
	if len(t) < leastSamples {
		return Answer{Status: TooFew}
	}
	s := sampling{t: t, x: x, refresh: refresh}
	s.measure()
	a := Answer{Status: None, Fastest: s.fastest()}
	low, high := quantile(x, 0.1), quantile(x, 0.9)
	if high-low < leastSwing {
		if m := mean(x); m > 0.1 && m < 0.9 {
			// A use that is neither all nor nothing and does not change is a
			// wave that the driver has averaged away.
			a.Status = TooFast
		}
		return a
	}
	if s.length() < leastCycles*a.Fastest {
		a.Status = TooFew
		return a
	}
	l, status := s.line()
	if a.Status = status; status == Known {
		a.Seconds, a.Error, a.Cycles, a.Parts = 1/l.f, l.err, s.length()*l.f, l.parts
	}
	return a
}

// known drops what was not read.
func known(times, values []float64) (t, x []float64) {
	for i, v := range values {
		if !math.IsNaN(v) && !math.IsNaN(times[i]) && (len(t) == 0 || times[i] > t[len(t)-1]) {
			t, x = append(t, times[i]), append(x, v)
		}
	}
	return t, x
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func variance(x []float64) float64 {
	m, v := mean(x), 0.0
	for _, y := range x {
		v += (y - m) * (y - m)
	}
	return v / float64(len(x))
}

func quantile(x []float64, q float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s[int(q*float64(len(s)-1)+0.5)]
}

// A sampling is the samples and what they can show.
type sampling struct {
	t, x     []float64
	refresh  float64
	interval float64 // the middle one
	mean     float64
	regular  bool
}

func (s *sampling) length() float64 { return s.t[len(s.t)-1] - s.t[0] }

// irregular is the spread of intervals, p90 to p10 over the median, above which
// they count as random: timers on a busy machine stay well below, and
// intervals from 0.3 to 1.7 of the mean have 1.1.
const irregular = 0.5

func (s *sampling) measure() {
	gaps := make([]float64, len(s.t)-1)
	for i := range gaps {
		gaps[i] = s.t[i+1] - s.t[i]
	}
	s.interval = quantile(gaps, 0.5)
	s.mean = s.length() / float64(len(gaps))
	s.regular = quantile(gaps, 0.9)-quantile(gaps, 0.1) < irregular*s.interval
	if s.refresh == 0 {
		s.refresh = s.refreshed()
	}
}

// repeats are by how much a number may lie off where a driver refreshes it slowly: in
// one of fifty pairs two numbers of whole percents are equal by chance.
const repeats = 0.02

// refreshed is the driver's period by which samples repeat the one before: two that lie
// a time apart are the same number with a probability that falls to nothing at that
// period. Only numbers between the extremes count: those repeat anyway. Without enough
// such pairs it is the faster one that nvml.h gives.
func (s *sampling) refreshed() float64 {
	type pair struct {
		apart float64
		same  bool
	}
	var pairs []pair
	for i := 1; i < len(s.x); i++ {
		if x := s.x[i-1]; x >= 0.05 && x <= 0.95 && s.t[i]-s.t[i-1] < refreshSlow {
			pairs = append(pairs, pair{s.t[i] - s.t[i-1], s.x[i] == x})
		}
	}
	best, likely := refreshUsual, math.Inf(-1)
	for period := refreshUsual; period < 1.05*refreshSlow; period *= 1.05 {
		sum := 0.0
		for _, p := range pairs {
			same := math.Max(repeats, (1-p.apart/period)*(1-repeats))
			if p.same {
				sum += math.Log(same)
			} else {
				sum += math.Log(1 - same)
			}
		}
		if sum > likely+1e-9 {
			best, likely = period, sum
		}
	}
	return best
}

// fastest is the shortest period that can be seen: a little more than two of the
// driver's periods, and what the sampling shows without taking one wave for another.
func (s *sampling) fastest() float64 {
	if s.regular {
		return max(2.4*s.refresh, perPeriod*s.interval)
	}
	return max(2.4*s.refresh, fastest*s.mean)
}

// jumps says whether neighbours have nothing in common, so that the wave, if it
// is one, is faster than they follow each other.
func (s *sampling) jumps() bool {
	m, v, c, n := mean(s.x), 0.0, 0.0, 0
	for _, x := range s.x {
		v += (x - m) * (x - m)
	}
	v /= float64(len(s.x))
	for i := 1; i < len(s.x); i++ {
		if s.t[i]-s.t[i-1] <= s.interval {
			c += (s.x[i] - m) * (s.x[i-1] - m)
			n++
		}
	}
	return n > 0 && c/float64(n) < 0.3*v
}

// aliased says whether a slow wave on a regular grid may be a fast one. A sample
// that the driver averaged over an edge lies between the levels, and a wave has
// two edges in a period: many more of such samples mean more edges.
func (s *sampling) aliased(period float64) bool {
	low, high := quantile(s.x, 0.02), quantile(s.x, 0.98)
	const margin = 0.1 // of the swing, at both levels
	between := 0
	for _, x := range s.x {
		if x > low+margin*(high-low) && x < high-margin*(high-low) {
			between++
		}
	}
	expected := float64(len(s.x)) * 2 * (1 - 2*margin) * s.refresh / period
	return float64(between) > 1.15*expected+2*math.Sqrt(expected)+2
}

// folded says whether a wave may be a faster one that the driver's own refresh,
// a regular grid, has folded. The wave of half duty that would be folded to this
// period swings by its length over the refresh less one, as its mean over a
// refresh; one that swings further is what it looks like.
func (s *sampling) folded(period, swing float64) bool {
	faster := 1 / (1/s.refresh - 1/period)
	const margin = 1.3 // cycles that differ, and levels that are rounded
	return swing < margin*(faster/s.refresh-1)
}

// image asks the same of a line by itself, where others are there, too: it may be what is
// left of a faster wave of half duty in its mean over a refresh.
func (s *sampling) image(l line) bool {
	const margin = 1.1 // levels that are rounded, a refresh that is not quite known
	cycles := 1 - l.f*s.refresh
	left := 2 / math.Pi * math.Sin(math.Pi*cycles) / (math.Pi * cycles)
	return math.Sqrt(2*l.power*variance(s.x)) < margin*left
}
