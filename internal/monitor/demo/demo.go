// Package demo plays a machine of eight GPUs on which everything goes on that a
// monitor should tell apart. It needs neither a GPU nor a driver.
//
// It is a function of a seed and the time: two demos of one seed agree at every
// moment. Its PIDs are above any that Linux gives, so that nothing done to them
// reaches a process.
package demo

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A Machine is a monitor.Source, and Host is its other half.
type Machine struct {
	seed  uint64
	now   func() time.Time
	began time.Time
}

// New returns a machine that has been at work for an hour. It plays what follows
// by the clock now.
func New(seed uint64, now func() time.Time) *Machine {
	return &Machine{seed: seed, now: now, began: now().Add(-time.Hour)}
}

// Name is "demo".
func (m *Machine) Name() string { return "demo" }

// Close does nothing.
func (m *Machine) Close() error { return nil }

const (
	gib = 1 << 30
	mhz = 1e6
)

// refresh is how often the counters of the demo's driver change.
const refresh = time.Second / 6

// A moment is the demo at one time, for one GPU.
type moment struct {
	seed uint64
	t    float64 // seconds since the machine began
	gpu  int
}

// noise is a number in -1 to 1 that stays for one refresh of the driver.
func (m moment) noise(of string) float64 {
	h := fnv.New64a()
	h.Write([]byte(of))
	tick := uint64(m.t / refresh.Seconds())
	r := rand.New(rand.NewPCG(m.seed^h.Sum64(), tick<<8|uint64(m.gpu)))
	return 2*r.Float64() - 1
}

// square is the share of the last refresh that a square wave was up.
func (m moment) square(period, share float64) float64 {
	up := func(t float64) float64 { // integral of the wave
		n := math.Floor(t / period)
		return n*period*share + math.Min(t-n*period, period*share)
	}
	w := refresh.Seconds()
	return (up(m.t) - up(m.t-w)) / w
}

// A state is what a GPU shows besides its fixed values.
type state struct {
	busy, memoryBusy, power, clock, temperature float64 // shares of 1, W, MHz, degrees
	used                                        float64 // GiB
	reasons                                     series.ThrottleReason
	throttled                                   float64 // seconds lost to heat
	pcie                                        float64 // GiB/s received
	mean                                        float64 // W over time, which the energy counter has summed
}

// A gpu is one GPU of the demo.
type gpu struct {
	status  series.Status
	problem string
	play    func(m moment) state
	uses    []use
}

// A use is a process of the demo on a GPU; process is its index in processes.
type use struct {
	process int
	gib     float64
}

func training(m moment) state {
	step := m.square(0.42, 0.96)
	return state{
		busy: clamp(step + 0.02*m.noise("busy")), memoryBusy: clamp(0.52 + 0.05*m.noise("memory busy")),
		power: 612 + 30*m.noise("power"), clock: 1965 + 15*math.Round(m.noise("clock")), temperature: 64 + m.noise("temperature"),
		used: 68.4, reasons: series.SoftwarePowerCap * series.ThrottleReason(flag(m.noise("cap") > 0.9)), pcie: 1.2 + m.noise("pcie")/2,
		mean: 612,
	}
}

// starved waits for data seven tenths of each step.
func starved(m moment) state {
	const period, share = 2.4, 0.30
	busy := m.square(period, share)
	return state{
		busy: clamp(busy * (0.97 + 0.03*m.noise("busy"))), memoryBusy: clamp(0.4 * busy),
		power: 130 + 330*busy + 8*m.noise("power"), clock: 1980, temperature: 46 + m.noise("temperature"), used: 31.2,
		reasons: series.GPUIdle * series.ThrottleReason(flag(busy == 0)), pcie: 0.1 + 3*busy,
		mean: 130 + 330*share,
	}
}

// idle is a notebook that keeps its memory.
func idle(m moment) state {
	return state{power: 116 + 2*m.noise("power"), clock: 1980, temperature: 34, used: 76.9, reasons: series.GPUIdle, mean: 116}
}

