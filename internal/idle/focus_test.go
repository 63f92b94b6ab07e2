package idle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A seat is a GPU of a job of two ranks as shots plays it: n samples, a second apart.
type seat struct {
	busy, clock, held float64
	reasons           series.ThrottleReason
	stale             func(i int) bool
	cpu, asked, net   float64 // of its process, and of the host
}

func shots(n int, seats ...seat) []series.Sample {
	out := make([]series.Sample, n)
	for i := range out {
		s := &out[i]
		s.Since = time.Duration(i) * time.Second
		for j, x := range seats {
			id := []string{"a", "b"}[j]
			d := series.Device{ID: id, Index: j, Status: series.OK}
			for c, v := range map[series.Counter]float64{
				series.Busy: x.busy, series.ClockSM: x.clock, series.ClockSMMax: 1, series.ThrottleReasons: float64(x.reasons),
				series.MemoryUsed: x.held, series.MemoryTotal: 80 * gib, series.Power: 500, series.PowerLimit: 700,
			} {
				d.Values.Set(c, series.Of(v))
			}
			if x.stale != nil && x.stale(i) {
				d.Status, d.StaleFor = series.Stuck, time.Minute
			}
			s.Devices = append(s.Devices, d)
			p := series.Process{PID: 100 + j, Parent: 1, Name: "python", User: "ann", WorldSize: len(seats), Rank: j, State: "S", Status: series.OK}
			p.Values.Set(series.CPUTime, series.Of(x.cpu*float64(i)))
			p.Values.Set(series.BytesRead, series.Of(0))
			p.Values.Set(series.BytesAsked, series.Of(x.asked*float64(i)))
			u := series.Use{Device: id, Kind: series.Compute}
			u.Values.Set(series.UseMemory, series.Of(x.held))
			p.Uses = []series.Use{u}
			s.Processes = append(s.Processes, p)
			s.Host.Values.Set(series.HostNetReceived, series.Of(x.net*float64(i)))
		}
	}
	return out
}

func names(a Answer) []string {
	var out []string
	for _, f := range a.Findings {
		out = append(out, f.Cause)
	}
	return out
}

// TestCausesOfTheGPUItself asks about each GPU of a job of which one is hot.
func TestCausesOfTheGPUItself(t *testing.T) {
	cool := seat{busy: 0.97, clock: 0.99, held: 68 * gib, cpu: 1}
	hot := seat{busy: 0.99, clock: 0.6, held: 68 * gib, cpu: 1, reasons: series.HardwareThermal}
	list := shots(40, cool, hot)
	for id, want := range map[string]bool{"a": false, "b": true} {
		a := Diagnose(Window{Samples: list, Devices: []string{id}})
		if got := slices.Contains(names(a), "throttled-heat"); got != want {
			t.Errorf("GPU %s: %v, throttled by heat is %v", id, names(a), want)
		}
		if busy := list[0].Devices[id[0]-'a'].Values.Get(series.Busy).V; *a.Shares.Busy < busy-1e-9 || *a.Shares.Busy > busy+1e-9 {
			t.Errorf("GPU %s: busy %v, want its own %v", id, *a.Shares.Busy, busy)
		}
	}
}

// TestSilentGPU asks about GPUs whose driver does not answer.
func TestSilentGPU(t *testing.T) {
	good := seat{busy: 0.97, clock: 1, held: 68 * gib, cpu: 1}
	for name, c := range map[string]struct {
		stale func(i int) bool
		all   bool
	}{
		"never":         {func(int) bool { return true }, true},
		"first half":    {func(i int) bool { return i >= 30 }, false},
		"only a moment": {func(i int) bool { return i != 5 }, false},
	} {
		bad := good
		bad.stale = c.stale
		list := shots(60, good, bad)
		a := Diagnose(Window{Samples: list, Devices: []string{"b"}})
		if a.Healthy || len(a.Findings) > 0 || strings.Contains(a.Verdict, "is used") {
			t.Errorf("%s: %+v", name, a)
		}
		if c.all && !strings.Contains(a.Verdict, "GPU 1 did not answer in any of 60 samples") {
			t.Errorf("%s: %s", name, a.Verdict)
		}
		if a := Diagnose(Window{Samples: list, Devices: []string{"a"}}); !a.Healthy {
			t.Errorf("%s: the other one is not healthy: %+v", name, a)
		}
		if a := Diagnose(Window{Samples: list}); a.Healthy || !strings.Contains(a.Verdict, "GPU 1 did not answer") {
			t.Errorf("%s: of the job it is said %q", name, a.Verdict)
		}
	}
}

// TestNetworkOfOthers: a notebook sleeps on a host that receives much.
func TestNetworkOfOthers(t *testing.T) {
	asleep := seat{clock: 1, held: 76 * gib, net: 90e6}
	if got := names(Diagnose(Window{Samples: shots(40, asleep)})); !slices.Equal(got, []string{"memory-full-idle"}) {
		t.Errorf("a notebook that reads nothing: %v", got)
	}
	reads := seat{busy: 0.4, clock: 1, held: 40 * gib, net: 90e6, asked: 80e6}
	if got := names(Diagnose(Window{Samples: shots(40, reads)})); !slices.Equal(got, []string{"remote-disk"}) {
		t.Errorf("a job that reads over the network: %v", got)
	}
}

// TestAnotherGPU asks about a GPU that the job of the recording is not on.
func TestAnotherGPU(t *testing.T) {
	good := seat{busy: 0.97, clock: 1, held: 68 * gib, cpu: 1}
	list := shots(40, good, seat{clock: 1})
	for i := range list {
		list[i].Processes = list[i].Processes[:1]
	}
	if a := Diagnose(Window{Samples: list, Devices: []string{"b"}, Root: 100}); len(a.Findings) > 0 || a.Verdict != "Nobody is on the GPU." {
		t.Errorf("an unused GPU: %v, %s", names(a), a.Verdict)
	}
	if a := Diagnose(Window{Samples: list, Devices: []string{"a"}, Root: 100}); !a.Healthy {
		t.Errorf("the job's own GPU: %v, %s", names(a), a.Verdict)
	}
}
