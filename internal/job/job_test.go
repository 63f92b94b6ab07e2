package job

import (
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// sampleOf is a machine with two GPUs, a job (PID 10 with a worker 11) on the first and
// a stranger on the second.
func sampleOf(at time.Duration) *series.Sample {
	gpu := func(id string, busy float64) series.Device {
		d := series.Device{ID: id, Status: series.OK}
		d.Values.Set(series.Busy, series.Of(busy))
		return d
	}
	on := func(id string) []series.Use { return []series.Use{{Device: id, Kind: series.Compute}} }
	s := &series.Sample{
		Since:   at,
		Devices: []series.Device{gpu("A", 0.5), gpu("B", 1)},
		Processes: []series.Process{
			{PID: 10, Started: 1, Status: series.OK, Rank: -1, Uses: on("A")},
			{PID: 11, Parent: 10, Started: 2, Status: series.OK, Rank: -1},
			{PID: 20, Started: 3, Status: series.OK, Rank: -1, Uses: on("B")},
		},
	}
	s.Host.Values.Set(series.HostCPUsAllowed, series.Of(4))
	for i := range s.Processes {
		s.Processes[i].Values.Set(series.CPUTime, series.Of(at.Seconds()))
	}
	return s
}

func TestJobIsItsTree(t *testing.T) {
	j := New(10, nil, time.Second)
	for i := range 5 {
		j.Add(sampleOf(time.Duration(i) * time.Second))
	}
	if !j.SawGPU || !j.Used["A"] || j.Used["B"] || j.Tracks["B"] != nil {
		t.Errorf("on %v, tracks of %d GPUs; a stranger's GPU is not its own", j.Used, len(j.Tracks))
	}
	if len(j.Latest) != 2 {
		t.Errorf("%d processes, want it and its worker: %v", len(j.Latest), j.Latest)
	}
	// Two processes of one second each a second, of four processors.
	for i, v := range j.CPU.Line.Means() {
		if v < 0.49 || v > 0.51 { // false of NaN, which is not known
			t.Errorf("part %d: %.2f of the processors, want half", i, v)
		}
	}
	if j.CPU.Most != 4 || j.Samples() != 5 || j.Lasted != 4*time.Second {
		t.Errorf("%v processors, %d samples, %v", j.CPU.Most, j.Samples(), j.Lasted)
	}
}

// A PID that comes back belongs to somebody else.
func TestPIDReuse(t *testing.T) {
	j := New(10, nil, time.Second)
	j.Add(sampleOf(0))
	s := sampleOf(time.Second)
	s.Processes[1].Parent, s.Processes[1].Started = 1, 99
	j.Add(s)
	if len(j.Latest) != 1 || j.Latest[0].PID != 10 {
		t.Errorf("members are %v; 11 is another process now", j.Latest)
	}
}