func hot(m moment) state {
	return state{
		busy: clamp(0.99 + 0.01*m.noise("busy")), memoryBusy: 0.55, power: 448 + 12*m.noise("power"),
		clock: 1200 + 45*math.Round(2*m.noise("clock")), temperature: 87 + m.noise("temperature"), used: 68.4,
		reasons: series.SoftwareThermal | series.HardwareThermal | series.HardwareSlowdown, throttled: 0.38 * m.t, pcie: 0.8,
		mean: 448,
	}
}

// leaked is what the evaluation on the last GPU has not given back: it grows for a
// quarter of an hour and begins anew.
func leaked(m moment) float64 {
	const perSecond, restart, before = 0.02, 900, 300 // GiB, seconds
	return perSecond * math.Mod(m.t+before, restart)
}

// neighbour is used by a container whose processes cannot be seen, and a little
// by us.
func neighbour(m moment) state {
	const half = 0.5
	busy := half + 0.45*math.Sin(m.t/20)
	return state{
		busy: clamp(busy + 0.04*m.noise("busy")), memoryBusy: clamp(0.3 * busy), power: 180 + 300*busy, clock: 1980,
		temperature: 55 + 5*busy, used: 58.1 + leaked(m), pcie: 0.3,
		mean: 180 + 300*half,
	}
}

// still is a GPU that does what idle GPUs do.
func still(m moment) state {
	return state{power: 71 + m.noise("power"), clock: 345, temperature: 31, used: 0.5, reasons: series.GPUIdle, mean: 71}
}

// gpus are the GPUs in the driver's order.
var gpus = []gpu{
	{status: series.OK, play: training, uses: []use{{0, 67.8}}},
	{status: series.OK, play: starved, uses: []use{{1, 30.6}}},
	{status: series.OK, play: idle, uses: []use{{2, 76.3}}},
	{status: series.OK, play: hot, uses: []use{{3, 67.8}}},
	{status: series.Stuck, problem: "the driver has not answered for this GPU since the demo began", play: training, uses: []use{{4, 67.8}}},
	{status: series.Lost, problem: "GPU is lost", play: still},
	{status: series.OK, play: still},
	{status: series.OK, play: neighbour, uses: []use{{5, 40.2}, {6, 12.1}, {7, 5.3}}},
}

// leaky is the process that does not give memory back.
const leaky = 7

// cutGPU is the one that is cut into instances.
const cutGPU = 6

// Read plays all GPUs at this moment.
func (m *Machine) Read(context.Context) (monitor.Reading, error) {
	r := monitor.Reading{Driver: "570.86.15", CUDA: "12.8", Uses: map[int][]series.Use{}}
	at := m.now()
	for i, g := range gpus {
		mo := moment{seed: m.seed, t: at.Sub(m.began).Seconds(), gpu: i}
		d := series.Device{
			ID: uuid("GPU", i), Index: i, Name: "NVIDIA H100 80GB HBM3", Vendor: "nvidia", PCI: pci(i), Minor: i,
			Status: g.status, Problem: g.problem,
		}
		switch g.status {
		case series.Lost:
			d.Values = monitor.WithoutAll(series.ScopeDevice, series.Lost)
			r.Problems = append(r.Problems, series.Problem{Source: "demo", Status: series.Lost, What: "GPU 5 is lost: XID 79, it fell off the bus; restart the machine, and reseat the card if it happens again"})
		case series.Stuck:
			d.StaleFor = at.Sub(m.began.Add(time.Hour)) + 12*time.Second
			mo.t = time.Hour.Seconds() - 12
			d.Values = values(g.play(mo), mo)
			r.Problems = append(r.Problems, series.Problem{Source: "demo", Status: series.Stuck, What: "GPU 4 does not answer; its values are the last ones"})
		default:
			d.Values = values(g.play(mo), mo)
		}
		if i == cutGPU {
			d.MIG = "on"
			d.Values.Set(series.Busy, series.Without(series.NotSupported))
			d.Values.Set(series.MemoryBusy, series.Without(series.NotSupported))
		}
		r.Devices = append(r.Devices, d)
		for _, u := range g.uses {
			addUse(&r, d.ID, u, mo)
		}
		if i == cutGPU {
			addInstances(&r, d, mo)
		}
	}
	return r, nil
}

