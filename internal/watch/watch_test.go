package watch

import (
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/trend"
	"github.com/plimsoll-dev/plimsoll/series"
)

const gib = 1 << 30

func sample(at time.Duration, used float64, processes int) series.Sample {
	d := series.Device{ID: "GPU-a", Status: series.OK}
	d.Values.Set(series.MemoryTotal, series.Of(80*gib))
	d.Values.Set(series.MemoryReserved, series.Of(gib))
	d.Values.Set(series.MemoryUsed, series.Of(used))
	d.Values.Set(series.Busy, series.Of(0.97))
	s := series.Sample{Since: at, Devices: []series.Device{d}}
	for i := range processes {
		s.Processes = append(s.Processes, series.Process{PID: i + 1})
	}
	return s
}

func TestWindowIsBounded(t *testing.T) {
	var w Window
	for i := range 3000 {
		w.Add(sample(time.Duration(i)*time.Second, gib, 3))
	}
	if n := len(w.Samples()); n != 121 {
		t.Errorf("%d samples of two minutes", n)
	}
	if n := len(w.memory["GPU-a"]); n != 601 {
		t.Errorf("%d points of ten minutes", n)
	}
	for i := range 20 {
		w.Add(sample(time.Duration(3000+i)*time.Second, gib, 9000))
	}
	if n := len(w.Samples()); n != 2 {
		t.Errorf("%d samples of 9,000 processes", n)
	}
}

func TestWindingBackBeginsAnew(t *testing.T) {
	var w Window
	for _, at := range []time.Duration{10, 11, 12, 5} {
		w.Add(sample(at*time.Second, gib, 0))
	}
	now, before := w.Last()
	if now.Since != 5*time.Second || before != nil {
		t.Errorf("now %v, before %v", now.Since, before)
	}
}

// A frozen window does not change when samples come in.
func TestFreeze(t *testing.T) {
	var w Window
	for i := range 60 {
		w.Add(sample(time.Duration(i)*time.Second, gib*float64(i), 0))
	}
	f := w.Freeze()
	before := fmt.Sprint(f.Judge([]string{"GPU-a"})["GPU-a"].Memory)
	for i := range 600 {
		w.Add(sample(time.Duration(60+i)*time.Second, 3*gib, 0))
	}
	if after := fmt.Sprint(f.Judge([]string{"GPU-a"})["GPU-a"].Memory); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

func TestLoad(t *testing.T) {
	grows := trend.Trend{Clear: true, PerSecond: gib / 60.0, Low: gib / 70.0, High: gib / 50.0} // a GiB a minute
	for _, c := range []struct {
		name  string
		used  float64
		trend trend.Trend
		line  float64 // GiB, 0 for none
		full  time.Duration
		over  bool
	}{
		{"no trend", 60, trend.Trend{}, 0, 0, false},
		{"falls", 60, trend.Trend{Clear: true, PerSecond: -1, Low: -2, High: -1}, 0, 0, false},
		{"below its line", 60, grows, 69, 19 * time.Minute, false},
		{"above its line", 75, grows, 69, 4 * time.Minute, true},
	} {
		s := sample(0, c.used*gib, 0)
		l := LoadOf(&s.Devices[0], c.trend)
		if l.Line/gib != c.line || l.Full.After.Round(time.Second) != c.full || l.Over() != c.over || l.Capacity != 79*gib {
			t.Errorf("%s: %+v, over %v", c.name, l, l.Over())
		}
	}
	s := sample(0, 60*gib, 0)
	s.Devices[0].Status = series.Stuck
	if l := LoadOf(&s.Devices[0], grows); l.Lined || !l.Known {
		t.Errorf("values that are not fresh have a load line: %+v", l)
	}
	s.Devices[0].Values.Set(series.MemoryUsed, series.Without(series.Lost))
	if l := LoadOf(&s.Devices[0], grows); l.Known {
		t.Errorf("memory that is not known is a load: %+v", l)
	}
}

// BenchmarkJudge is one round of what top does beside drawing: 8 GPUs, 50
// processes, two minutes.
func BenchmarkJudge(b *testing.B) {
	var w Window
	for i := range 120 {
		s := sample(time.Duration(i)*time.Second, gib*float64(i%3), 50)
		for j := 1; j < 8; j++ {
			d := s.Devices[0]
			d.ID = fmt.Sprint("GPU-", j)
			s.Devices = append(s.Devices, d)
		}
		for j := range s.Processes {
			s.Processes[j].Uses = []series.Use{{Device: s.Devices[j%8].ID}}
		}
		w.Add(s)
	}
	f := w.Freeze()
	now, _ := w.Last()
	var ids []string
	for _, d := range now.Devices {
		ids = append(ids, d.ID)
	}
	b.ReportAllocs()
	for b.Loop() {
		f.Judge(ids)
	}
}
