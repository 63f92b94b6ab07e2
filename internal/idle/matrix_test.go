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
			r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
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
