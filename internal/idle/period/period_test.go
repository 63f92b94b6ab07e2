package period

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTooLittle(t *testing.T) {
	for name, a := range map[string]Answer{
		"nothing":   Find(nil, nil, 0),
		"one":       Find([]float64{1}, []float64{0.5}, 0),
		"all lost":  Find(make([]float64, 100), nan(100), 0),
		"one time":  Find(make([]float64, 100), make([]float64, 100), 0),
		"backwards": Find([]float64{3, 2, 1}, []float64{1, 0, 1}, 0),
	} {
		if a.Status != TooFew {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func nan(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

func TestTooFast(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range []scene{
		{period: 0.02, wave: square(0.6), length: 60, mean: 1, random: true, refresh: 1.0 / 6},
		{period: 0.7, wave: square(0.5), length: 200, mean: 1, refresh: 1.0 / 6, jitter: 0.02},
	} {
		ts, xs, _ := s.run(r)
		if a := Find(ts, xs, 0); a.Status != TooFast {
			t.Errorf("a wave of %v s: %+v", s.period, a)
		}
	}
}

func TestShortWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	s := scene{period: 1.3, wave: square(0.6), length: 30, mean: 0.2, random: true, refresh: 1.0 / 6, jitter: 0.03}
	ts, xs, truth := s.run(r)
	if a := Find(ts, xs, 0); a.Status != Known || math.Abs(a.Seconds/truth-1) > 0.03 {
		t.Errorf("30 s of a wave of %.3f s: %+v", truth, a)
	}
}

func BenchmarkFind(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	s := scene{period: 3, wave: square(0.6), length: 300, mean: 1, random: true, refresh: 1.0 / 6, jitter: 0.03}
	ts, xs, _ := s.run(r)
	for b.Loop() {
		Find(ts, xs, 0)
	}
}
