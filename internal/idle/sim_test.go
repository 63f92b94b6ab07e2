package idle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// The simulator makes samples from what happens in a training, by physics and not
// by the rules: a timeline of ticks says what the GPU, the training process and
// its workers do; a sampler reads counters off it as a driver and a kernel would.

const tickSeconds = 0.01

// An act is what a process does during a tick, as rates.
type act struct {
	cpu, disk                  float64 // shares of the time
	read, asked, wrote, faults float64 // per second
	wait                       string  // wchan
}

// A tick is what happens in one hundredth of a second.
type tick struct {
	busy    float64 // 1 while a kernel runs
	power   float64 // share of the limit
	sm      float64
	clock   float64 // share of the maximum
	mask    series.ThrottleReason
	memory  float64 // bytes
	rx, nvl float64 // bytes per second
	main    act
	workers []act
	team    int     // generation of the workers: a new one has new PIDs
	cache   float64 // growth of the page cache, bytes per second
	net     float64
}

// A play is one simulated job on one machine.
type play struct {
	r        *rand.Rand
	ranks    [][]tick // one timeline per GPU
	cpus     float64
	other    float64 // processors that other work takes
	load     float64 // the same as a share of them, for plays that say nothing of it
	world    int
	visible  string
	gone     bool // the holder cannot be seen
	tenant   float64
	link     float64 // share of its lanes
	unlisted bool    // the job is on no GPU
	empty    int     // a rank that no process is on, -1 for none
	before   int     // tick of the sample before
}

func (p *play) between(a, b float64) float64 { return a + (b-a)*p.r.Float64() }

// some is a length that varies by a share around its mean.
func (p *play) some(mean, vary float64) float64 {
	return max(tickSeconds, mean*(1+vary*p.r.NormFloat64()))
}

func run(line *[]tick, seconds float64, t tick) {
	for range int(math.Round(seconds / tickSeconds)) {
		*line = append(*line, t)
	}
}

// watch is how a machine is looked at.
type watch struct {
	mean, refresh, powerTime               float64
	hasSM, hasPSI, hasDisk, hasRx, hasWait bool
}

const (
	gib     = 1 << 30
	limit   = 400.0
	total   = 80 * gib
	mainPID = 4000
)

// shoot samples a play at random intervals.
func (p *play) shoot(w watch, seconds float64) Window {
	n := int(seconds / tickSeconds)
	var out []series.Sample
	sums := p.integrate(n, w)
	for now := 0.3; now < seconds-2*tickSeconds; now += w.mean * (0.3 + 1.4*p.r.Float64()) {
		i := int(now / tickSeconds)
		s := series.Sample{Since: time.Duration(now * float64(time.Second))}
		p.sampleHost(&s, sums, i, w)
		for k := range p.ranks {
			p.sampleRank(&s, sums, k, i, w)
		}
		p.before = i
		out = append(out, s)
	}
	win := Window{Samples: out, Root: mainPID}
	return win
}

// totals are counters up to each tick.
type totals struct {
	busy, power, sm            [][]float64
	cpu, wait, disk            [][][]float64 // by rank, by process (0 the main one)
	read, asked, wrote, faults [][][]float64
	nvl                        [][]float64
	all, psiIO, cache, net     []float64
}

