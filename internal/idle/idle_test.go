package idle

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/idle/period"
	"github.com/plimsoll-dev/plimsoll/series"
)

func TestNothingToSay(t *testing.T) {
	for name, w := range map[string]Window{
		"no samples":     {},
		"no GPU":         {Samples: make([]series.Sample, 3)},
		"a GPU is asked": {Samples: make([]series.Sample, 3), Devices: []string{"GPU-1"}, Root: 7},
	} {
		a := Diagnose(w)
		if a.Verdict == "" || a.Healthy || len(a.Findings) > 0 || len(a.Unsure) > 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A cause needs two witnesses that can lie only independently of each other.
func TestCausesHaveTwoWitnesses(t *testing.T) {
	seen, used := map[string]bool{}, map[string]bool{}
	for _, c := range Causes() {
		if seen[c.ID] {
			t.Errorf("%s stands twice in the catalogue", c.ID)
		}
		seen[c.ID] = true
		witnesses := map[string]bool{}
		for _, any := range c.Needs {
			for _, id := range any {
				used[id] = true
				if signalByID[id] == nil {
					t.Fatalf("%s needs %q, which is no signal", c.ID, id)
				}
			}
			witnesses[signalByID[any[0]].Counters] = true
		}
		if len(witnesses) < 2 {
			t.Errorf("%s is named on one witness", c.ID)
		}
		for _, id := range c.Excludes {
			if signalByID[id] == nil {
				t.Fatalf("%s excludes %q, which is no signal", c.ID, id)
			}
		}
		for _, id := range c.Excludes {
			used[id] = true
		}
		if c.Else == "" || c.Decide == "" || len(c.Remedies) == 0 {
			t.Errorf("%s lacks what else, what would decide, or a remedy", c.ID)
		}
	}
	for _, s := range Signals() {
		if !used[s.ID] && s.ID != "stalls" { // phases are told by it
			t.Errorf("no cause asks for the signal %s", s.ID)
		}
	}
}

// BenchmarkDiagnose asks about a node of 8 GPUs with 6 workers each, 300 samples.
func BenchmarkDiagnose(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	p := newPlay(r)
	p.together(8, func(_ int, t *tick) { t.workers = p.team(6, act{cpu: 0.3}) })
	w := p.shoot(watch{mean: 1, refresh: 1.0 / 6, powerTime: 0.1, hasWait: true, hasRx: true}, 300)
	b.ReportAllocs()
	for b.Loop() {
		Diagnose(w)
	}
}

// Who asks about each GPU at once gets what who asks one by one gets.
func TestEachIsDiagnose(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	p := newPlay(r)
	p.together(4, func(rank int, t *tick) { t.workers = p.team(1+3*(rank%2), act{cpu: 0.3 * float64(rank)}) })
	w := p.shoot(watch{mean: 0.5, refresh: 1.0 / 6, powerTime: 0.1, hasWait: true, hasRx: true}, 60)
	var ids []string
	for _, d := range w.Samples[0].Devices {
		ids = append(ids, d.ID)
	}
	for i, got := range Each(w.Samples, ids) {
		want := Diagnose(Window{Samples: w.Samples, Devices: ids[i : i+1]})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("GPU %d (-alone +with the others):\n%s", i, diff)
		}
	}
}

// What a remedy gives back is the share that was measured, and every sentence has
// a number of the window.
func TestGainsAreMeasured(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := newPlay(r)
	plays["few-workers"](p)
	a := Diagnose(p.shoot(watch{mean: 0.2, refresh: 1.0 / 6, powerTime: 0.1, hasWait: true}, 30))
	if len(a.Findings) != 1 || a.Findings[0].Cause != "few-workers" {
		t.Fatalf("found %+v", a.Findings)
	}
	idle := 0.0
	for _, k := range p.ranks[0][:3000] {
		idle += (1 - k.busy) / 3000
	}
	for _, remedy := range a.Findings[0].Remedies {
		if remedy.Gain == nil || math.Abs(*remedy.Gain-idle) > 0.05 || !strings.Contains(remedy.Method, percent(*remedy.Gain)) {
			t.Errorf("the GPU idled for %.2f of the time, the remedy says %+v", idle, remedy)
		}
	}
	for _, e := range a.Findings[0].Evidence {
		if !strings.ContainsAny(e.Fact, "0123456789") {
			t.Errorf("evidence without a number: %q", e.Fact)
		}
	}
	if *a.Shares.Busy+*a.Shares.Idle != 1 || math.Abs(*a.Shares.Idle-idle) > 0.05 {
		t.Errorf("shares are %v busy and %v idle; the GPU idled for %.2f", *a.Shares.Busy, *a.Shares.Idle, idle)
	}
}

// What repeats with a log, a checkpoint or an epoch is no step of the training.
func TestStallsAreNoSteps(t *testing.T) {
	claimed, named := 0, 0
	for _, cause := range []string{"logging-stall", "checkpoint-stall", "epoch-boundary"} {
		for k := range 10 {
			p := newPlay(rand.New(rand.NewPCG(9, uint64(k))))
			plays[cause](p)
			w := p.shoot(watch{mean: 0.2, refresh: 1.0 / 6, powerTime: 0.1, hasWait: true}, 60)
			a := Diagnose(w)
			if len(a.Findings) == 0 || a.Findings[0].Cause != cause {
				continue
			}
			named++
			sc := newScene(w.Samples)
			if v := newView(sc, w); v.period().Status == period.Known {
				claimed++
			}
			if a.Period.Status == period.Known {
				t.Errorf("%s: a step of %.2f s is told", cause, a.Period.Seconds)
			}
		}
	}
	if named < 20 || claimed == 0 {
		t.Errorf("%d windows are named, and %d of them show a wave", named, claimed)
	}
}

// Without a counter that would decide, no cause is named and the answer says what
// to measure.
func TestUnknownIsNotNo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := newPlay(r)
	plays["few-workers"](p)
	w := p.shoot(watch{mean: 0.2, refresh: 1.0 / 6, powerTime: 0.1}, 30)
	for i := range w.Samples {
		w.Samples[i].Host.Values = nil // which processors the job may take
	}
	a := Diagnose(w)
	asks := slices.ContainsFunc(a.Unsure, func(q Question) bool { return q.Cause == "few-workers" && strings.Contains(q.Measure, "processors") })
	if len(a.Findings) > 0 || a.Healthy || !asks {
		t.Errorf("without the number of processors: %+v", a)
	}
}

