package demo_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/demo"
	"github.com/plimsoll-dev/plimsoll/series"
)

// play makes n samples, a second apart.
func play(t *testing.T, seed uint64, n int) []series.Sample {
	t.Helper()
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	m := demo.New(seed, clock)
	s := monitor.NewSampler(monitor.Options{Source: m, Host: m.Host(), Now: clock, Rand: rand.New(rand.NewPCG(seed, 0))})
	var out []series.Sample
	for range n {
		out = append(out, s.Sample(t.Context()))
		now = now.Add(time.Second)
	}
	return out
}

func TestOneSeedIsOneDemo(t *testing.T) {
	a, b, c := play(t, 1, 20), play(t, 1, 20), play(t, 2, 20)
	if !reflect.DeepEqual(a, b) {
		t.Error("two demos of one seed differ")
	}
	if reflect.DeepEqual(a, c) {
		t.Error("demos of two seeds are the same")
	}
}

func TestTotalsGrowAndSharesAreShares(t *testing.T) {
	samples := play(t, 1, 100)
	for i, s := range samples {
		for j, d := range s.Devices {
			for _, row := range series.Counters(series.ScopeDevice) {
				v, ok := d.Values.Get(row.Counter).Get()
				if !ok {
					continue
				}
				if d.Status == series.Lost {
					t.Fatalf("a lost GPU has %s", row.Name)
				}
				if row.Unit == series.Ratio && (v < 0 || v > 1) || v < 0 {
					t.Errorf("%s: %s is %v", d.ID, row.Name, v)
				}
				if i > 0 && row.Kind == series.Total && v < samples[i-1].Devices[j].Values.Get(row.Counter).V {
					t.Errorf("%s: %s falls", d.ID, row.Name)
				}
			}
			used, _ := d.Values.Get(series.MemoryUsed).Get()
			if total, ok := d.Values.Get(series.MemoryTotal).Get(); ok && used > total {
				t.Errorf("%s: %v of %v bytes are used", d.ID, used, total)
			}
		}
	}
}

func TestEveryKindOfTroubleIsThere(t *testing.T) {
	s := play(t, 1, 1)[0]
	if len(s.Devices) != 11 {
		t.Errorf("%d devices, want 8 and 3 instances", len(s.Devices))
	}
	statuses := map[series.Status]int{}
	for _, d := range s.Devices {
		statuses[d.Status]++
	}
	if statuses[series.Stuck] != 1 || statuses[series.Lost] != 1 {
		t.Errorf("statuses of devices: %v", statuses)
	}
	clear(statuses)
	known := map[string]bool{}
	for _, d := range s.Devices {
		known[d.ID] = true
	}
	for _, p := range s.Processes {
		statuses[p.Status]++
		if p.PID <= 4194304 {
			t.Errorf("PID %d may be one of a real process", p.PID)
		}
		for _, u := range p.Uses {
			if !known[u.Device] {
				t.Errorf("process %d is on %s, which is no device", p.PID, u.Device)
			}
		}
	}
	if statuses[series.Lost] != 1 || statuses[series.NoPermission] != 1 {
		t.Errorf("statuses of processes: %v", statuses)
	}
}