func addUse(r *monitor.Reading, device string, u use, mo moment) {
	use := series.Use{Device: device, Kind: series.Compute}
	held := u.gib
	if u.process == leaky {
		held += leaked(mo)
	}
	use.Values.Set(series.UseMemory, series.Of(held*gib))
	busy := series.Without(series.NotSupported)
	if mo.gpu != cutGPU {
		busy = series.Of(clamp(gpus[mo.gpu].play(mo).busy * u.gib / gpus[mo.gpu].uses[0].gib))
	}
	use.Values.Set(series.UseBusy, busy)
	pid := pidOf(u.process)
	r.Uses[pid] = append(r.Uses[pid], use)
}

// instances are the MIG instances of the GPU that is cut: profile, size and use.
var instances = []struct {
	profile string
	gib     float64
	use     use
}{
	{"3g.40gb", 39.5, use{8, 22.3}},
	{"2g.20gb", 19.5, use{9, 6.1}},
	{"1g.10gb", 9.5, use{-1, 0}},
}

func addInstances(r *monitor.Reading, parent series.Device, mo moment) {
	for i, in := range instances {
		d := series.Device{
			ID: uuid("MIG", i), Index: i, Parent: parent.ID, Name: parent.Name + " MIG " + in.profile, Vendor: "nvidia",
			PCI: parent.PCI, Minor: parent.Minor, MIG: in.profile, Status: series.OK,
			Values: monitor.WithoutAll(series.ScopeDevice, series.NotSupported),
		}
		d.Values.Set(series.MemoryTotal, series.Of(in.gib*gib))
		d.Values.Set(series.MemoryUsed, series.Of(in.use.gib*gib))
		d.Values.Set(series.MemoryFree, series.Of((in.gib-in.use.gib)*gib))
		if in.use.process >= 0 {
			d.Values.Set(series.SMActive, series.Of(clamp(0.7+0.1*mo.noise(in.profile))))
			addUse(r, d.ID, in.use, mo)
		}
		r.Devices = append(r.Devices, d)
	}
}

// values are the counters of a GPU in state s.
func values(s state, m moment) series.Values {
	var vs series.Values
	for _, v := range []struct {
		c series.Counter
		v float64
	}{
		{series.Busy, s.busy}, {series.MemoryBusy, s.memoryBusy},
		{series.MemoryTotal, 79.6 * gib}, {series.MemoryUsed, s.used * gib}, {series.MemoryReserved, 0.5 * gib}, {series.MemoryFree, (79.1 - s.used) * gib},
		{series.Power, s.power}, {series.PowerLimit, 700}, {series.Energy, s.mean * m.t}, {series.Temperature, s.temperature}, {series.TemperatureLimit, 87},
		{series.ClockSM, s.clock * mhz}, {series.ClockSMMax, 1980 * mhz}, {series.ClockMemory, 2619 * mhz}, {series.ClockMemoryMax, 2619 * mhz},
		{series.ThrottleReasons, float64(s.reasons)}, {series.ThrottlePower, 0}, {series.ThrottleThermal, s.throttled},
		{series.PerformanceState, 0}, {series.PCIeReceived, math.Max(0, s.pcie) * gib}, {series.PCIeSent, math.Max(0, s.pcie) * gib / 4},
		{series.PCIeGeneration, 5}, {series.PCIeGenerationMax, 5}, {series.PCIeWidth, 16}, {series.PCIeWidthMax, 16},
		{series.SMActive, 0.86 * s.busy}, {series.TensorActive, 0.42 * s.busy}, {series.DRAMActive, s.memoryBusy},
		{series.EncoderBusy, 0}, {series.DecoderBusy, 0}, {series.ECCUncorrected, 0}, {series.RemappedRows, 0},
	} {
		vs.Set(v.c, series.Of(v.v))
	}
	vs.Set(series.Fan, series.Without(series.NotSupported)) // the card has none
	return vs
}

func clamp(v float64) float64 { return math.Max(0, math.Min(1, v)) }

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func uuid(kind string, i int) string {
	return fmt.Sprintf("%s-de300000-0000-4000-8000-%012x", kind, i+1)
}

func pci(i int) string { return fmt.Sprintf("0000:%02x:00.0", 0x18+0x11*i) }
