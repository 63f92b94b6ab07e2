package history

import (
	"cmp"
	"math"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Device is what was seen of one GPU or MIG instance.
type Device struct {
	ID, Name, MIG, Parent string
	Index                 int

	Busy, MemoryUsed, Power, Temperature, SMActive Stat
	MemoryTotal                                    float64 // 0 where unknown

	// Joules and the throttled times are differences of totals; negative where
	// they were not told.
	Joules, PowerThrottled, HeatThrottled float64

	// Status is for how long the device was in each status.
	Status map[series.Status]time.Duration

	BusyLine, MemoryLine Line
	Judged               Judged

	totals map[series.Counter]float64
}

func newDevice(d *series.Device) *Device {
	return &Device{
		ID: d.ID, Name: d.Name, MIG: d.MIG, Parent: d.Parent, Index: d.Index, Joules: -1, PowerThrottled: -1, HeatThrottled: -1,
		Status: map[series.Status]time.Duration{}, totals: map[series.Counter]float64{}, Judged: Judged{Causes: map[string]*Named{}},
	}
}

func (d *Device) add(s *series.Device, elapsed time.Duration, st step) {
	d.Index, d.MIG = s.Index, s.MIG
	if s.Name != "" {
		d.Name = s.Name
	}
	d.Status[s.Status] += st.counted
	if st.broken {
		clear(d.totals)
	}
	if s.Status != series.OK {
		return
	}
	if v, ok := s.Values.Get(series.MemoryTotal).Get(); ok {
		d.MemoryTotal = v
	}
	for _, row := range []struct {
		c    series.Counter
		stat *Stat
		line *Line
	}{
		{series.Busy, &d.Busy, &d.BusyLine}, {series.MemoryUsed, &d.MemoryUsed, &d.MemoryLine},
		{series.Power, &d.Power, nil}, {series.Temperature, &d.Temperature, nil}, {series.SMActive, &d.SMActive, nil},
	} {
		v, ok := s.Values.Get(row.c).Get()
		if !ok {
			continue
		}
		row.stat.add(v, st.counted)
		if row.line != nil {
			row.line.Add(elapsed, v)
		}
	}
	d.grow(s, series.Energy, &d.Joules)
	d.grow(s, series.ThrottlePower, &d.PowerThrottled)
	d.grow(s, series.ThrottleThermal, &d.HeatThrottled)
}

// grow adds what a total has grown by; a driver that was loaded anew begins at 0.
func (d *Device) grow(s *series.Device, c series.Counter, sum *float64) {
	v, ok := s.Values.Get(c).Get()
	if !ok {
		return
	}
	if before, had := d.totals[c]; had {
		*sum = max(*sum, 0) + max(v-before, 0)
	}
	d.totals[c] = v
}

// A Stat is the mean and the bounds of a number.
type Stat struct {
	Low, High float64
	sum       float64 // of value times time
	weight    float64
	plain     float64 // sum of values
	n         int
}

func (s *Stat) add(v float64, lasted time.Duration) {
	if s.n == 0 || v < s.Low {
		s.Low = v
	}
	if s.n == 0 || v > s.High {
		s.High = v
	}
	s.n++
	s.plain += v
	s.sum += v * lasted.Seconds()
	s.weight += lasted.Seconds()
}

// Known reports whether there was any value.
func (s *Stat) Known() bool { return s.n > 0 }

// Mean is the mean over time, and whether there is one.
func (s *Stat) Mean() (float64, bool) {
	switch {
	case s.n == 0:
		return 0, false
	case s.weight == 0:
		return s.plain / float64(s.n), true
	}
	return s.sum / s.weight, true
}

// bins is how many parts a Line has at most, unless it says otherwise.
const bins = 64

// A Line is a number over time, as means of parts of one width.
type Line struct {
	Bins  int // even; 0 for the usual
	Width time.Duration
	sum   []float64
	n     []int
	used  int
}

// Add takes a value at a time since the beginning.
func (l *Line) Add(at time.Duration, v float64) {
	l.Reach(at)
	l.sum[l.used-1] += v
	l.n[l.used-1]++
}

// Reach makes the line reach to a time, without a value there. The width doubles
// when the parts do not reach far enough.
func (l *Line) Reach(at time.Duration) {
	if l.sum == nil {
		l.Bins = cmp.Or(l.Bins, bins)
		l.Width = cmp.Or(l.Width, time.Second)
		l.sum, l.n = make([]float64, l.Bins), make([]int, l.Bins)
	}
	for at/l.Width >= time.Duration(l.Bins) {
		for i := range l.Bins / 2 {
			l.sum[i], l.n[i] = l.sum[2*i]+l.sum[2*i+1], l.n[2*i]+l.n[2*i+1]
		}
		for i := l.Bins / 2; i < l.Bins; i++ {
			l.sum[i], l.n[i] = 0, 0
		}
		l.Width *= 2
	}
	l.used = int(at/l.Width) + 1 // time does not go back
}

// Means are the parts from the first to the last with a value; NaN where there is
// none.
func (l *Line) Means() []float64 {
	out := make([]float64, l.used)
	for i := range out {
		out[i] = math.NaN()
		if l.n[i] > 0 {
			out[i] = l.sum[i] / float64(l.n[i])
		}
	}
	return out
}
