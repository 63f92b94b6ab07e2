package monitor_test

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// scripted is a Source whose answers a test decides.
type scripted struct {
	read  func() (monitor.Reading, error)
	calls atomic.Int32
}

func (s *scripted) Name() string { return "scripted" }
func (s *scripted) Close() error { return nil }
func (s *scripted) Read(context.Context) (monitor.Reading, error) {
	s.calls.Add(1)
	return s.read()
}

func sampler(src monitor.Source) *monitor.Sampler {
	return monitor.NewSampler(monitor.Options{Source: src, Now: time.Now, Rand: rand.New(rand.NewPCG(1, 2))})
}

func reading(busy float64) monitor.Reading {
	d := series.Device{ID: "GPU-1", Status: series.OK}
	d.Values.Set(series.Busy, series.Of(busy))
	return monitor.Reading{Devices: []series.Device{d}}
}

func TestSamplesAreDenseAtTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := monitor.NewSampler(monitor.Options{Source: &scripted{}, Now: time.Now, Rand: rand.New(rand.NewPCG(1, 2)), Dense: time.Minute})
		mean := func() (sum time.Duration) {
			for range 2000 {
				sum += s.Interval()
			}
			return sum / 2000
		}
		if d := mean(); d < 190*time.Millisecond || d > 210*time.Millisecond {
			t.Errorf("at the beginning samples come every %v", d)
		}
		time.Sleep(time.Minute)
		if d := mean(); d < 950*time.Millisecond || d > 1050*time.Millisecond {
			t.Errorf("later samples come every %v", d)
		}
	})
}

func TestIntervalsAreSpreadEvenly(t *testing.T) {
	s := sampler(&scripted{})
	const n = 20000
	var sum time.Duration
	buckets := map[int]int{}
	for range n {
		d := s.Interval()
		if d < 300*time.Millisecond || d > 1700*time.Millisecond {
			t.Fatalf("an interval of %v, want 0.3 to 1.7 s", d)
		}
		sum += d
		buckets[int((d-300*time.Millisecond)/(140*time.Millisecond))]++
	}
	if mean := sum / n; mean < 990*time.Millisecond || mean > 1010*time.Millisecond {
		t.Errorf("mean interval %v, want 1 s", mean)
	}
	for b := range 10 {
		if got := buckets[b]; got < n/10*8/10 || got > n/10*12/10 {
			t.Errorf("a tenth of the range got %d of %d intervals", got, n)
		}
	}
}

func TestSourceThatHangsIsStuckAndAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var hang atomic.Bool
		src := &scripted{read: func() (monitor.Reading, error) {
			if hang.Load() {
				<-release
			}
			return reading(0.5), nil
		}}
		s := sampler(src)
		if d := s.Sample(t.Context()).Devices[0]; d.Status != series.OK || d.StaleFor != 0 {
			t.Fatalf("a device that answers is %v, stale for %v", d.Status, d.StaleFor)
		}
		time.Sleep(time.Second)
		hang.Store(true)
		for i := range 3 {
			began := time.Now()
			sample := s.Sample(t.Context())
			if took := time.Since(began); took > time.Second {
				t.Fatalf("sample %d took %v", i, took)
			}
			d := sample.Devices[0]
			if d.Status != series.Stuck || d.StaleFor <= 0 {
				t.Errorf("sample %d: device is %v, stale for %v", i, d.Status, d.StaleFor)
			}
			if len(sample.Problems) != 1 || sample.Problems[0].Status != series.Stuck {
				t.Errorf("sample %d: problems are %v", i, sample.Problems)
			}
		}
		if n := src.calls.Load(); n != 2 {
			t.Errorf("a source that hangs was asked %d times, want 2", n)
		}
		hang.Store(false)
		close(release)
		synctest.Wait()
		if d := s.Sample(t.Context()).Devices[0]; d.Status != series.OK {
			t.Errorf("after the source is back the device is %v", d.Status)
		}
	})
}

// slowHost is a Host that hangs while a test wants it to.
type slowHost struct{ hang chan struct{} }

func (h slowHost) Read(_ map[int][]series.Use) monitor.HostReading {
	<-h.hang
	p := series.Process{PID: 7, Name: "python"}
	p.Values.Set(series.CPUTime, series.Of(3))
	return monitor.HostReading{Processes: []series.Process{p}}
}

func TestHostThatHangsHidesNoGPU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := slowHost{make(chan struct{}, 1)}
		host.hang <- struct{}{}
		s := monitor.NewSampler(monitor.Options{
			Source: &scripted{read: func() (monitor.Reading, error) { return reading(0.5), nil }}, Host: host, Now: time.Now, Rand: rand.New(rand.NewPCG(1, 2)),
		})
		if p := s.Sample(t.Context()).Processes[0]; p.Values.Get(series.CPUTime) != series.Of(3) {
			t.Fatalf("a host that answers says %+v", p)
		}
		for range 2 {
			began := time.Now()
			sample := s.Sample(t.Context())
			if took := time.Since(began); took > time.Second {
				t.Errorf("a sample took %v", took)
			}
			if sample.Devices[0].Status != series.OK || len(sample.Problems) != 1 {
				t.Errorf("device is %v, problems %v", sample.Devices[0].Status, sample.Problems)
			}
			if p := sample.Processes[0]; p.Name != "python" || p.Values.Get(series.CPUTime).Status != series.Stuck {
				t.Errorf("the process is %+v", p)
			}
		}
		host.hang <- struct{}{}
		synctest.Wait()
		if p := s.Sample(t.Context()).Processes[0]; p.Values.Get(series.CPUTime) != series.Of(3) {
			t.Errorf("when it is back it says %+v", p)
		}
	})
}

func TestSourceThatFailsLeavesDevicesWithoutNumbers(t *testing.T) {
	fail := false
	src := &scripted{read: func() (monitor.Reading, error) {
		if fail {
			return monitor.Reading{}, &monitor.Unavailable{Source: "scripted", Status: series.Lost, Msg: "the driver was unloaded", Hint: "load it"}
		}
		return reading(0.5), nil
	}}
	s := sampler(src)
	s.Sample(t.Context())
	fail = true
	sample := s.Sample(t.Context())
	if len(sample.Devices) != 1 {
		t.Fatalf("%d devices after a failure, want the one known before", len(sample.Devices))
	}
	if v := sample.Devices[0].Values.Get(series.Busy); v.Status != series.Lost {
		t.Errorf("busy is %v after a failure, want lost", v)
	}
	if got, want := sample.Problems[0].What, "the driver was unloaded; load it"; got != want {
		t.Errorf("problem %q, want %q", got, want)
	}
}

func TestRunTakesTheTimeOfASampleOffTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{read: func() (monitor.Reading, error) {
			time.Sleep(200 * time.Millisecond)
			return reading(0.5), nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		n := 0
		sampler(src).Run(ctx, func(series.Sample) { n++ })
		if n < 90 || n > 110 {
			t.Errorf("%d samples in 100 s at a mean of one second", n)
		}
	})
}
