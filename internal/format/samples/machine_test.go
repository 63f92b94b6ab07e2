package samples

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A machine makes samples of a busy host with noise in every number that has some
// on a real one.
type machine struct {
	rng     *rand.Rand
	s       series.Sample
	devices int
}

var begin = time.Date(2026, 11, 29, 23, 0, 0, 0, time.UTC)

func newMachine(name string, devices, processes int) *machine {
	m := &machine{rng: rand.New(rand.NewPCG(1, uint64(devices))), devices: devices}
	m.s.Wall = begin
	m.s.Host = series.Host{Name: name, Driver: "570.86.15", CUDA: "12.8", BootID: "b-1"}
	for i := range devices {
		d := series.Device{ID: fmt.Sprintf("GPU-%04d-5d5ba0d6-d33d-2b2c", i), Index: i, Name: "NVIDIA H100 80GB HBM3", Vendor: "nvidia", PCI: fmt.Sprintf("0000:%02x:00.0", i+1), Minor: i, Status: series.OK}
		for _, info := range series.Counters(series.ScopeDevice) {
			d.Values.Set(info.Counter, series.Of(0))
		}
		d.Values.Set(series.MemoryTotal, series.Of(85520809984))
		d.Values.Set(series.Fan, series.Without(series.NotSupported))
		d.Values.Set(series.SMActive, series.Value{})
		m.s.Devices = append(m.s.Devices, d)
	}
	for i := range processes {
		p := series.Process{PID: 4000 + 7*i, Parent: 3990, Started: uint64(100000 + i), Status: series.OK, User: "alice", Name: "python", Command: "python train.py --batch-size 32 --rank " + fmt.Sprint(i), State: "R", Job: "slurm:1234", Rank: i, WorldSize: processes}
		if i < devices {
			p.Uses = []series.Use{{Device: m.s.Devices[i].ID, Kind: series.Compute}}
		}
		m.s.Processes = append(m.s.Processes, p)
	}
	return m
}

// next is the sample after step.
func (m *machine) next(step time.Duration) *series.Sample {
	m.s.Wall, m.s.Since = m.s.Wall.Add(step), m.s.Since+step
	s := m.s
	s.Devices, s.Processes = append([]series.Device(nil), s.Devices...), append([]series.Process(nil), s.Processes...)
	grow := func(vs *series.Values, c series.Counter, by float64) {
		v, _ := vs.Get(c).Get()
		vs.Set(c, series.Of(v+by))
	}
	sec := step.Seconds()
	for i := range s.Devices {
		vs := append(series.Values(nil), s.Devices[i].Values...)
		busy := float64(min(100, 85+m.rng.IntN(20))) / 100
		power := 420 + m.rng.NormFloat64()*40
		used := 71e9 + float64(m.rng.IntN(8)/7*2<<20)
		vs.Set(series.Busy, series.Of(busy))
		vs.Set(series.MemoryBusy, series.Of(float64(30+m.rng.IntN(20))/100))
		vs.Set(series.MemoryUsed, series.Of(used))
		vs.Set(series.MemoryFree, series.Of(85520809984-used))
		vs.Set(series.Power, series.Of(float64(int(power*1000))/1000))
		grow(&vs, series.Energy, power*sec)
		vs.Set(series.Temperature, series.Of(float64(58+m.rng.IntN(3))))
		vs.Set(series.ClockSM, series.Of(float64(1755+15*m.rng.IntN(15))*1e6))
		vs.Set(series.ClockMemory, series.Of(2619e6))
		vs.Set(series.ThrottleReasons, series.Of(float64(m.rng.IntN(2)*4)))
		grow(&vs, series.ThrottlePower, m.rng.Float64()*0.2)
		vs.Set(series.PCIeSent, series.Of(float64(m.rng.IntN(2000000))*1000))
		vs.Set(series.PCIeReceived, series.Of(float64(m.rng.IntN(2000000))*1000))
		s.Devices[i].Values = vs
	}
	for i := range s.Processes {
		p := &s.Processes[i]
		vs := append(series.Values(nil), p.Values...)
		grow(&vs, series.CPUTime, sec*float64(95+m.rng.IntN(10))/100)
		grow(&vs, series.CPUWait, m.rng.Float64()*0.02)
		vs.Set(series.Resident, series.Of(float64(4e9+4096*float64(m.rng.IntN(200)))))
		vs.Set(series.SharedMemory, series.Of(1e9))
		vs.Set(series.Threads, series.Of(64))
		grow(&vs, series.MajorFaults, float64(m.rng.IntN(50)/49))
		grow(&vs, series.BytesRead, float64(4096*m.rng.IntN(20000)))
		grow(&vs, series.BytesWritten, float64(4096*(m.rng.IntN(20)/19)))
		grow(&vs, series.BytesAsked, float64(m.rng.IntN(80000000)))
		grow(&vs, series.BytesGiven, float64(m.rng.IntN(200)))
		grow(&vs, series.SwitchesVoluntary, float64(m.rng.IntN(2000)))
		grow(&vs, series.SwitchesForced, float64(m.rng.IntN(60)))
		p.Values = vs
		p.State = []string{"R", "S", "R", "D"}[m.rng.IntN(4)]
		p.Wait = []string{"", "futex_wait_queue", "", "folio_wait_bit"}[m.rng.IntN(4)]
		for j := range p.Uses {
			p.Uses = append([]series.Use(nil), p.Uses...)
			p.Uses[j].Values = append(series.Values(nil), p.Uses[j].Values...)
			p.Uses[j].Values.Set(series.UseMemory, series.Of(70e9))
			p.Uses[j].Values.Set(series.UseBusy, series.Of(float64(80+m.rng.IntN(20))/100))
			if m.rng.IntN(20) == 0 {
				p.Uses[j].Values.Set(series.UseBusy, series.Without(series.NotSupported))
			}
		}
	}
	vs := append(series.Values(nil), s.Host.Values...)
	for _, info := range series.Counters(series.ScopeHost) {
		switch {
		case info.Counter == series.HostCPUs || info.Counter == series.HostMemoryTotal || info.Counter == series.HostSharedTotal:
			vs.Set(info.Counter, series.Of(1<<20))
		case info.Kind == series.Total && info.Unit == series.Seconds:
			grow(&vs, info.Counter, m.rng.Float64())
		case info.Unit == series.Bytes && info.Kind == series.Total:
			grow(&vs, info.Counter, float64(m.rng.IntN(1e8)))
		case info.Kind == series.Total:
			grow(&vs, info.Counter, float64(m.rng.IntN(1000)))
		case info.Unit == series.Bytes:
			vs.Set(info.Counter, series.Of(4096*float64(1e6+m.rng.IntN(10000))))
		default:
			vs.Set(info.Counter, series.Of(float64(m.rng.IntN(1000))/100))
		}
	}
	s.Host.Values = vs
	m.s = s
	return &s
}
