package idle

import (
	"math/rand/v2"

	"github.com/plimsoll-dev/plimsoll/series"
)

// plays describe what happens in a job of each cause, with every number drawn
// from a range.
var plays = map[string]func(p *play){
	"few-workers": func(p *play) {
		p.cpus = float64(4 + p.r.IntN(28))
		n := 1 + p.r.IntN(int(p.cpus)-2)
		p.starve(p.team(n, act{cpu: p.between(0.9, 0.99), asked: p.between(1e6, 3e7)}), act{cpu: p.between(0, 0.05)}, p.between(0.15, 0.8))
	},
	"cpu-decode": func(p *play) {
		p.cpus = float64(2 + p.r.IntN(14))
		n := int(p.cpus * p.between(1, 1.3))
		p.starve(p.team(n, act{cpu: p.between(0.9, 0.99), asked: p.between(1e6, 3e7)}), act{cpu: p.between(0, 0.05)}, p.between(0.15, 0.8))
	},
	"slow-disk": func(p *play) {
		read := p.between(2e7, 3e8)
		n := p.r.IntN(8)
		a := act{disk: p.between(0.5, 0.9), read: read / float64(max(n, 1)), asked: read / float64(max(n, 1)) * p.between(1, 1.2)}
		a.cpu = p.between(0.05, 0.9) * (1 - a.disk)
		main := act{cpu: p.between(0, 0.05)}
		if n == 0 {
			main = a
		}
		p.starveWith(p.team(n, a), main, p.between(0.2, 0.8), func(t *tick) { t.cache = read })
	},
	"remote-disk": func(p *play) {
		rate := p.between(5e6, 3e8)
		n := 1 + p.r.IntN(8)
		a := act{disk: p.between(0.4, 0.9), asked: rate / float64(n), wait: "rpc_wait_bit_killable"}
		if p.r.IntN(2) == 0 {
			a.disk, a.wait = 0, "sk_wait_data"
		}
		a.cpu = p.between(0.05, 0.35)
		a.disk = min(a.disk, 1-a.cpu)
		p.starveWith(p.team(n, a), act{cpu: p.between(0, 0.05)}, p.between(0.2, 0.8), func(t *tick) { t.net = rate; t.cache = rate })
	},
	"page-cache-thrash": func(p *play) {
		read := p.between(2e7, 3e8)
		n := 1 + p.r.IntN(8)
		a := act{disk: p.between(0.4, 0.9), read: read / float64(n), faults: p.between(100, 3000) / float64(n)}
		a.cpu = p.between(0.05, 0.9) * (1 - a.disk)
		p.starveWith(p.team(n, a), act{cpu: p.between(0, 0.05)}, p.between(0.2, 0.8), func(t *tick) { t.cache = read * p.between(-0.1, 0.1) })
	},
	"no-workers": func(p *play) {
		p.starve(nil, act{cpu: p.between(0.85, 1), asked: p.between(5e6, 1e8)}, p.between(0.2, 0.8))
	},
	"pageable-copies": func(p *play) {
		p.starveWith(p.rested(), act{cpu: p.between(0.85, 1)}, p.between(0.15, 0.6), func(t *tick) {
			if t.busy == 0 {
				t.rx = p.between(1e9, 6e9)
			}
		})
	},
	"narrow-link": func(p *play) {
		p.link = []float64{0.5, 0.25, 0.0625}[p.r.IntN(3)]
		p.starveWith(p.rested(), act{cpu: p.between(0, 0.2)}, p.between(0.15, 0.7), func(t *tick) {
			if t.busy == 0 {
				t.rx = p.between(5e8, 3e9)
			}
		})
	},
	"step-sync": func(p *play) {
		team, idle := p.rested(), p.between(0.14, 0.55)
		if p.r.IntN(4) == 0 {
			team, idle = nil, p.between(0.14, 0.27)
		}
		p.steps(team, p.between(0.03, 0.4), idle, act{cpu: p.between(0.7, 1)}, act{cpu: p.between(0, 0.2)}, nil)
	},
	"small-kernels": func(p *play) {
		power, sm := p.between(0.15, 0.42), p.between(0.05, 0.35)
		p.steps(p.rested(), p.between(0.02, 0.06), p.between(0.05, 0.4), act{cpu: 1}, act{cpu: p.between(0.93, 1)}, func(t *tick) {
			if t.busy > 0 {
				t.power, t.sm = power, sm
			}
		})
	},
	"checkpoint-stall": func(p *play) {
		rate := p.between(1e7, 8e8)
		p.stalls(p.between(4, 9), p.between(1.2, 5), act{cpu: p.between(0.1, 0.4), disk: p.between(0.3, 0.6), wrote: rate}, nil)
	},
	"logging-stall": func(p *play) {
		p.stalls(p.between(1.5, 6), p.between(0.5, 1.5), act{cpu: p.between(0.4, 1), wrote: p.between(2e3, 1e6)}, nil)
	},
	"epoch-boundary": func(p *play) {
		team := 0
		p.stalls(p.between(4, 9), p.between(1.2, 4), act{cpu: p.between(0.01, 0.2)}, func(t *tick, stall int) {
			if stall > team {
				team = stall
			}
			t.team = team
			if t.busy == 0 {
				for i := range t.workers {
					t.workers[i].cpu = 0.9
				}
			}
		})
	},
	"evaluation": func(p *play) {
		power, memory, low := p.between(0.6, 0.95), p.between(5, 70)*gib, p.between(0.5, 0.8)
		share := p.between(0.4, 0.85)
		team := p.rested()
		for len(p.ranks[0]) < ticks {
			run(&p.ranks[0], p.some(p.between(4, 15), 0.1), p.work(power, memory, team))
			run(&p.ranks[0], p.some(p.between(2.5, 8), 0.1), p.work(power*low, memory*share, team))
		}
	},
	"communication": func(p *play) {
		n := 2 + p.r.IntN(7)
		power, sm, rate := p.between(0.25, 0.47), p.between(0.15, 0.42), p.between(1e9, 8e10)
		main := act{cpu: p.between(0.1, 1)}
		p.together(n, func(_ int, t *tick) { t.power, t.sm, t.nvl, t.main = power, sm, rate, main })
	},
	"straggler": func(p *play) {
		n := 2 + p.r.IntN(7)
		slow := p.r.IntN(n)
		low, high, rate := p.between(0.15, 0.3), p.between(0.4, 0.6), p.between(1e8, 1e10)
		clock := 1.0
		share := p.between(0.5, 0.85)
		if p.r.IntN(2) == 0 {
			clock, share = p.between(0.4, 0.75), 1
		}
		p.together(n, func(rank int, t *tick) {
			t.power, t.sm, t.nvl = high, 0.5, rate
			if rank == slow {
				t.power, t.sm, t.clock, t.busy = low, 0.3, clock, share
			}
		})
	},
	"hung-collective": func(p *play) {
		power := p.between(0.12, 0.33)
		p.together(2+p.r.IntN(7), func(_ int, t *tick) { t.power, t.sm, t.main = power, 0.02, act{} })
	},
	"throttled-heat": func(p *play) {
		p.slow(p.between(0.5, 0.85), p.between(0.35, 0.8), []series.ThrottleReason{series.SoftwareThermal, series.HardwareThermal, series.HardwareSlowdown | series.HardwareThermal}[p.r.IntN(3)])
	},
	"throttled-power": func(p *play) { p.slow(p.between(0.5, 0.85), p.between(0.95, 1), series.SoftwarePowerCap) },
	"clocks-lowered":  func(p *play) { p.slow(p.between(0.4, 0.85), p.between(0.4, 0.7), series.ApplicationClocks) },
	"memory-full-idle": func(p *play) {
		run(&p.ranks[0], 1, tick{power: 0.15, clock: 0.3, memory: p.between(0.92, 0.99) * total, main: act{cpu: p.between(0, 0.02)}})
	},
	"idle-reservation": func(p *play) {
		run(&p.ranks[0], 1, tick{power: 0.15, clock: 0.3, memory: p.between(0.01, 0.85) * total, main: act{cpu: p.between(0, 0.02)}})
	},
	"zombie-context": func(p *play) {
		p.gone = true
		run(&p.ranks[0], 1, tick{power: 0.15, clock: 0.3, memory: p.between(0.02, 0.97) * total})
	},
	"cpu-only": func(p *play) {
		p.unlisted = p.r.IntN(2) == 0
		run(&p.ranks[0], 1, tick{power: 0.15, clock: 0.3, memory: p.between(0, 0.7) * gib, main: act{cpu: p.between(0.8, 6)}})
	},
	"wrong-device": func(p *play) {
		p.visible = "1"
		p.ranks = append(p.ranks, nil)
		p.empty = 1
		run(&p.ranks[1], 1, tick{power: 0.15, clock: 0.3})
		p.healthy()
	},
	"other-tenant": func(p *play) {
		p.tenant = p.between(0.2, 0.7)
		p.healthy()
	},
	"cpu-oversubscription": func(p *play) {
		p.cpus = float64(2 + p.r.IntN(6))
		n := int(p.cpus * p.between(2, 5))
		p.starve(p.team(n, act{cpu: 1, asked: 1e6}), act{cpu: p.between(0.5, 1)}, p.between(0.15, 0.7))
	},
	"other-load": func(p *play) {
		p.cpus = float64(2 + p.r.IntN(14))
		p.other = p.cpus * p.between(5, 9)
		p.steps(p.rested(), p.between(0.03, 0.4), p.between(0.3, 0.7), act{cpu: 1}, act{cpu: p.between(0, 0.2)}, nil)
	},
	"": func(p *play) { p.healthy() },
}

