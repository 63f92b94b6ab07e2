package watch

import (
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// seen is a second of a training whose GPU works for three of each five seconds.
func seen(at int, change func(s *series.Sample)) series.Sample {
	s := sample(time.Duration(at)*time.Second, 40*gib, 3)
	for i := range s.Processes {
		s.Processes[i].Uses = []series.Use{{Device: "GPU-a"}}
	}
	if at%5 > 2 {
		s.Devices[0].Values.Set(series.Busy, series.Of(0))
	}
	if change != nil {
		change(&s)
	}
	return s
}

func TestWhatIsNews(t *testing.T) {
	set := func(c series.Counter, v series.Value) func(*series.Sample) {
		return func(s *series.Sample) { s.Devices[0].Values.Set(c, v) }
	}
	for _, c := range []struct {
		name   string
		change func(*series.Sample)
		within int // seconds; 0 for no news
	}{
		{"it goes on", nil, 0},
		{"a worker comes that is on no GPU", func(s *series.Sample) { s.Processes = append(s.Processes, series.Process{PID: 77}) }, 0},
		{"it is hotter", set(series.Temperature, series.Of(90)), 0},
		{"it takes a little more memory", set(series.MemoryUsed, series.Of(47*gib)), 0},
		{"it takes a tenth more memory", set(series.MemoryUsed, series.Of(49*gib)), 1},
		{"its memory cannot be read", set(series.MemoryUsed, series.Without(series.Failed)), 1},
		{"it works all the time", set(series.Busy, series.Of(1)), 10},
		{"it works no more", set(series.Busy, series.Of(0)), 7},
		{"a process comes", func(s *series.Sample) {
			s.Processes = append(s.Processes, series.Process{PID: 77, Uses: s.Processes[0].Uses})
		}, 1},
		{"a process leaves", func(s *series.Sample) { s.Processes = s.Processes[:2] }, 1},
		{"another process takes its place", func(s *series.Sample) { s.Processes[2].PID = 77 }, 1},
		{"the driver hangs", func(s *series.Sample) { s.Devices[0].Status = series.Stuck }, 1},
		{"a GPU comes", func(s *series.Sample) { s.Devices = append(s.Devices, series.Device{ID: "GPU-b"}) }, 1},
		{"a GPU is another's", func(s *series.Sample) { s.Devices[0].ID = "GPU-b" }, 1},
		{"there is no GPU", func(s *series.Sample) { s.Devices = nil }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w Window
			for at := range 60 {
				w.Add(seen(at, nil))
			}
			before, after := w.Scene(), 0
			for at := 60; at < 100 && after == 0; at++ {
				if w.Add(seen(at, c.change)); w.IsNews(before) {
					after = at - 59
				}
			}
			if after > c.within || (after == 0) != (c.within == 0) {
				t.Errorf("is news after %d s, want %d", after, c.within)
			}
			if w.IsNews(w.Scene()) {
				t.Error("what is seen differs from itself")
			}
		})
	}
	var none Window
	if none.IsNews(none.Scene()) {
		t.Error("no sample is news")
	}
}

func BenchmarkIsNews(b *testing.B) {
	var w Window
	for at := range 120 {
		s := seen(at, nil)
		for range 7 {
			s.Devices = append(s.Devices, s.Devices[0])
		}
		w.Add(s)
	}
	scene := w.Scene()
	b.ReportAllocs()
	for b.Loop() {
		if w.IsNews(scene) {
			b.Fatal("it is news")
		}
	}
}