// Anything may stand in a recording.
func TestHostileWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	values := func(s series.Scope) (vs series.Values) {
		for _, row := range series.Counters(s) {
			vs.Set(row.Counter, series.Value{V: []float64{0, 1, -1, 1e300, math.NaN(), math.Inf(1), r.Float64()}[r.IntN(7)], Status: series.Status(r.IntN(8))})
		}
		return vs
	}
	for range 300 {
		w := Window{Root: r.IntN(4), Samples: make([]series.Sample, r.IntN(40))}
		for i := range w.Samples {
			s := &w.Samples[i]
			s.Since = time.Duration(r.Int64N(1e10)) - 1e9
			s.Host.Values = values(series.ScopeHost)
			for range r.IntN(4) {
				s.Devices = append(s.Devices, series.Device{ID: []string{"", "a", "b"}[r.IntN(3)], Values: values(series.ScopeDevice)})
			}
			for range r.IntN(6) {
				p := series.Process{PID: r.IntN(4), Parent: r.IntN(4), State: []string{"", "R", "D", "Z"}[r.IntN(4)], Values: values(series.ScopeProcess), Visible: "0,,x", WorldSize: r.IntN(3)}
				if r.IntN(2) == 0 {
					p.Uses = []series.Use{{Device: "a", Values: values(series.ScopeUse)}}
				}
				s.Processes = append(s.Processes, p)
			}
		}
		a := Diagnose(w)
		if _, err := json.Marshal(a); err != nil {
			t.Fatalf("%v: %+v", err, a)
		}
		if a.Verdict == "" {
			t.Fatal("no verdict")
		}
	}
}