func (p *play) integrate(n int, _ watch) *totals {
	t := &totals{all: make([]float64, n+1), psiIO: make([]float64, n+1), cache: make([]float64, n+1), net: make([]float64, n+1)}
	for _, line := range p.ranks {
		busy, power, nvl, sm := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
		workers := 0
		for _, k := range line {
			workers = max(workers, len(k.workers))
		}
		grid := func() [][]float64 {
			g := make([][]float64, workers+1)
			for i := range g {
				g[i] = make([]float64, n+1)
			}
			return g
		}
		cpu, wait, disk, read, asked, wrote, faults := grid(), grid(), grid(), grid(), grid(), grid(), grid()
		for i := range n {
			k := line[min(i, len(line)-1)]
			busy[i+1] = busy[i] + k.busy*tickSeconds
			power[i+1] = power[i] + k.power*tickSeconds
			nvl[i+1] = nvl[i] + k.nvl*tickSeconds
			sm[i+1] = sm[i] + k.sm*tickSeconds
			acts := append([]act{k.main}, k.workers...)
			want := p.other
			for _, a := range acts {
				want += a.cpu
			}
			gets := min(1, p.cpus/max(want, 1e-9))
			io := 0.0
			for j := range cpu {
				a := act{}
				if j < len(acts) {
					a = acts[j]
				}
				cpu[j][i+1] = cpu[j][i] + a.cpu*gets*tickSeconds
				wait[j][i+1] = wait[j][i] + a.cpu*(1-gets)*tickSeconds
				disk[j][i+1] = disk[j][i] + a.disk*tickSeconds
				read[j][i+1] = read[j][i] + a.read*tickSeconds
				asked[j][i+1] = asked[j][i] + a.asked*tickSeconds
				wrote[j][i+1] = wrote[j][i] + a.wrote*tickSeconds
				faults[j][i+1] = faults[j][i] + a.faults*tickSeconds
				io = max(io, a.disk)
				t.all[i+1] += a.cpu * gets * tickSeconds
			}
			t.psiIO[i+1] += io * tickSeconds
			t.cache[i+1] += k.cache * tickSeconds
			t.net[i+1] += k.net * tickSeconds
		}
		t.busy, t.power, t.nvl, t.sm = append(t.busy, busy), append(t.power, power), append(t.nvl, nvl), append(t.sm, sm)
		t.cpu, t.wait, t.disk = append(t.cpu, cpu), append(t.wait, wait), append(t.disk, disk)
		t.read, t.asked, t.wrote, t.faults = append(t.read, read), append(t.asked, asked), append(t.wrote, wrote), append(t.faults, faults)
	}
	for i := range n {
		t.all[i+1] += t.all[i] + min(p.other, p.cpus)*tickSeconds
		t.psiIO[i+1] += t.psiIO[i]
		t.cache[i+1] += t.cache[i]
		t.net[i+1] += t.net[i]
	}
	return t
}

func (p *play) sampleHost(s *series.Sample, t *totals, i int, w watch) {
	set := func(c series.Counter, v float64) { s.Host.Values.Set(c, series.Of(v)) }
	set(series.HostCPUs, p.cpus)
	set(series.HostCPUsAllowed, p.cpus)
	set(series.HostCPUTime, ticked(t.all[i]))
	set(series.HostPageCache, 20*gib+t.cache[i])
	set(series.HostMemoryTotal, 64*gib)
	set(series.HostNetReceived, t.net[i])
	if w.hasPSI {
		set(series.HostPressureIO, t.psiIO[i])
		set(series.HostPressureMemory, 0)
	}
}

func ticked(v float64) float64 { return math.Floor(v*100) / 100 }

