package period

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var trials = flag.Int("trials", 12, "simulated windows per cell of the tables of TestTable, TestShapes and TestNothingRepeats")

// A cell counts what was said of windows: the mean length of the cycles that
// happened to 3 %, nothing, or another length.
type cell struct{ right, silent, wrong int }

func (c *cell) count(a Answer, truths ...float64) {
	if a.Status != Known {
		c.silent++
		return
	}
	for _, p := range truths {
		if math.Abs(a.Seconds/p-1) <= 0.03 {
			c.right++
			return
		}
	}
	c.wrong++
}

func (c cell) String() string {
	n := float64(c.right+c.silent+c.wrong) / 100
	return fmt.Sprintf("%3.0f /%3.0f /%4.1f", float64(c.right)/n, float64(c.silent)/n, float64(c.wrong)/n)
}

func (c cell) share() float64 { return float64(c.right) / float64(c.right+c.silent+c.wrong) }

var bands = [][2]float64{{0.5, 1}, {1, 2}, {2, 4}, {4, 6}, {6, 20}, {20, 55}}

// A grid is a way to sample, and the shortest period that it can tell.
type grid struct {
	name   string
	mean   float64
	random bool
	tells  float64
}

var grids = []grid{
	{"random, mean 1 Hz", 1, true, 0.5},
	{"regular, 1 Hz", 1, false, 6},
	{"random, mean 5 Hz", 0.2, true, 0.5},
	{"regular, 5 Hz", 0.2, false, 2},
}

// TestTable repeats the simulation of the reference for every way to sample: the
// period to 3 % where cycles differ by 5 % or less and the sampling can tell
// it, and silence or the truth elsewhere.
func TestTable(t *testing.T) {
	wrong, all := 0, 0
	for _, g := range grids {
		for _, jitter := range []float64{0.02, 0.05, 0.15} {
			row := fmt.Sprintf("| %s | %2.0f %% |", g.name, 100*jitter)
			for _, b := range bands {
				var c cell
				r := rand.New(rand.NewPCG(uint64(1000*jitter), uint64(b[0]*100)))
				for range *trials {
					s := scene{period: b[0] + (b[1]-b[0])*r.Float64(), jitter: jitter, wave: square(0.2 + 0.65*r.Float64()),
						length: 300, mean: g.mean, random: g.random, refresh: 1.0 / 6, noise: 0.01}
					if b[0] >= 20 {
						s.length = 600
					}
					ts, xs, truth := s.run(r)
					c.count(Find(ts, xs, 0), truth)
				}
				row += " " + c.String() + " |"
				wrong, all = wrong+c.wrong, all+*trials
				if jitter <= 0.05 && b[0] >= g.tells && c.share() < 0.75 {
					t.Errorf("%s, cycles that differ by %.0f %%, %v s: right in %.0f %% only", g.name, 100*jitter, b, 100*c.share())
				}
			}
			t.Log(row)
		}
	}
	if 500*wrong > all {
		t.Errorf("%d of %d windows got a wrong period; the bar is 1 in 500", wrong, all)
	}
}

func sawtooth(ph float64, _ int) float64 { return ph }

func twoLevels(ph float64, _ int) float64 {
	switch {
	case ph < 0.3:
		return 1
	case ph < 0.6:
		return 0.5
	}
	return 0
}

// alternate is two steps of 0.8 and 1.2 of a mean one, as one cycle.
func alternate(ph float64, _ int) float64 {
	if ph < 0.4 {
		return square(0.6)(ph/0.4, 0)
	}
	return square(0.6)((ph-0.4)/0.6, 0)
}

// accumulated is four short steps and an update, as one cycle.
func accumulated(ph float64, _ int) float64 {
	if ph < 0.8 {
		p := ph / 0.2
		return square(0.7)(p-math.Floor(p), 0)
	}
	return 1
}

// pausing is four steps and a pause that is shorter than one, as one cycle: what shows
// most is a fifth of the cycle, which is no step of any kind.
func pausing(ph float64, _ int) float64 {
	if p := 4.8 * ph; p < 4 {
		return square(0.7)(p-math.Floor(p), 0)
	}
	return 0
}

