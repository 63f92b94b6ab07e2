package trend

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const gib = 1 << 30

// sampled is f at random times, one second apart in the mean.
func sampled(seed uint64, seconds float64, f func(t float64, r *rand.Rand) float64) []Point {
	r := rand.New(rand.NewPCG(seed, 1))
	var points []Point
	for t := 0.0; t < seconds; t += 0.3 + 1.4*r.Float64() {
		points = append(points, Point{time.Duration(t * float64(time.Second)), f(t, r)})
	}
	return points
}

func TestWhatIsNoTrend(t *testing.T) {
	for name, f := range map[string]func(t float64, r *rand.Rand) float64{
		"constant":                 func(float64, *rand.Rand) float64 { return 61 * gib },
		"noise":                    func(_ float64, r *rand.Rand) float64 { return 61*gib + r.NormFloat64()*gib },
		"a jump":                   func(t float64, _ *rand.Rand) float64 { return gib * (20 + 30*math.Floor(t/70)) },
		"a ramp that has ended":    func(t float64, _ *rand.Rand) float64 { return gib * min(t, 50) },
		"a ramp that has begun":    func(t float64, _ *rand.Rand) float64 { return gib * max(t-70, 0) },
		"up and down again":        func(t float64, _ *rand.Rand) float64 { return gib * (60 - math.Abs(t-60)) },
		"a saw":                    func(t float64, _ *rand.Rand) float64 { return gib * (20 + math.Mod(t, 40)) },
		"a wave of two minutes":    func(t float64, _ *rand.Rand) float64 { return gib * (40 + 10*math.Sin(t*math.Pi/60)) },
		"two jumps near the start": func(t float64, _ *rand.Rand) float64 { return gib * (10*min(math.Floor(t/10), 2) + 5) },
	} {
		for seed := range uint64(50) {
			if got := Of(sampled(seed, 120, f)); got.Clear {
				t.Errorf("%s, seed %d: a clear trend of %.3f GiB/s", name, seed, got.PerSecond/gib)
			}
		}
	}
}

func TestTrends(t *testing.T) {
	for name, c := range map[string]struct {
		slope float64 // GiB a second
		least int     // of 50 must be clear
		f     func(t float64, r *rand.Rand) float64
	}{
		"a leak":               {0.02, 50, func(t float64, _ *rand.Rand) float64 { return gib * (30 + 0.02*t) }},
		"a leak in steps":      {0.05, 50, func(t float64, _ *rand.Rand) float64 { return gib * (30 + 0.5*math.Floor(t/10)) }},
		"a leak with noise":    {0.05, 50, func(t float64, r *rand.Rand) float64 { return gib * (30 + 0.05*t + 0.5*r.NormFloat64()) }},
		"with outliers":        {0.05, 40, func(t float64, r *rand.Rand) float64 { return gib * (30 + 0.05*t + outlier(r)) }},
		"memory that is freed": {-0.1, 50, func(t float64, _ *rand.Rand) float64 { return gib * (60 - 0.1*t) }},
	} {
		clear := 0
		for seed := range uint64(50) {
			got := Of(sampled(seed, 120, c.f))
			if !got.Clear {
				continue
			}
			clear++
			if slope := got.PerSecond / gib; math.Abs(slope-c.slope) > 0.15*math.Abs(c.slope) {
				t.Errorf("%s, seed %d: %.4f GiB/s, want %.4f", name, seed, slope, c.slope)
			}
			if got.Low > got.PerSecond || got.High < got.PerSecond {
				t.Errorf("%s: %v to %v does not hold %v", name, got.Low, got.High, got.PerSecond)
			}
		}
		if clear < c.least {
			t.Errorf("%s: %d of 50 are clear, want %d", name, clear, c.least)
		}
	}
}

func outlier(r *rand.Rand) float64 {
	if r.Float64() < 0.05 {
		return 20
	}
	return 0
}

// The interval must hold the true slope as often as it says, when the points waver
// independently.
func TestIntervalHoldsTheSlope(t *testing.T) {
	held, clear := 0, 0
	for seed := range uint64(400) {
		got := Of(sampled(seed, 120, func(t float64, r *rand.Rand) float64 { return 30 + 0.05*t + r.NormFloat64() }))
		if !got.Clear {
			continue
		}
		clear++
		if got.Low <= 0.05 && 0.05 <= got.High {
			held++
		}
	}
	if share := float64(held) / float64(clear); clear < 390 || share < 0.92 {
		t.Errorf("%d of 400 are clear, the interval holds the slope of %.1f %% of them", clear, 100*share)
	}
}

func TestTooLittleToSay(t *testing.T) {
	grow := func(t float64, _ *rand.Rand) float64 { return t }
	for _, points := range [][]Point{nil, {{0, 1}}, {{0, 1}, {0, 2}}, sampled(1, 6, grow), sampled(1, 25, grow)} {
		if got := Of(points); got.Clear {
			t.Errorf("%d points over %v have a clear trend", len(points), got.Over)
		}
	}
}

func TestUntil(t *testing.T) {
	trend := Trend{PerSecond: 0.02 * gib, Low: 0.016 * gib, High: 0.025 * gib, Clear: true}
	a, ok := trend.Until(20 * gib)
	if want := (Arrival{1000 * time.Second, 800 * time.Second, 1250 * time.Second}); !ok || a != want {
		t.Errorf("got %+v, %v, want %+v", a, ok, want)
	}
	if a, ok := trend.Until(-gib); !ok || a.After != 0 {
		t.Errorf("what is full already is full in %v, %v", a.After, ok)
	}
	for name, c := range map[string]struct {
		t      Trend
		amount float64
	}{
		"not clear": {Trend{PerSecond: 1}, 1}, "down": {Trend{PerSecond: -1, Low: -1, High: -1, Clear: true}, 1},
		"not within a day": {Trend{PerSecond: 1, Low: 1, High: 1, Clear: true}, 1e9}, "unknown": {trend, math.NaN()},
	} {
		if a, ok := c.t.Until(c.amount); ok {
			t.Errorf("%s: in %v", name, a.After)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	points := sampled(1, 120, func(t float64, r *rand.Rand) float64 { return 30 + 0.05*t + r.NormFloat64() })
	b.ReportAllocs()
	for b.Loop() {
		Of(points)
	}
}