const ticks = 9000

// team is n workers that do the same.
func (p *play) team(n int, a act) []act {
	out := make([]act, n)
	for i := range out {
		out[i] = a
		out[i].cpu = min(1, a.cpu*p.between(0.97, 1.03))
	}
	return out
}

// rested are workers that keep ahead.
func (p *play) rested() []act {
	return p.team(2+p.r.IntN(7), act{cpu: p.between(0.05, 0.45), asked: p.between(1e5, 2e7), read: p.between(0, 5e5)})
}

func (p *play) work(power, memory float64, team []act) tick {
	return tick{busy: 1, power: power, sm: p.between(0.6, 0.95), clock: p.between(0.97, 1), memory: memory, workers: team, main: act{cpu: p.between(0.02, 0.2)}}
}

// starve is a training whose steps wait for data: gap is what the training
// process does meanwhile.
func (p *play) starve(team []act, gap act, idle float64) { p.starveWith(team, gap, idle, nil) }

func (p *play) starveWith(team []act, gap act, idle float64, change func(*tick)) {
	p.steps(team, p.between(0.06, 0.8), idle, gap, act{cpu: p.between(0.01, 0.15)}, change)
}

// steps is a training of steps with a gap in each.
func (p *play) steps(team []act, work, idle float64, gap, main act, change func(*tick)) {
	power, memory := p.between(0.55, 0.95), p.between(3, 70)*gib
	rest := work * idle / (1 - idle)
	w := p.work(power, memory, team)
	g := w
	w.main = main
	g.busy, g.power, g.sm, g.main = 0, p.between(0.12, 0.25), 0, gap
	if change != nil {
		change(&w)
		change(&g)
	}
	// Ticks are coarse beside short steps: what is left over is carried on.
	at, until := 0.0, 0.0
	for len(p.ranks[0]) < ticks {
		at += p.some(work, 0.1)
		for until < at {
			run(&p.ranks[0], tickSeconds, w)
			until += tickSeconds
		}
		at += p.some(rest, 0.2)
		for until < at {
			run(&p.ranks[0], tickSeconds, g)
			until += tickSeconds
		}
	}
}

