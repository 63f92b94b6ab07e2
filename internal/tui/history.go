package tui

import (
	"math"
	"sort"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A metric is one that is drawn over time, as a share of its most.
type metric int

const (
	busyOverTime metric = iota
	memoryOverTime
	powerOverTime
	cpuOverTime // of the host
	metrics
)

// kept is how many samples are kept for charts: an hour at one a second.
const kept = 3600

// A history is a ring of what is drawn, for each device by ID; "" is the host.
type history struct {
	at    []time.Duration // of each sample
	next  int             // where the next sample goes once the ring is full
	lines map[string]*[metrics][]float32
}

// add takes a sample in. NaN stands for what is not known.
func (h *history) add(s, before *series.Sample) {
	if n := len(h.at); h.lines == nil || n > 0 && s.Since < h.at[(h.next+n-1)%n] {
		*h = history{lines: map[string]*[metrics][]float32{}}
	}
	slot := h.next
	if len(h.at) < kept {
		slot = len(h.at)
		h.at = append(h.at, 0)
	} else {
		h.next = (h.next + 1) % kept
	}
	h.at[slot] = s.Since
	for i := range s.Devices {
		d := &s.Devices[i]
		h.set(d.ID, slot, metricsOf(d))
	}
	h.set("", slot, [metrics]float32{nan, nan, nan, hostCPU(s, before)})
	for _, line := range h.lines {
		for k := range line {
			for len(line[k]) < len(h.at) {
				line[k] = append(line[k], nan) // a device that is gone
			}
		}
	}
}

var nan = float32(math.NaN())

func (h *history) set(id string, slot int, values [metrics]float32) {
	line := h.lines[id]
	if line == nil {
		line = &[metrics][]float32{}
		h.lines[id] = line
	}
	for k, v := range values {
		for len(line[k]) <= slot {
			line[k] = append(line[k], nan)
		}
		line[k][slot] = v
	}
}

func metricsOf(d *series.Device) [metrics]float32 {
	out := [metrics]float32{nan, nan, nan, nan}
	if d.Status != series.OK {
		return out // what is shown of it is old
	}
	out[busyOverTime] = share(watch.BusyOf(d), series.Of(1))
	out[memoryOverTime] = share(d.Values.Get(series.MemoryUsed), d.Values.Get(series.MemoryTotal))
	out[powerOverTime] = share(d.Values.Get(series.Power), d.Values.Get(series.PowerLimit))
	return out
}

func share(v, most series.Value) float32 {
	a, okA := v.Get()
	b, okB := most.Get()
	if !okA || !okB || b <= 0 {
		return nan
	}
	return float32(a / b)
}

// hostCPU is the share of the host's processors that worked between two samples.
func hostCPU(s, before *series.Sample) float32 {
	if before == nil {
		return nan
	}
	rate := table.Rate(before.Host.Values.Get(series.HostCPUTime), s.Host.Values.Get(series.HostCPUTime), (s.Since - before.Since).Seconds())
	return share(rate, s.Host.Values.Get(series.HostCPUs))
}

// line fills dots with a metric of a device up to a time, each dot the mean of a
// step. Steps lie at multiples of their length, so that a chart moves on by whole
// dots. A step without a sample has the value of the one before it, for as long as
// hold; then nothing is known.
func (h *history) line(dots []float64, id string, k metric, end, step, hold time.Duration) {
	for i := range dots {
		dots[i] = math.NaN()
	}
	line := h.lines[id]
	if line == nil || len(h.at) == 0 {
		return
	}
	last := int64(end / step)
	n := len(h.at)
	sum, count, dot := 0.0, 0, -1
	put := func() {
		if count > 0 && dot >= 0 {
			dots[dot] = sum / float64(count)
		}
	}
	previous, held := math.NaN(), int(hold/step)
	begin := end - time.Duration(len(dots))*step - hold
	first := sort.Search(n, func(j int) bool { return h.at[(h.next+j)%n] >= begin })
	for j := first; j < n; j++ {
		i := (h.next + j) % n
		if h.at[i] > end {
			break
		}
		at := len(dots) - 1 - int(last-int64(h.at[i]/step))
		v := float64(line[k][i])
		if at != dot {
			put()
			fill(dots, dot+1, min(at, dot+1+held), previous)
			sum, count, dot = 0, 0, at
		}
		if !math.IsNaN(v) {
			sum, count = sum+v, count+1
		}
		previous = v
	}
	put()
	fill(dots, dot+1, min(len(dots), dot+1+held), previous)
}

// fill gives the dots from one to before another the value v.
func fill(dots []float64, from, to int, v float64) {
	for i := max(from, 0); i < min(to, len(dots)); i++ {
		dots[i] = v
	}
}