func (p *play) sampleRank(s *series.Sample, t *totals, rank, i int, w watch) {
	line := p.ranks[rank]
	k := line[min(i, len(line)-1)]
	back := func(sum []float64, width float64) float64 {
		j := max(0, i-int(width/tickSeconds))
		return (sum[i] - sum[j]) / (float64(max(i-j, 1)) * tickSeconds)
	}
	d := series.Device{ID: fmt.Sprintf("GPU-%d", rank), Index: rank, Status: series.OK}
	set := func(c series.Counter, v float64) { d.Values.Set(c, series.Of(v)) }
	noise := 1 + 0.01*p.r.NormFloat64()
	set(series.Busy, math.Round(100*back(t.busy[rank], w.refresh))/100)
	set(series.Power, max(20, limit*back(t.power[rank], w.powerTime)*noise))
	set(series.PowerLimit, limit)
	set(series.ClockSM, 1.98e9*k.clock)
	set(series.ClockSMMax, 1.98e9)
	set(series.ThrottleReasons, float64(k.mask))
	set(series.MemoryUsed, k.memory)
	set(series.MemoryTotal, total)
	set(series.PCIeGeneration, 5)
	set(series.PCIeGenerationMax, 5)
	set(series.PCIeWidth, math.Round(16*p.link))
	set(series.PCIeWidthMax, 16)
	set(series.NVLinkSent, t.nvl[rank][i])
	if w.hasSM {
		set(series.SMActive, back(t.sm[rank], float64(i-p.before)*tickSeconds)) // a profile is of the time since it was read
	}
	if w.hasRx {
		set(series.PCIeReceived, k.rx*p.between(0.7, 1.3))
	}
	s.Devices = append(s.Devices, d)
	if rank == p.empty {
		return
	}
	pid := mainPID + 100*rank
	parent := 1
	if rank > 0 {
		parent = mainPID
	}
	if p.gone {
		s.Processes = append(s.Processes, p.process(pid, 1, 1, 0, series.Lost, k.memory, d.ID))
		return
	}
	holds := d.ID
	if p.unlisted {
		holds = ""
	}
	m := p.process(pid, parent, uint64(rank+1), rank, series.OK, k.memory, holds)
	p.values(&m, k.main, t, rank, 0, i, w)
	s.Processes = append(s.Processes, m)
	for j, a := range k.workers {
		c := p.process(pid+10*(k.team+1)+j+1, pid, uint64(100+k.team), -1, series.OK, 0, "")
		p.values(&c, a, t, rank, j+1, i, w)
		s.Processes = append(s.Processes, c)
	}
	if p.tenant > 0 {
		o := p.process(9000, 1, 7, -1, series.OK, 6*gib, d.ID)
		o.User = "bob"
		o.Uses[0].Values.Set(series.UseBusy, series.Of(p.tenant*noise))
		s.Processes = append(s.Processes, o)
	}
}

func (p *play) process(pid, parent int, started uint64, rank int, status series.Status, memory float64, on string) series.Process {
	out := series.Process{PID: pid, Parent: parent, Started: started, Status: status, Name: "python", Command: "python train.py", User: "ada",
		Rank: -1, Visible: p.visible}
	if p.world > 1 {
		out.WorldSize, out.Rank = p.world, rank
	}
	if on != "" {
		u := series.Use{Device: on, Kind: series.Compute}
		u.Values.Set(series.UseMemory, series.Of(memory))
		out.Uses = []series.Use{u}
	}
	return out
}

func (p *play) values(s *series.Process, a act, t *totals, rank, j, i int, w watch) {
	set := func(c series.Counter, v float64) { s.Values.Set(c, series.Of(v)) }
	set(series.CPUTime, ticked(t.cpu[rank][j][i]))
	if w.hasWait {
		set(series.CPUWait, t.wait[rank][j][i])
		set(series.MainCPUTime, t.cpu[rank][j][i])
	}
	if w.hasDisk {
		set(series.DiskWait, ticked(t.disk[rank][j][i]))
	}
	set(series.BytesRead, t.read[rank][j][i])
	set(series.BytesAsked, t.asked[rank][j][i])
	set(series.BytesWritten, t.wrote[rank][j][i])
	set(series.BytesGiven, t.wrote[rank][j][i]+30*float64(i)*tickSeconds)
	set(series.MajorFaults, math.Floor(t.faults[rank][j][i]))
	switch x := p.r.Float64(); {
	case x < a.cpu:
		s.State = "R"
	case x < a.cpu+a.disk:
		s.State, s.Wait = "D", "folio_wait_bit_common"
	default:
		s.State, s.Wait = "S", "futex_wait_queue"
	}
	if a.wait != "" && s.State != "R" {
		s.Wait = a.wait
	}
}