// stalls is a training that stops every so often.
func (p *play) stalls(every, length float64, a act, change func(t *tick, stall int)) {
	if length < 0.14*every {
		length = 0.14 * every * p.between(1, 2)
	}
	team := p.rested()
	w := p.work(p.between(0.55, 0.95), p.between(3, 70)*gib, team)
	for stall := 1; len(p.ranks[0]) < ticks; stall++ {
		t := w
		t.workers = append([]act{}, team...)
		if change != nil {
			change(&t, stall-1)
		}
		run(&p.ranks[0], p.some(every, 0.05), t)
		g := w
		g.workers = append([]act{}, team...)
		g.busy, g.power, g.sm, g.main = 0, 0.2, 0, a
		if change != nil {
			change(&g, stall)
		}
		run(&p.ranks[0], p.some(length, 0.1), g)
	}
}

// together is a training on n GPUs whose kernels run all the time.
func (p *play) together(n int, change func(rank int, t *tick)) {
	p.world = n
	p.ranks = make([][]tick, n)
	memory, busy := p.between(3, 70)*gib, p.between(0.97, 1)
	for i := range p.ranks {
		t := p.work(0.7, memory, nil)
		t.busy = busy
		change(i, &t)
		run(&p.ranks[i], 1, t)
	}
}

// slow is a training at lower clocks.
func (p *play) slow(clock, power float64, mask series.ThrottleReason) {
	t := p.work(power, p.between(3, 70)*gib, p.rested())
	t.clock, t.mask, t.main = clock, mask, act{cpu: p.between(0.1, 1)}
	t.busy = p.between(0.93, 1)
	run(&p.ranks[0], 1, t)
}

// healthy is a training that uses its GPU, with short dips: workers that are
// more or less busy, a process that runs ahead or spins, a line of log now and
// then.
func (p *play) healthy() {
	main := act{cpu: p.between(0.05, 1), wrote: p.between(0, 500)}
	team := p.team(p.r.IntN(9), act{cpu: p.between(0.1, 0.75), asked: p.between(1e5, 5e7), read: p.between(0, 2e7)})
	w := p.work(p.between(0.55, 0.99), p.between(3, 78)*gib, team)
	w.main = main
	g := w
	g.busy, g.power = 0, 0.3
	lost := p.between(0, 0.07)
	gap := p.between(0.01, 0.8)
	if p.r.IntN(4) == 0 {
		g.main.wrote = p.between(1e3, 3e8)
	}
	for len(p.ranks[0]) < ticks {
		run(&p.ranks[0], p.some(gap*(1-lost)/(lost+0.001), 0.2), w)
		run(&p.ranks[0], p.some(gap, 0.2), g)
	}
}

func newPlay(r *rand.Rand) *play {
	p := &play{r: r, ranks: make([][]tick, 1), link: 1, empty: -1}
	p.cpus = float64(4 + r.IntN(60))
	if r.IntN(3) == 0 {
		p.load = p.between(0, 0.4)
	}
	return p
}