// TestShapes asks for periods of waves that are not square. A part of a cycle
// that repeats within it is as true as the whole.
func TestShapes(t *testing.T) {
	evaluates := func(at, v float64, _ *rand.Rand) float64 {
		if math.Mod(at, 97) > 75 {
			return 0.7
		}
		return v
	}
	for _, s := range []struct {
		name  string
		wave  shape
		over  func(t, v float64, r *rand.Rand) float64
		parts []float64
		right float64 // share of windows that must be right
	}{
		{"sawtooth", sawtooth, nil, nil, 0.7},
		{"two levels", twoLevels, nil, nil, 0.7},
		{"alternating steps", alternate, nil, []float64{2}, 0.5},
		{"accumulation", accumulated, nil, []float64{5}, 0.3},
		{"accumulation and a pause", pausing, nil, []float64{4.8}, 0.1},
		{"evaluations between", square(0.5), evaluates, nil, 0.4},
	} {
		row := fmt.Sprintf("| %s |", s.name)
		var all cell
		for _, b := range bands {
			var c cell
			r := rand.New(rand.NewPCG(7, uint64(b[0]*100)))
			for range *trials {
				sc := scene{period: b[0] + (b[1]-b[0])*r.Float64(), jitter: 0.03, wave: s.wave, over: s.over,
					length: 300, mean: 1, random: true, refresh: 1.0 / 6, noise: 0.01}
				if b[0] >= 20 {
					sc.length = 600
				}
				ts, xs, truth := sc.run(r)
				truths := []float64{truth}
				for _, p := range s.parts {
					truths = append(truths, truth/p)
				}
				if s.over != nil {
					truths = append(truths, 97)
				}
				c.count(Find(ts, xs, 0), truths...)
			}
			row += " " + c.String() + " |"
			all.right, all.silent, all.wrong = all.right+c.right, all.silent+c.silent, all.wrong+c.wrong
		}
		t.Log(row)
		if all.share() < s.right {
			t.Errorf("%s: right in %.0f %%", s.name, 100*all.share())
		}
		if all.wrong > 0 && 50*all.wrong > 6**trials {
			t.Errorf("%s: %d of %d are wrong", s.name, all.wrong, 6**trials)
		}
	}
}

// TestNothingRepeats shows signals without a period, and waves that the driver
// refreshes too seldom for: nothing may be claimed of them.
func TestNothingRepeats(t *testing.T) {
	var walk, until, level float64
	for _, s := range []struct {
		name string
		sc   scene
		over func(t, v float64, r *rand.Rand) float64
	}{
		{"steady 97 %", scene{}, func(_, _ float64, _ *rand.Rand) float64 { return 0.97 }},
		{"noise", scene{noise: 0.3}, func(_, _ float64, _ *rand.Rand) float64 { return 0.5 }},
		{"one step", scene{}, func(at, _ float64, _ *rand.Rand) float64 {
			if at > 140 {
				return 0.9
			}
			return 0.3
		}},
		{"random walk", scene{}, func(at, _ float64, r *rand.Rand) float64 {
			if at == 0 {
				walk = 0.5
			}
			walk = math.Max(0, math.Min(1, walk+0.006*r.NormFloat64()))
			return walk
		}},
		{"random stalls", scene{}, func(at, _ float64, r *rand.Rand) float64 {
			if at == 0 {
				until = 0
			}
			if at > until && r.Float64() < 0.05/400 {
				until = at + 1 + 6*r.Float64()
			}
			if at < until {
				return 0
			}
			return 0.97
		}},
		{"drift", scene{}, func(at, _ float64, _ *rand.Rand) float64 { return 0.2 + 0.7*at/300 }},
		{"random levels", scene{}, func(at, _ float64, r *rand.Rand) float64 {
			if at == 0 {
				until = 0
			}
			if at >= until {
				until, level = at+0.2+4*r.ExpFloat64(), r.Float64()
			}
			return level
		}},
		{"waves of 0.3 to 1.4 s behind a refresh of 1 s", scene{wave: square(0.5), period: -1, jitter: 0.02, refresh: 1, held: true}, nil},
	} {
		row := fmt.Sprintf("| %s |", s.name)
		for _, g := range grids {
			wrong := 0
			r := rand.New(rand.NewPCG(11, 3))
			for range *trials {
				sc := s.sc
				sc.over, sc.length, sc.mean, sc.random = s.over, 300, g.mean, g.random
				if sc.refresh == 0 {
					sc.refresh = 1.0 / 6
				}
				if sc.noise == 0 {
					sc.noise = 0.01
				}
				if sc.period < 0 {
					sc.period = 0.3 + 1.1*r.Float64()
				} else {
					sc.period = 1000
				}
				ts, xs, _ := sc.run(r)
				if a := Find(ts, xs, 0); a.Status == Known {
					wrong++
				}
			}
			row += fmt.Sprintf(" %d of %d |", wrong, *trials)
			if 100*wrong > *trials {
				t.Errorf("%s, %s: %d of %d windows got a period", s.name, g.name, wrong, *trials)
			}
		}
		t.Log(row)
	}
}
