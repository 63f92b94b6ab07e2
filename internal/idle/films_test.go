package idle

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A filmed is a film and what one who knows would say of it: the causes, first the one
// that costs most; "unsure" for no cause and a job that is not healthy; "used"; or how
// the verdict begins.
type filmed struct {
	name, want string
	mean, secs float64 // 0.5 and 60 without
	w          Window
	at         func(t float64, r *rand.Rand) shot
}

var films = []filmed{
	{name: "a log of GPUs alone, which has no processes", want: "unsure", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		return shot{map[string]note{"GPU-a": card(0, 0.12, 30)}, nil, nil}
	}},
	{name: "memory that is left behind", want: "zombie-context", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		return shot{map[string]note{"GPU-a": card(0, 0.12, 30)}, hostOf(16, 0.1), nil}
	}},
	{name: "two workers wait for a disk", want: "slow-disk", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.7, 0.4)
		var ps = []actor{mainp(0.03, 20)}
		for i := range 2 {
			w := worker(i, 0.3, 0.65, r)
			w.with(note{series.BytesRead: 6e7, series.BytesAsked: 6e7})
			ps = append(ps, w)
		}
		return shot{map[string]note{"GPU-a": card(b, 0.2+0.5*b, 20)}, hostOf(16, 0.7).with(note{series.HostPageCache: 30*gib + t*1.2e8}), ps}
	}},
	{name: "two workers compute, and the first pass reads the disk", want: "few-workers", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.7, 0.4)
		var ps = []actor{mainp(0.03, 20)}
		for i := range 2 {
			w := worker(i, 0.92, 0.06, r)
			w.with(note{series.BytesRead: 2e7, series.BytesAsked: 2e7})
			ps = append(ps, w)
		}
		return shot{map[string]note{"GPU-a": card(b, 0.2+0.5*b, 20)}, hostOf(16, 1.9).with(note{series.HostPageCache: 30*gib + t*4e7}), ps}
	}},
	{name: "two workers compute, and outlive the training process by a moment", want: "few-workers", w: Window{Root: 100}, at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.7, 0.4)
		var ps = []actor{mainp(0.03, 20)}
		for i := range 2 {
			ps = append(ps, worker(i, 0.95, 0, r))
			if t > 59.5 {
				ps[1+i].parent = 1
			}
		}
		if t > 59.5 {
			ps = ps[1:]
		}
		return shot{map[string]note{"GPU-a": card(b, 0.2+0.5*b, 20)}, hostOf(16, 1.9), ps}
	}},
	{name: "a disk that threads of the kernel wait for", want: "slow-disk", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.7, 0.4)
		var ps = []actor{mainp(0.03, 20)}
		for i := range 4 {
			w := worker(i, 0.2, 0, r)
			w.with(note{series.BytesRead: 7e7, series.BytesAsked: 7e7})
			ps = append(ps, w)
		}
		return shot{map[string]note{"GPU-a": card(b, 0.2+0.5*b, 20)}, hostOf(16, 0.9).with(note{series.HostPageCache: 30*gib + t*3e8, series.HostPressureIO: 0.6}), ps}
	}},
	{name: "a process that gets hardly a processor looks like one that launches", want: "other-load", at: func(t float64, _ *rand.Rand) shot {
		m := mainp(0.09, 20)
		m.with(note{series.CPUWait: 0.85})
		b := box(t, 0.4, 0.06)
		return shot{map[string]note{"GPU-a": card(b, 0.12+0.07*b, 20)}, hostOf(2, 2), []actor{m}}
	}},
	{name: "a step that waits for the loss", want: "step-sync", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.25, 0.72)
		ps := []actor{mainp(0.4, 20)}
		for i := range 4 {
			ps = append(ps, worker(i, 0.2, 0, r))
		}
		return shot{map[string]note{"GPU-a": card(b, 0.62, 20)}, hostOf(16, 1.3), ps}
	}},
	{name: "the same with a process that spins while it waits", want: "unsure", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.25, 0.72)
		ps := []actor{mainp(1.0, 20)}
		for i := range 4 {
			ps = append(ps, worker(i, 0.2, 0, r))
		}
		return shot{map[string]note{"GPU-a": card(b, 0.62, 20)}, hostOf(16, 1.9), ps}
	}},
	{name: "kernels that are launched one by one", want: "small-kernels", at: func(_ float64, r *rand.Rand) shot {
		b := 0.7 + 0.05*r.NormFloat64()
		ps := []actor{mainp(1.0, 20)}
		for i := range 4 {
			ps = append(ps, worker(i, 0.2, 0, r))
		}
		return shot{map[string]note{"GPU-a": card(b, 0.33, 20)}, hostOf(16, 1.9), ps}
	}},
	{name: "a healthy job that spins", want: "used", at: func(_ float64, r *rand.Rand) shot {
		b := 0.97 + 0.01*r.NormFloat64()
		ps := []actor{mainp(1.0, 20)}
		for i := range 4 {
			ps = append(ps, worker(i, 0.2, 0, r))
		}
		return shot{map[string]note{"GPU-a": card(b, 0.75, 20)}, hostOf(16, 1.9), ps}
	}},
	{name: "decoding, which is bound by memory", want: "used", at: func(_ float64, _ *rand.Rand) shot {
		ps := []actor{mainp(1.0, 70)}
		return shot{map[string]note{"GPU-a": card(0.99, 0.45, 70)}, hostOf(16, 1.2), ps}
	}},
	{name: "an evaluation every half a minute", want: "evaluation", secs: 120, at: func(t float64, r *rand.Rand) shot {
		ev := math.Mod(t, 30) > 20
		c := card(0.97, 0.8, 60)
		if ev {
			c = card(0.93, 0.5, 40)
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60), worker(0, .4, 0, r), worker(1, .4, 0, r)}}
	}},
	{name: "an evaluation whose memory PyTorch's allocator keeps", want: "evaluation", secs: 120, at: func(t float64, r *rand.Rand) shot {
		c := card(0.97, 0.8+0.01*r.NormFloat64(), 60).with(note{series.SMActive: 0.85 + 0.01*r.NormFloat64()})
		if math.Mod(t, 30) > 20 {
			c.with(note{series.Busy: 0.94, series.Power: 700 * (0.5 + 0.01*r.NormFloat64()), series.SMActive: 0.6 + 0.01*r.NormFloat64()})
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60), worker(0, .4, 0, r), worker(1, .4, 0, r)}}
	}},
	{name: "an evaluation with workers of its own, whose memory stays", want: "evaluation", secs: 120, at: func(t float64, r *rand.Rand) shot {
		c, ps := card(0.97, 0.8+0.01*r.NormFloat64(), 60), []actor{mainp(0.5, 60), worker(0, .4, 0, r), worker(1, .4, 0, r)}
		if math.Mod(t, 30) > 20 {
			c.with(note{series.Busy: 0.92, series.Power: 700 * (0.5 + 0.01*r.NormFloat64())})
			for i := range 4 {
				ps = append(ps, worker(10+4*int(t/30)+i, 0.5, 0, r))
			}
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 2.9), ps}
	}},
	{name: "an evaluation that a sensor shows late", want: "evaluation", mean: 0.25, secs: 20, at: func(t float64, _ *rand.Rand) shot {
		in := math.Mod(t, 6)
		c := card(0.99, 0.7+0.2*(1-math.Exp(-in)), 60)
		if in > 3 {
			c = card(0.99, 0.7+0.2*math.Exp(3-in), 40)
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60)}}
	}},
	{name: "power that changes, and nothing with it", want: "used", secs: 120, at: func(t float64, r *rand.Rand) shot {
		c := card(0.97, 0.8, 60).with(note{series.SMActive: 0.85 + 0.01*r.NormFloat64()})
		if math.Mod(t, 30) > 20 {
			c.with(note{series.Power: 0.5 * 700})
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60), worker(0, .4, 0, r), worker(1, .4, 0, r)}}
	}},
	{name: "a job that has warmed up", want: "used", secs: 120, at: func(t float64, r *rand.Rand) shot {
		c := card(0.97, 0.8, 60).with(note{series.SMActive: 0.85})
		if t < 40 {
			c.with(note{series.Power: 0.5 * 700, series.SMActive: 0.6})
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60), worker(0, .4, 0, r), worker(1, .4, 0, r)}}
	}},
	{name: "short and long batches in turn", want: "used", secs: 120, at: func(_ float64, r *rand.Rand) shot {
		long := r.Float64()
		return shot{map[string]note{"GPU-a": card(0.97, 0.5+0.4*long, 60).with(note{series.SMActive: 0.5 + 0.4*long})}, hostOf(16, 1.9), []actor{mainp(0.5, 60), worker(0, .4, 0, r)}}
	}},
	{name: "clocks that are lowered for a time", want: "throttled-power", secs: 120, at: func(t float64, _ *rand.Rand) shot {
		c := card(0.98, 0.95, 60).with(note{series.ClockSM: 1.5e9, series.ThrottleReasons: float64(series.SoftwarePowerCap), series.SMActive: 0.8})
		if math.Mod(t, 30) > 20 {
			c.with(note{series.ClockSM: 1.1e9, series.Power: 0.6 * 700, series.SMActive: 0.6})
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60)}}
	}},
	{name: "a job at 85 % whose training process launches, and no more", want: "unsure", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.2, 0.85)
		ps := []actor{mainp(0.2, 20)}
		for i := range 4 {
			ps = append(ps, worker(i, 0.2, 0, r))
		}
		return shot{map[string]note{"GPU-a": card(b, 0.75, 20)}, hostOf(16, 1.1), ps}
	}},
	{name: "a synchronisation in each short step", want: "step-sync", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.1, 0.55)
		ps := []actor{mainp(0.5, 20)}
		for i := range 4 {
			ps = append(ps, worker(i, 0.2, 0, r))
		}
		return shot{map[string]note{"GPU-a": card(b, 0.6, 20)}, hostOf(16, 1.4), ps}
	}},
	{name: "a synchronisation that is seen in its gaps", want: "step-sync", mean: 0.2, at: synchronises},
	{name: "a checkpoint", want: "checkpoint-stall", secs: 120, at: func(t float64, r *rand.Rand) shot {
		sv := math.Mod(t, 40) > 34
		c, m := card(0.97, 0.8, 60), mainp(0.3, 60)
		if sv {
			c = card(0, 0.18, 60)
			m.with(note{series.BytesWritten: 3e8, series.BytesGiven: 3e8, series.CPUTime: 0.5, series.MainCPUTime: 0.5})
			m.state = "D"
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{m, worker(0, .4, 0, r), worker(1, .4, 0, r)}}
	}},
	{name: "a checkpoint that a child writes", want: "checkpoint-stall", secs: 120, at: func(t float64, r *rand.Rand) shot {
		sv := math.Mod(t, 40) > 34
		c, m := card(0.97, 0.8, 60), mainp(0.3, 60)
		h := worker(9, 0.01, 0, r)
		h.command = "python -c from multiprocessing.spawn"
		if sv {
			c = card(0, 0.18, 60)
			h.with(note{series.BytesWritten: 3e8, series.BytesGiven: 3e8, series.CPUTime: 0.5})
			m.note = cpuOf(0.01)
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{m, worker(0, .4, 0, r), worker(1, .4, 0, r), h}}
	}},
	{name: "a power limit", want: "throttled-power", at: func(_ float64, _ *rand.Rand) shot {
		c := card(0.98, 0.99, 60).with(note{series.ClockSM: 1.55e9, series.ThrottleReasons: float64(series.SoftwarePowerCap)})
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60)}}
	}},
	{name: "heat at a power limit", want: "throttled-heat", at: func(_ float64, _ *rand.Rand) shot {
		c := card(0.98, 0.8, 60).with(note{series.ClockSM: 1.2e9, series.ThrottleReasons: float64(series.SoftwarePowerCap | series.SoftwareThermal), series.Temperature: 88})
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60)}}
	}},
	{name: "a power brake", want: "power-brake", at: func(_ float64, _ *rand.Rand) shot {
		c := card(0.98, 0.5, 60).with(note{series.ClockSM: 0.9e9, series.ThrottleReasons: float64(series.HardwareSlowdown | series.PowerBrake), series.Temperature: 55, series.TemperatureLimit: 90})
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60)}}
	}},
	{name: "a card at its power limit, as it should be", want: "used", at: func(_ float64, _ *rand.Rand) shot {
		c := card(0.98, 0.995, 60).with(note{series.ClockSM: 1.83e9, series.ThrottleReasons: float64(series.SoftwarePowerCap)})
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60)}}
	}},
	{name: "heat that comes and goes", want: "throttled-heat", at: func(t float64, _ *rand.Rand) shot {
		c := card(0.98, 0.8, 60)
		if math.Mod(t, 10) < 4 {
			c.with(note{series.ClockSM: 1.3e9, series.ThrottleReasons: float64(series.HardwareThermal), series.Power: 400})
		}
		return shot{map[string]note{"GPU-a": c}, hostOf(16, 1.9), []actor{mainp(0.5, 60)}}
	}},
	{name: "all wait for the links", want: "communication", at: func(_ float64, r *rand.Rand) shot {
		s := shot{map[string]note{}, hostOf(64, 4), nil}
		for k := range 4 {
			id := "GPU-" + string(rune('a'+k))
			s.gpus[id] = card(0.99, 0.45+0.02*r.NormFloat64(), 60).with(note{series.NVLinkSent: 2e10, series.NVLinkReceived: 2e10})
			s.procs = append(s.procs, actor{pid: 100 + k, parent: 50, state: "R", rank: k, world: 4, gpu: id, holds: note{series.UseMemory: 60 * gib}, note: cpuOf(1)})
		}
		return s
	}},
	{name: "one of four is hot", want: "straggler throttled-heat", at: func(_ float64, r *rand.Rand) shot {
		s := shot{map[string]note{}, hostOf(64, 4), nil}
		for k := range 4 {
			id := "GPU-" + string(rune('a'+k))
			s.gpus[id] = card(0.99, 0.60+0.02*r.NormFloat64(), 60).with(note{series.NVLinkSent: 2e9, series.NVLinkReceived: 2e9})
			if k == 2 {
				s.gpus[id].with(note{series.ClockSM: 1.2e9, series.Power: 280, series.ThrottleReasons: float64(series.HardwareThermal)})
			}
			s.procs = append(s.procs, actor{pid: 100 + k, parent: 50, state: "R", rank: k, world: 4, gpu: id, holds: note{series.UseMemory: 60 * gib}, note: cpuOf(1)})
		}
		return s
	}},
	{name: "one of four has more to do", want: "straggler", at: func(_ float64, r *rand.Rand) shot {
		s := shot{map[string]note{}, hostOf(64, 4), nil}
		for k := range 4 {
			id := "GPU-" + string(rune('a'+k))
			s.gpus[id] = card(0.99, 0.45+0.02*r.NormFloat64(), 60).with(note{series.NVLinkSent: 2e9, series.NVLinkReceived: 2e9})
			if k == 2 {
				s.gpus[id].with(note{series.Power: 0.75 * 700})
			}
			s.procs = append(s.procs, actor{pid: 100 + k, parent: 50, state: "R", rank: k, world: 4, gpu: id, holds: note{series.UseMemory: 60 * gib}, note: cpuOf(1)})
		}
		return s
	}},
	{name: "one of three, which the first has started, computes on its processor", want: "straggler", at: func(t float64, _ *rand.Rand) shot {
		s := shot{map[string]note{}, hostOf(64, 1), nil}
		for k := range 3 {
			id, cpu := "GPU-"+string(rune('a'+k)), 0.03
			s.gpus[id] = card(0.99, 0.45, 60).with(note{series.NVLinkSent: 2e8, series.NVLinkReceived: 2e8})
			if k == 2 {
				s.gpus[id].with(note{series.Busy: box(t, 0.4, 0.45)})
				cpu = 0.55
			}
			parent := 50
			if k > 0 {
				parent = 100
			}
			s.procs = append(s.procs, actor{pid: 100 + k, parent: parent, state: "S", rank: k, world: 3, gpu: id, holds: note{series.UseMemory: 60 * gib}, note: cpuOf(cpu)})
		}
		return s
	}},
	{name: "four healthy ranks", want: "used", at: func(_ float64, r *rand.Rand) shot {
		s := shot{map[string]note{}, hostOf(64, 4), nil}
		for k := range 4 {
			id := "GPU-" + string(rune('a'+k))
			s.gpus[id] = card(0.99, 0.85+0.02*r.NormFloat64(), 60).with(note{series.NVLinkSent: 2e10, series.NVLinkReceived: 2e10})
			s.procs = append(s.procs, actor{pid: 100 + k, parent: 50, state: "R", rank: k, world: 4, gpu: id, holds: note{series.UseMemory: 60 * gib}, note: cpuOf(1)})
		}
		return s
	}},
	{name: "ranks that spin in a collective for ever", want: "hung-collective", at: func(_ float64, r *rand.Rand) shot {
		s := shot{map[string]note{}, hostOf(64, 4), nil}
		for k := range 4 {
			id := "GPU-" + string(rune('a'+k))
			s.gpus[id] = card(1, 0.2+0.003*r.NormFloat64(), 60).with(note{series.NVLinkSent: 0, series.NVLinkReceived: 0})
			s.procs = append(s.procs, actor{pid: 100 + k, parent: 50, state: "R", rank: k, world: 4, gpu: id, holds: note{series.UseMemory: 60 * gib}, note: cpuOf(1)})
		}
		return s
	}},
	{name: "a pipeline of four stages", want: "unsure", at: func(t float64, _ *rand.Rand) shot {
		s := shot{map[string]note{}, hostOf(64, 4), nil}
		for k := range 4 {
			id := "GPU-" + string(rune('a'+k))
			s.gpus[id] = card(box(t-0.1*float64(k), 0.9, 0.6), 0.55, 60).with(note{series.NVLinkSent: 1e9, series.NVLinkReceived: 1e9})
			s.procs = append(s.procs, actor{pid: 100 + k, parent: 50, state: "R", rank: k, world: 4, gpu: id, holds: note{series.UseMemory: 60 * gib}, note: cpuOf(1)})
		}
		return s
	}},
	{name: "a server between bursts of requests", want: "unsure", at: func(t float64, _ *rand.Rand) shot {
		b := 0.0
		if math.Mod(t*1.0, 17) < 7 {
			b = 0.95
		}
		m := mainp(0.1+0.8*b, 72)
		m.command = "python -m vllm.entrypoints.openai.api_server"
		return shot{map[string]note{"GPU-a": card(b, 0.15+0.6*b, 72)}, hostOf(16, 1), []actor{m}}
	}},
	{name: "a server of single requests", want: "unsure", at: func(_ float64, r *rand.Rand) shot {
		b := 0.0
		if r.Float64() < 0.3 {
			b = 0.9
		}
		m := mainp(0.35, 72)
		return shot{map[string]note{"GPU-a": card(b, 0.15+0.4*b, 72)}, hostOf(16, 1), []actor{m}}
	}},
	{name: "a process that runs ahead of its GPU", want: "unsure", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.3, 0.85)
		ps := []actor{mainp(0.6, 20)}
		for i := range 4 {
			ps = append(ps, worker(i, 0.3, 0, r))
		}
		return shot{map[string]note{"GPU-a": card(b, 0.75, 20)}, hostOf(16, 1.5), ps}
	}},
	{name: "a compilation by PyTorch's workers", want: "compilation", at: func(_ float64, r *rand.Rand) shot {
		b := 0.0
		if r.Float64() < 0.08 {
			b = 0.3
		}
		ps := []actor{mainp(0.95, 6)}
		for i := range 8 {
			w := worker(i, 0.9, 0, r)
			w.command = "python -m torch._inductor.compile_worker --parent=100"
			ps = append(ps, w)
		}
		return shot{map[string]note{"GPU-a": card(b, 0.15, 6)}, hostOf(16, 8.5), ps}
	}},
	{name: "an extension that is built", want: "compilation", at: func(t float64, r *rand.Rand) shot {
		ps := []actor{mainp(0.05, 6)}
		for i := range 8 {
			w := worker(i, 0.95, 0, r)
			w.pid += int(t/3) * 10
			w.name, w.command = "cc1plus", "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus -quiet kernel.cpp"
			ps = append(ps, w)
		}
		return shot{map[string]note{"GPU-a": card(0, 0.15, 6)}, hostOf(16, 8.5), ps}
	}},
	{name: "weights that are loaded", want: "No kernel has run yet", at: func(t float64, _ *rand.Rand) shot {
		m := mainp(0.6, 1+t)
		m.with(note{series.BytesRead: 1e9, series.BytesAsked: 1e9})
		return shot{map[string]note{"GPU-a": card(0, 0.12, 1+t).with(note{series.PCIeReceived: 1e9})}, hostOf(16, 1.5), []actor{m}}
	}},
	{name: "environments in processes", want: "few-workers", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 1.2, 0.25)
		ps := []actor{mainp(0.35, 3)}
		for i := range 8 {
			ps = append(ps, worker(i, 0.85, 0, r))
		}
		return shot{map[string]note{"GPU-a": card(b, 0.25, 3)}, hostOf(32, 7.5), ps}
	}},
	{name: "an environment in the training process", want: "unsure", at: func(_ float64, r *rand.Rand) shot {
		b := math.Abs(0.2 + 0.05*r.NormFloat64())
		return shot{map[string]note{"GPU-a": card(b, 0.2, 2)}, hostOf(32, 1.1), []actor{mainp(1, 2)}}
	}},
	{name: "a job that has ended, seen by its GPU", want: "used", w: Window{Devices: []string{"GPU-a"}}, at: func(t float64, r *rand.Rand) shot {
		if t > 40 {
			return shot{map[string]note{"GPU-a": card(0, 0.1, 0)}, hostOf(32, 0.1), nil}
		}
		return shot{map[string]note{"GPU-a": card(0.97, 0.8, 40)}, hostOf(32, 1), []actor{mainp(0.3, 40), worker(0, .3, 0, r)}}
	}},
	{name: "a job that has ended", want: "used", w: Window{Root: 100}, at: func(t float64, r *rand.Rand) shot {
		if t > 40 {
			return shot{map[string]note{"GPU-a": card(0, 0.1, 0)}, hostOf(32, 0.1), nil}
		}
		return shot{map[string]note{"GPU-a": card(0.97, 0.8, 40)}, hostOf(32, 1), []actor{mainp(0.3, 40), worker(0, .3, 0, r)}}
	}},
	{name: "two jobs on one GPU", want: "other-tenant", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		m := mainp(1, 30)
		m.holds[series.UseBusy] = 0.5
		o := actor{pid: 900, parent: 1, user: "bob", state: "R", gpu: "GPU-a", holds: note{series.UseMemory: 20 * gib, series.UseBusy: 0.45}, note: cpuOf(1)}
		return shot{map[string]note{"GPU-a": card(0.97, 0.8, 50)}, hostOf(32, 2), []actor{m, o}}
	}},
	{name: "a job after another on one GPU", want: "used", w: Window{Devices: []string{"GPU-a"}}, at: func(t float64, _ *rand.Rand) shot {
		m := mainp(0.4, 30)
		if t > 40 {
			m = actor{pid: 900, parent: 1, user: "bob", state: "R", gpu: "GPU-a", holds: note{series.UseMemory: 20 * gib}, note: cpuOf(0.5)}
		}
		m.holds[series.UseBusy] = 0.95
		return shot{map[string]note{"GPU-a": card(0.97, 0.8, 30)}, hostOf(32, 1), []actor{m}}
	}},
	{name: "a process that the driver lists once more after its end", want: "used", secs: 14, w: Window{Devices: []string{"GPU-a"}}, at: func(t float64, _ *rand.Rand) shot {
		m := mainp(0.4, 30)
		m.parent, m.started = 50, 7
		if t > 13 {
			m = actor{pid: 100, status: series.Lost, gpu: "GPU-a", holds: note{series.UseMemory: 30 * gib}, note: note{}}
		}
		m.holds[series.UseBusy] = 1
		return shot{map[string]note{"GPU-a": card(0.97, 0.8, 30)}, hostOf(32, 1), []actor{m, {pid: 50, parent: 1, command: "python launch.py", note: cpuOf(0)}}}
	}},
	{name: "a tenant for half of the time", want: "other-tenant", w: Window{Devices: []string{"GPU-a"}}, at: func(t float64, _ *rand.Rand) shot {
		m := mainp(1, 30)
		ps := []actor{m}
		if m.holds[series.UseBusy] = 0.95; t > 30 {
			m.holds[series.UseBusy] = 0.5
			ps = append(ps, actor{pid: 900, parent: 1, user: "bob", state: "R", gpu: "GPU-a", holds: note{series.UseMemory: 20 * gib, series.UseBusy: 0.45}, note: cpuOf(1)})
		}
		return shot{map[string]note{"GPU-a": card(0.97, 0.8, 50)}, hostOf(32, 2), ps}
	}},
	{name: "a notebook beside a job", want: "used", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		m := mainp(0.4, 30)
		m.holds[series.UseBusy] = 0.97
		o := actor{pid: 900, parent: 1, state: "S", gpu: "GPU-a", holds: note{series.UseMemory: 20 * gib, series.UseBusy: 0}, note: cpuOf(0)}
		return shot{map[string]note{"GPU-a": card(0.97, 0.8, 50)}, hostOf(32, 1), []actor{m, o}}
	}},
	{name: "an instance that counts its multiprocessors", want: "The GPU does not say how busy it is; its multiprocessors had work for 10 %", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		return shot{map[string]note{"GPU-a": {series.MemoryUsed: 5 * gib, series.MemoryTotal: 10 * gib, series.SMActive: 0.1}}, hostOf(16, 1), []actor{mainp(0.1, 5)}}
	}},
	{name: "an instance that counts nothing", want: "The GPU does not say how busy it is.", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		return shot{map[string]note{"GPU-a": {series.MemoryUsed: 5 * gib, series.MemoryTotal: 10 * gib}}, hostOf(16, 1), []actor{mainp(0.1, 5)}}
	}},
	{name: "a GPU without a counter of busy time", want: "The GPU does not say how busy it is; it drew 80 %", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		return shot{map[string]note{"GPU-a": card(0, 0.8, 40).without(series.Busy)}, hostOf(16, 1), []actor{mainp(0.1, 40)}}
	}},
	{name: "nothing of the host", want: "unsure", w: Window{Devices: []string{"GPU-a"}}, at: func(t float64, _ *rand.Rand) shot {
		b := box(t, 1.7, 0.5)
		return shot{map[string]note{"GPU-a": card(b, 0.2+0.5*b, 40)}, nil, []actor{{pid: 100, gpu: "GPU-a", holds: note{series.UseMemory: 40 * gib}, status: series.NoPermission}}}
	}},
	{name: "another user's job, whose reads are secret", want: "few-workers", at: func(t float64, r *rand.Rand) shot {
		b := box(t, 0.7, 0.4)
		ps := []actor{mainp(0.03, 20)}
		for i := range 2 {
			ps = append(ps, worker(i, 0.95, 0, r))
		}
		for i := range ps {
			ps[i].note = ps[i].without(series.BytesRead, series.BytesAsked, series.BytesWritten, series.BytesGiven)
		}
		return shot{map[string]note{"GPU-a": card(b, 0.2+0.5*b, 20)}, hostOf(16, 1.9), ps}
	}},
	{name: "a job beside the GPU that it should use", want: "cpu-only", w: Window{Root: 100}, at: func(_ float64, _ *rand.Rand) shot {
		m := mainp(4, 0)
		m.gpu = ""
		o := actor{pid: 900, parent: 1, user: "bob", state: "R", gpu: "GPU-a", holds: note{series.UseMemory: 20 * gib, series.UseBusy: 0.95}, note: cpuOf(1)}
		return shot{map[string]note{"GPU-a": card(0.95, 0.8, 20), "GPU-b": card(0, 0.1, 0)}, hostOf(16, 5.1), []actor{m, o}}
	}},
	{name: "a process that loads itself", want: "no-workers", at: func(t float64, _ *rand.Rand) shot {
		b := box(t, 0.5, 0.45)
		m := mainp(0.58, 20)
		m.with(note{series.BytesAsked: 5e7})
		return shot{map[string]note{"GPU-a": card(b, 0.4, 20)}, hostOf(16, 1), []actor{m}}
	}},
	{name: "a GPU that is little used", want: "unsure", at: func(_ float64, r *rand.Rand) shot {
		b := 0.0
		if r.Float64() < 0.35 {
			b = 0.6
		}
		return shot{map[string]note{"GPU-a": card(b, 0.15, 20).with(note{series.ClockSM: 1.2e9})}, hostOf(16, 1), []actor{mainp(0.2, 20)}}
	}},
	{name: "loaders that are threads", want: "cpu-decode", at: func(t float64, _ *rand.Rand) shot {
		b := box(t, 0.7, 0.45)
		m := mainp(7.6, 20)
		m.note[series.MainCPUTime] = 0.1
		return shot{map[string]note{"GPU-a": card(b, 0.4, 20)}, hostOf(8, 7.7), []actor{m}}
	}},
	{name: "an optimizer on the host", want: "unsure", at: func(t float64, _ *rand.Rand) shot {
		b := box(t, 2.0, 0.5)
		m := mainp(1, 60)
		if b < 0.5 {
			m.with(note{series.CPUTime: 14, series.MainCPUTime: 1})
		}
		return shot{map[string]note{"GPU-a": card(b, 0.2+0.5*b, 60).with(note{series.PCIeReceived: 8e8, series.PCIeSent: 8e8})}, hostOf(16, 8), []actor{m}}
	}},
	{name: "a file server that does not answer", want: "remote-disk", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		m := mainp(0, 30)
		m.state, m.wait = "D", "rpc_wait_bit_killable"
		return shot{map[string]note{"GPU-a": card(0, 0.12, 30)}, hostOf(16, 0.1), []actor{m}}
	}},
	{name: "a first batch that comes over sshfs", want: "remote-disk", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		m := mainp(0, 30)
		m.wait = "request_wait_answer"
		return shot{map[string]note{"GPU-a": card(0, 0.12, 30)}, hostOf(16, 0.1), []actor{m}}
	}},
	{name: "a server that nobody asks", want: "idle-reservation", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		m := mainp(0, 30)
		m.wait = "inet_csk_accept"
		return shot{map[string]note{"GPU-a": card(0, 0.12, 30)}, hostOf(16, 0.1), []actor{m}}
	}},
	{name: "a job that was stopped", want: "idle-reservation", w: Window{Devices: []string{"GPU-a"}}, at: func(_ float64, _ *rand.Rand) shot {
		m := mainp(0, 30)
		m.state = "T"
		return shot{map[string]note{"GPU-a": card(0, 0.12, 30)}, hostOf(16, 0.1), []actor{m}}
	}},
}

func TestWhatOneWhoKnowsWouldSay(t *testing.T) {
	for _, f := range films {
		if f.mean == 0 {
			f.mean = 0.5
		}
		if f.secs == 0 {
			f.secs = 60
		}
		f.w.Samples = film(f.mean, f.secs, f.at)
		a := Diagnose(f.w)
		got := strings.Join(names(a), " ")
		switch {
		case got == "" && a.Healthy:
			got = "used"
		case got == "" && len(a.Unsure) > 0:
			got = "unsure"
		case got == "":
			got = a.Verdict
		}
		if !strings.HasPrefix(got, f.want) || !strings.Contains(f.want, " ") && got != f.want {
			t.Errorf("%s: got %q, want %q; %s", f.name, got, f.want, a.Verdict)
		}
		for _, q := range a.Unsure {
			if strings.Contains(q.Measure, "/proc/PID/io") && !slices.Contains([]string{"nothing of the host", "a log of GPUs alone, which has no processes"}, f.name) {
				t.Errorf("%s: to decide on %s it is told to read what was read: %s", f.name, q.Cause, q.Measure)
			}
		}
	}
}
