package idle

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Windows that are written by hand, for what the simulator does not play: each says
// sample by sample what was there. Totals are given as what was spent since the sample
// before, in a second.

// A note is what was read of one thing.
type note map[series.Counter]float64

// An actor is a process of a film.
type actor struct {
	pid, parent int
	started     uint64
	name        string // "python" without
	command     string
	rank, world int
	user        string // "ada" without
	state, wait string
	status      series.Status // OK without
	gpu         string        // that it is on, "" for none
	holds       note          // of the GPU
	note
}

// A shot is one sample of a film.
type shot struct {
	gpus  map[string]note
	host  note
	procs []actor
}

// film takes shots at random intervals of a mean, for some seconds.
func film(mean, seconds float64, at func(t float64, r *rand.Rand) shot) []series.Sample {
	r := rand.New(rand.NewPCG(7, 11))
	sums := map[any]note{}
	total := func(key any, n note, vs *series.Values, dt float64) {
		if sums[key] == nil {
			sums[key] = note{}
		}
		for c, x := range n {
			if c.Info().Kind == series.Total {
				sums[key][c] += x * dt
				x = sums[key][c]
			}
			vs.Set(c, series.Of(x))
		}
	}
	var out []series.Sample
	last := 0.0
	for t := 0.0; t < seconds; t += mean * (0.3 + 1.4*r.Float64()) {
		shown, dt := at(t, r), t-last
		last = t
		s := series.Sample{Since: time.Duration(t * float64(time.Second))}
		total("host", shown.host, &s.Host.Values, dt)
		for i, id := range []string{"GPU-a", "GPU-b", "GPU-c", "GPU-d"} {
			if n, ok := shown.gpus[id]; ok {
				d := series.Device{ID: id, Index: i, Status: series.OK}
				total(id, n, &d.Values, dt)
				s.Devices = append(s.Devices, d)
			}
		}
		for _, a := range shown.procs {
			p := series.Process{PID: a.pid, Parent: a.parent, Started: a.started, Name: a.name, Command: a.command, User: a.user, State: a.state, Wait: a.wait, Status: a.status, Rank: -1}
			if p.Name == "" && a.status != series.Lost {
				p.Name = "python"
			}
			if p.User == "" && a.status != series.Lost {
				p.User = "ada"
			}
			if p.Status == series.Absent {
				p.Status = series.OK
			}
			if a.world > 0 {
				p.Rank, p.WorldSize = a.rank, a.world
			}
			if a.gpu != "" {
				u := series.Use{Device: a.gpu, Kind: series.Compute}
				total([2]any{a.pid, a.gpu}, a.holds, &u.Values, dt)
				p.Uses = []series.Use{u}
			}
			total(a.pid, a.note, &p.Values, dt)
			s.Processes = append(s.Processes, p)
		}
		out = append(out, s)
	}
	return out
}

// card is an H100 that is read in full.
func card(busy, powerShare, memGiB float64) note {
	return note{series.Busy: busy, series.Power: 700 * powerShare, series.PowerLimit: 700, series.ClockSM: 1.95e9, series.ClockSMMax: 1.98e9,
		series.ThrottleReasons: 0, series.MemoryUsed: memGiB * gib, series.MemoryTotal: 80 * gib, series.PCIeGeneration: 5, series.PCIeGenerationMax: 5,
		series.PCIeWidth: 16, series.PCIeWidthMax: 16, series.PCIeReceived: 3e6, series.PCIeSent: 1e6}
}

// cpuOf is a process whose main thread alone computes.
func cpuOf(c float64) note {
	return note{series.CPUTime: c, series.MainCPUTime: c, series.CPUWait: 0.002, series.BytesRead: 0, series.BytesAsked: 1e4, series.BytesWritten: 0, series.BytesGiven: 50, series.MajorFaults: 0}
}

// hostOf is a host with so many processors, of which some are used.
func hostOf(cpus, used float64) note {
	return note{series.HostCPUs: cpus, series.HostCPUsAllowed: cpus, series.HostCPUTime: used, series.HostPageCache: 30 * gib, series.HostMemoryTotal: 128 * gib, series.HostPressureIO: 0, series.HostPressureMemory: 0, series.HostNetReceived: 1e4, series.HostNetSent: 1e4}
}

func (n note) with(more note) note {
	for k, v := range more {
		n[k] = v
	}
	return n
}

func (n note) without(cs ...series.Counter) note {
	for _, c := range cs {
		delete(n, c)
	}
	return n
}

// box is a square wave of a period and a duty, as a driver averages it over a sixth of
// a second.
func box(t, p, d float64) float64 {
	n, b := 0.0, 0.0
	for x := t - 1.0/6; x <= t; x += 1.0 / 600 {
		n++
		if math.Mod(x+1000*p, p)/p < d {
			b++
		}
	}
	return b / n
}

// synchronises are steps of 0.8 s of which the last fifth is the training process's
// alone; what it computes is what lay in gaps since the sample before.
func synchronises(t float64, r *rand.Rand) shot {
	const step, works, before = 0.8, 0.8, 0.2
	alone := 0.0
	for x := t - before; x < t; x += before / 100 {
		if math.Mod(x+1000*step, step)/step >= works {
			alone += 0.01
		}
	}
	ps := []actor{mainp(0.05+0.9*alone, 20)}
	for i := range 4 {
		ps = append(ps, worker(i, 0.2, 0, r))
	}
	return shot{map[string]note{"GPU-a": card(box(t, step, works), 0.7, 20)}, hostOf(16, 1.1), ps}
}

func worker(i int, cpu, disk float64, r *rand.Rand) actor {
	a := actor{pid: 200 + i, parent: 100, note: cpuOf(cpu)}
	x := r.Float64()
	switch {
	case x < cpu:
		a.state = "R"
	case x < cpu+disk:
		a.state = "D"
	default:
		a.state = "S"
	}
	return a
}

func mainp(cpu float64, hold float64) actor {
	return actor{pid: 100, parent: 1, state: "S", gpu: "GPU-a", holds: note{series.UseMemory: hold * gib}, note: cpuOf(cpu)}
}
