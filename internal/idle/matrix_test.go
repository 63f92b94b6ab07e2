package idle

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

var windows = flag.Int("windows", 8, "simulated windows per cause of TestCauses; healthy ones are ten times as many")

var firstWindow = flag.Uint64("first", 0, "first seed of the windows of TestCauses")

// TestCauses shows windows of every cause and of healthy jobs, and prints what
// they were taken for.
func TestCauses(t *testing.T) {
	right, all, alarms, healthy := 0, 0, 0, 0
	for n, want := range slices.Sorted(maps.Keys(plays)) {
		got := map[string]int{}
		count := *windows
		if want == "" {
			count *= 10
		}
		for k := range count {
			r := rand.New(rand.NewPCG(uint64(n), *firstWindow+uint64(k)))
			p := newPlay(r)
			plays[want](p)
			a := Diagnose(p.look())
			cause := "-"
			if len(a.Findings) > 0 {
				cause = a.Findings[0].Cause
			} else if want != "" && len(a.Unsure) > 0 {
				cause = "?"
				for _, q := range a.Unsure {
					if q.Cause == want {
						cause = "?right"
					}
				}
			}
			got[cause]++
			if want == "" {
				healthy++
				if cause != "-" {
					alarms++
				}
				continue
			}
			all++
			if cause == want {
				right++
			}
		}
		line := fmt.Sprintf("%-22s", want+":")
		for _, c := range slices.SortedFunc(maps.Keys(got), func(a, b string) int { return got[b] - got[a] }) {
			line += fmt.Sprintf(" %s %d", c, got[c])
		}
		t.Log(line)
	}
	t.Logf("right %d of %d, alarms of healthy jobs %d of %d", right, all, alarms, healthy)
	if 10*right < 9*all || 100*alarms > healthy {
		t.Errorf("right %d of %d (bar: nine of ten), alarms %d of %d (bar: one of a hundred)", right, all, alarms, healthy)
	}
}

// look samples a play with counters that a machine may have or lack.
func (p *play) look() Window {
	if p.other == 0 {
		p.other = p.load * p.cpus
	}
	w := watch{mean: []float64{0.2, 0.5, 1}[p.r.IntN(3)], refresh: 1.0 / 6, powerTime: 0.1,
		hasSM: p.r.IntN(2) == 0, hasPSI: p.r.IntN(2) == 0, hasDisk: p.r.IntN(2) == 0, hasRx: p.r.IntN(8) > 0, hasWait: p.r.IntN(4) > 0}
	if p.r.IntN(3) == 0 {
		w.powerTime = 1
	}
	return p.shoot(w, p.between(15, 25))
}

// TestOneGPU asks as a screen does: about a GPU, without knowing the job.
func TestOneGPU(t *testing.T) {
	right, all := 0, 0
	for n, want := range slices.Sorted(maps.Keys(plays)) {
		if want == "cpu-only" || want == "wrong-device" {
			continue // what is not on the GPU cannot be asked about
		}
		for k := range 3 {
			p := newPlay(rand.New(rand.NewPCG(uint64(n), uint64(k))))
			plays[want](p)
			w := p.look()
			w.Root, w.Devices = 0, []string{"GPU-0"}
			got := ""
			if a := Diagnose(w); len(a.Findings) > 0 {
				got = a.Findings[0].Cause
			}
			all++
			if got == want {
				right++
			}
		}
	}
	if 10*right < 9*all {
		t.Errorf("right %d of %d", right, all)
	}
}

// TestPhases cuts a run into its start, training, evaluations and saves.
func TestPhases(t *testing.T) {
	p := newPlay(rand.New(rand.NewPCG(1, 1)))
	w := watch{mean: 0.2, refresh: 1.0 / 6, powerTime: 0.1, hasWait: true}
	line := &p.ranks[0]
	for i := range 10 {
		run(line, 0.4, tick{power: 0.1, clock: 1, memory: float64(i) * gib})
	}
	train, eval := p.work(0.8, 30*gib, nil), p.work(0.5, 20*gib, nil)
	save := train
	save.busy, save.main = 0, act{disk: 0.5, wrote: 1e8}
	for _, part := range []tick{train, eval, train, save, train} {
		run(line, 5, part)
	}
	var names []string
	for _, ph := range Diagnose(p.shoot(w, 29)).Phases {
		names = append(names, ph.Name)
		if length := ph.Until - ph.From; length < 3 || length > 7 {
			t.Errorf("%s from %.1f to %.1f s", ph.Name, ph.From, ph.Until)
		}
	}
	if want := []string{"startup", "train", "eval", "train", "save", "train"}; !slices.Equal(names, want) {
		t.Errorf("phases %v, want %v", names, want)
	}
}
