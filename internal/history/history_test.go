package history

import (
	"math"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/demo"
	"github.com/plimsoll-dev/plimsoll/series"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// at is a sample of one GPU that is busy for this share.
func at(since time.Duration, busy float64) *series.Sample {
	d := series.Device{ID: "GPU-a", Name: "H100", Status: series.OK}
	d.Values.Set(series.Busy, series.Of(busy))
	d.Values.Set(series.MemoryTotal, series.Of(80e9))
	d.Values.Set(series.MemoryUsed, series.Of(70e9))
	d.Values.Set(series.Energy, series.Of(1000+100*since.Seconds()))
	return &series.Sample{Wall: noon.Add(since), Since: since, Host: series.Host{Name: "a", BootID: "1"}, Devices: []series.Device{d}}
}

func of(list ...*series.Sample) *Host {
	var h History
	for _, s := range list {
		h.Add(s)
	}
	h.Finish()
	return h.Hosts[0]
}

// steady are samples a second apart.
func steady(from, n int, busy float64) []*series.Sample {
	var list []*series.Sample
	for i := range n {
		list = append(list, at(time.Duration(from+i)*time.Second, busy))
	}
	return list
}

func TestMeansAreOverTime(t *testing.T) {
	// 10 s at 100 %, sampled twice; then 10 s at 0, sampled ten times.
	list := []*series.Sample{at(0, 1), at(5*time.Second, 1), at(10*time.Second, 1)}
	for i := range 10 {
		list = append(list, at(time.Duration(11+i)*time.Second, 0))
	}
	d := of(list...).Devices[0]
	if mean, ok := d.Busy.Mean(); !ok || math.Abs(mean-0.5) > 1e-9 {
		t.Errorf("mean %v", mean)
	}
	if d.Busy.Low != 0 || d.Busy.High != 1 || d.Joules != 2000 {
		t.Errorf("%+v, %v J", d.Busy, d.Joules)
	}
}

func TestUnknownIsNoMean(t *testing.T) {
	d := of(steady(0, 5, 1)...).Devices[0]
	if _, ok := d.Power.Mean(); ok || d.PowerThrottled >= 0 {
		t.Errorf("power that was never told has a mean: %+v", d.Power)
	}
}

func TestHoles(t *testing.T) {
	list := steady(0, 60, 1)
	list = append(list, steady(180, 60, 1)...) // two minutes of nothing
	jumped := steady(240, 60, 1)               // the clock is put back an hour
	for _, s := range jumped {
		s.Wall = s.Wall.Add(-time.Hour)
	}
	list = append(list, jumped...)
	again := steady(0, 60, 1) // the recorder was started anew
	for _, s := range again {
		s.Wall = s.Wall.Add(24 * time.Hour)
	}
	list = append(list, again...)
	booted := steady(60, 60, 1)
	for _, s := range booted {
		s.Wall, s.Host.BootID = s.Wall.Add(24*time.Hour+time.Hour), "2"
	}
	list = append(list, booted...)
	h := of(list...)
	var kinds []GapKind
	for _, g := range h.Gaps {
		kinds = append(kinds, g.Kind)
	}
	if len(kinds) != 3 || kinds[0] != Silent || kinds[1] != Stopped || kinds[2] != Restarted {
		t.Errorf("gaps %v", kinds)
	}
	if h.Gaps[0].Lasted != 121*time.Second {
		t.Errorf("the first gap lasted %v", h.Gaps[0].Lasted)
	}
	if len(h.Jumps) != 1 || h.Jumps[0].By != -time.Hour {
		t.Errorf("jumps %v", h.Jumps)
	}
	if h.Watched != (59+59+60+59+59)*time.Second {
		t.Errorf("watched for %v", h.Watched)
	}
	if d := h.Devices[0]; d.Joules != 100*h.Watched.Seconds() {
		t.Errorf("%v J: energy across a gap is not known to be this GPU's", d.Joules)
	}
}

// TestRandomIntervalsAreNoGaps holds for a recorder that samples at 0.3 to 1.7 times
// ten seconds.
func TestRandomIntervalsAreNoGaps(t *testing.T) {
	var list []*series.Sample
	since := time.Duration(0)
	for i := range 200 {
		since += 3*time.Second + time.Duration(i*7919%14000)*time.Millisecond
		list = append(list, at(since, 1))
	}
	if h := of(list...); len(h.Gaps) > 0 || len(h.Jumps) > 0 {
		t.Errorf("gaps %v, jumps %v", h.Gaps, h.Jumps)
	}
}

func TestLine(t *testing.T) {
	var l Line
	for i := range 1000 {
		l.Add(time.Duration(i)*time.Second, float64(i/500))
	}
	means := l.Means()
	if l.Width != 16*time.Second || len(means) != 63 || means[0] != 0 || means[62] != 1 {
		t.Errorf("width %v, %d parts: %v", l.Width, len(means), means)
	}
	l = Line{}
	l.Add(0, 1)
	l.Add(10*time.Second, 1)
	if m := l.Means(); len(m) != 11 || !math.IsNaN(m[5]) {
		t.Errorf("a gap is %v", m)
	}
}

func TestHostileTimes(t *testing.T) {
	s := steady(0, 3, 1)
	s[1].Since, s[2].Since = math.MaxInt64, math.MinInt64
	s[2].Wall = time.UnixMicro(math.MaxInt64)
	if h := of(s...); h.Samples != 3 {
		t.Errorf("%d samples", h.Samples)
	}
}

func TestTheDemoIsJudged(t *testing.T) {
	now := noon
	m := demo.New(1, func() time.Time { return now })
	sampler := monitor.NewSampler(monitor.Options{Source: m, Host: m.Host(), Now: func() time.Time { return now }})
	var h History
	for range 260 {
		s := sampler.Sample(t.Context())
		h.Add(&s)
		now = now.Add(time.Second)
	}
	h.Finish()
	host := h.Hosts[0]
	if len(host.Devices) != 11 || host.Samples != 260 {
		t.Fatalf("%d devices, %d samples", len(host.Devices), host.Samples)
	}
	if d := host.Devices[0]; d.Judged.Healthy < 4*time.Minute || len(d.Judged.Causes) > 0 {
		t.Errorf("the GPU that trains: %+v", d.Judged)
	}
	starved := host.Devices[1].Judged.Ranked()
	if len(starved) == 0 || starved[0].Lost < 2*time.Minute || starved[0].Lost > starved[0].For {
		t.Errorf("the GPU that starves: %+v", host.Devices[1].Judged)
	}
	if d := host.Devices[4]; d.Status[series.Stuck] != 259*time.Second {
		t.Errorf("the GPU that is stuck: %v", d.Status)
	}
}
