package period

import (
	"math"
	"math/rand/v2"
)

// A shape is a wave over one cycle, from phase 0 to 1, between 0 and 1.
type shape func(phase float64, cycle int) float64

func square(duty float64) shape {
	return func(ph float64, _ int) float64 {
		if ph < duty {
			return 1
		}
		return 0
	}
}

// A scene is a run that is simulated: a wave whose cycles differ in length, seen
// through the driver's averaging by samples that come at intervals, get lost and
// are noisy.
type scene struct {
	period  float64
	jitter  float64 // of each cycle's length
	wave    shape
	length  float64
	mean    float64 // interval of samples
	random  bool    // intervals from 0.3 to 1.7 of the mean
	refresh float64 // the driver's averaging
	held    bool    // the driver's value stays until its next period
	noise   float64
	over    func(t, v float64, r *rand.Rand) float64 // changes the signal at t
}

// run returns samples and the mean length of the cycles that happened.
func (s scene) run(r *rand.Rand) (t, x []float64, truth float64) {
	// The signal at a fine grid, as a running integral.
	const fine = 400.0
	n := int((s.length + 2) * fine)
	sum := make([]float64, n+1)
	ends, cycle, start := 0.0, 0, 0.0
	cycles := 0
	length := s.period * max(0.2, 1+s.jitter*r.NormFloat64())
	for i := range n {
		now := float64(i) / fine
		for now >= start+length {
			start += length
			cycle++
			if start < s.length {
				cycles++
				ends = start
			}
			length = s.period * max(0.2, 1+s.jitter*r.NormFloat64())
		}
		v := 0.0
		if s.wave != nil {
			v = s.wave((now-start)/length, cycle)
		}
		if s.over != nil {
			v = s.over(now, v, r)
		}
		sum[i+1] = sum[i] + v/fine
	}
	area := func(at float64) float64 {
		k := math.Max(0, math.Min(at*fine, float64(n)))
		i := int(k)
		if i >= n {
			return sum[n]
		}
		return sum[i] + (k-float64(i))*(sum[i+1]-sum[i])
	}
	phase := r.Float64()
	for now := 1.0; now < s.length; {
		if s.random {
			now += s.mean * (0.3 + 1.4*r.Float64())
		} else {
			now += s.mean
		}
		at := now
		if !s.random {
			at += 0.02 * s.mean * r.NormFloat64()
		}
		if r.Float64() < 0.03 {
			continue
		}
		end := at
		if s.held {
			end = (math.Floor(at/s.refresh-phase) + phase) * s.refresh
		}
		v := (area(end) - area(end-s.refresh)) / s.refresh
		if s.held {
			v = math.Round(100*v) / 100 // as a driver gives it, until it refreshes
		} else {
			v = math.Max(0, math.Min(1, v+s.noise*r.NormFloat64()))
		}
		t, x = append(t, at), append(x, v)
	}
	if cycles > 0 {
		truth = ends / float64(cycles)
	}
	return t, x, truth
}
