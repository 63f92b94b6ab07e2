package period

import (
	"math"
	"math/rand/v2"
	"testing"
)

// An accumulation is steps of an optimizer, each of some micro-steps and an update.
type accumulation struct {
	micros  int
	micro   float64 // seconds of a micro-step
	duty    float64 // share of it in which kernels run
	update  float64 // seconds of the update
	busy    float64 // share of it in which kernels run
	jitter  float64 // of the length of each part
	refresh float64
	length  float64
}

func newAccumulation(r *rand.Rand) accumulation {
	a := accumulation{micros: 2 + r.IntN(15), micro: 0.1 * math.Pow(40, r.Float64()), duty: 0.35 + 0.6*r.Float64(),
		jitter: 0.05 * r.Float64(), refresh: []float64{0.1, 1.0 / 6, 0.25}[r.IntN(3)], length: 20 * math.Pow(30, r.Float64())}
	a.update = a.micro * (0.1 + 1.9*r.Float64())
	a.busy = []float64{0, 1, r.Float64()}[r.IntN(3)]
	return a
}

// run samples it as plimsoll run does: at random intervals, five times as often in the
// first minute, behind a driver that refreshes its number on a grid of its own.
func (a accumulation) run(r *rand.Rand) (t, x []float64, micro, step float64) {
	var ends, busy []float64 // of stretches, and how long kernels ran until then
	now, ran := 0.0, 0.0
	stretch := func(d, b float64) {
		now, ran = now+d, ran+d*b
		ends, busy = append(ends, now), append(busy, ran)
	}
	some := func(d float64) float64 { return d * max(0.2, 1+a.jitter*r.NormFloat64()) }
	micros, steps, inMicros, whole := 0.0, 0.0, 0.0, 0.0
	for now < a.length+2 {
		for range a.micros {
			d := some(a.micro)
			stretch(d*a.duty, 1)
			stretch(d*(1-a.duty), 0)
			micros, inMicros = micros+1, inMicros+d
		}
		d := some(a.update)
		stretch(d*a.busy, 1)
		stretch(d*(1-a.busy), 0)
		steps, whole = steps+1, now
	}
	k := 0
	area := func(at float64) float64 {
		for k > 0 && ends[k-1] > at {
			k--
		}
		for ends[k] < at {
			k++
		}
		from, had := 0.0, 0.0
		if k > 0 {
			from, had = ends[k-1], busy[k-1]
		}
		return had + (busy[k]-had)*(max(at, 0)-from)/max(ends[k]-from, 1e-9)
	}
	phase := r.Float64()
	for at := 1.0; at < a.length; {
		mean := 1.0
		if at < 60 {
			mean = 0.2
		}
		at += mean * (0.3 + 1.4*r.Float64())
		end := max(a.refresh, (math.Floor(at/a.refresh-phase)+phase)*a.refresh)
		t, x = append(t, at), append(x, math.Round(100*(area(end)-area(end-a.refresh))/a.refresh)/100)
	}
	return t, x, inMicros / micros, whole / steps
}

// TestAccumulated asks for the step of trainings that accumulate. The step itself is
// right, and so is a micro-step, with its share of the update or without; a multiple of
// either is not.
func TestAccumulated(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	var step, micro, silent, wrong int
	told, visible := 0, 0 // of those that show a micro-step, and ten steps
	for range 40 * *trials {
		a := newAccumulation(r)
		ts, xs, ofMicro, ofStep := a.run(r)
		got := Find(ts, xs, 0)
		near := func(p float64) bool { return got.Status == Known && math.Abs(got.Seconds/p-1) <= 0.03 }
		right := true
		switch {
		case near(ofStep):
			step++
		case got.Parts <= 1 && (near(ofMicro) || near(ofStep/float64(a.micros))):
			micro++
		case got.Status != Known:
			silent++
			right = false
		default:
			wrong++
			right = false
			t.Logf("%.3g s in %d waves, the step takes %.3g s and a micro-step %.3g s: %+v", got.Seconds, got.Parts, ofStep, ofMicro, a)
		}
		if ofMicro >= 0.5 && a.duty < 0.85 && a.length >= 10*ofStep {
			visible++
			if right {
				told++
			}
		}
	}
	t.Logf("the step %d, a micro-step %d, nothing %d, wrong %d; of those that show both %d of %d", step, micro, silent, wrong, told, visible)
	if all := 40 * *trials; 300*wrong > all {
		t.Errorf("%d of %d windows got a wrong period", wrong, all)
	}
	if 10*told < 6*visible {
		t.Errorf("%d of %d are told that the sampling can tell", told, visible)
	}
}
