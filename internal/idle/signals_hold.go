package idle

import (
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/series"
)

func askTenantComputes(v *view) (State, string) {
	t := v.tenants()
	if len(t) == 0 {
		return No, ""
	}
	d, ok := v.sumOver(t, (*proc).demand).mean(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(d >= leastLoss, fmt.Sprintf("it takes %.1f processors", d))
}

// askHolderGone looks at who holds memory on the GPUs: a process that has died,
// is dying, or cannot be found, or nobody at all.
func askHolderGone(v *view) (State, string) {
	alive, gone := 0, ""
	var held float64
	for _, p := range append(append([]*proc{}, v.procs...), v.others...) {
		if !p.on(v.gpus) {
			continue
		}
		switch last := p.last; {
		case last.Status == series.Lost:
			gone = fmt.Sprintf("process %d holds memory and cannot be seen", p.pid)
		case last.State == "Z" || last.State == "X":
			gone = fmt.Sprintf("process %d holds memory and is dead (state %s)", p.pid, last.State)
		default:
			alive++
		}
		held++
	}
	if gone == "" && held == 0 {
		used, _, ok := v.memory()
		if !ok || !v.listed() {
			return Unknown, ""
		}
		return judge(used >= smallMemory, fmt.Sprintf("%s are taken and no process holds them", size(used)))
	}
	return judge(gone != "" && alive == 0, gone)
}

// listed says whether anybody looked for processes: logs of GPUs alone have none, and
// nothing of the host either.
func (v *view) listed() bool {
	return len(v.everyone) > 0 || slices.ContainsFunc(v.samples, func(s series.Sample) bool { return len(s.Host.Values) > 0 })
}

// tenants are processes of other jobs that compute on the view's GPUs beside the job,
// with more than a display takes.
func (v *view) tenants() []*proc {
	if len(v.procs) == 0 {
		return nil
	}
	var out []*proc
	for _, p := range v.others {
		if !v.beside(p) {
			continue
		}
		for _, u := range p.last.Uses {
			m, known := u.Values.Get(series.UseMemory).Get()
			if u.Kind != series.Graphics && (!known || m >= 64<<20) {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// beside says whether a process was there at the same time as the job, for a part of
// the time that counts: one job may follow another, and the driver may list a process
// once more that has just ended.
func (v *view) beside(p *proc) bool {
	both := 0.0
	for i, s := range p.seen {
		if s != nil && slices.ContainsFunc(v.mains, func(m *proc) bool { return m.seen[i] != nil && m.pid != p.pid }) {
			both += v.train.weight(i)
		}
	}
	return both >= leastLoss*v.train.sum()
}

func askTenant(v *view) (State, string) {
	t := v.tenants()
	if len(t) == 0 {
		return No, ""
	}
	who := t[0].last.Name
	if t[0].last.User != "" {
		who += " of " + t[0].last.User
	}
	return Yes, fmt.Sprintf("process %d (%s) is on the same GPU and of another job", t[0].pid, who)
}

// useBusy is the utilisation by some processes, in the mean: none while they are not
// there.
func (v *view) useBusy(list []*proc) (float64, bool) {
	sum, n := 0.0, 0
	for i := range v.times {
		x, any := 0.0, !slices.ContainsFunc(list, func(p *proc) bool { return p.seen[i] != nil })
		for _, p := range list {
			if p.seen[i] == nil {
				continue
			}
			for _, u := range p.seen[i].Uses {
				b, ok := u.Values.Get(series.UseBusy).Get()
				if ok && b >= 0 && b <= 1 && slices.ContainsFunc(v.gpus, func(g *gpu) bool { return g.id == u.Device }) {
					x, any = x+b, true
				}
			}
		}
		if any {
			sum += x
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(max(1, len(v.gpus))) / float64(n), true
}

func askTenantWorks(v *view) (State, string) {
	t := v.tenants()
	if len(t) == 0 {
		return No, ""
	}
	b, ok := v.useBusy(t)
	if !ok {
		return Unknown, ""
	}
	own, _ := v.useBusy(v.procs)
	return judge(b >= leastLoss, fmt.Sprintf("its kernels ran for %s of the time, those of the job for %s", percent(b), percent(own)))
}

// unused are the GPUs that the job was given and holds nothing on, of all that it
// was given; false where it is not known what it was given, or it is on none.
func (v *view) unused() (list []*gpu, given int, ok bool) {
	used := map[string]bool{}
	for _, p := range v.procs {
		for _, u := range p.uses {
			used[u.device] = true
		}
	}
	asked := v.asks()
	for _, g := range asked {
		if !used[g.id] {
			list = append(list, g)
		}
	}
	return list, len(asked), len(asked) > 0 && len(used) > 0
}

func askUnused(v *view) (State, string) {
	list, given, ok := v.unused()
	if !ok {
		return Unknown, ""
	}
	if len(list) == 0 {
		return No, ""
	}
	return Yes, fmt.Sprintf("the job was given %d GPUs and holds nothing on %d, as GPU %d", given, len(list), list[0].index)
}

// lostUnused is the part of the given GPUs that is not used.
func lostUnused(v *view) (float64, string, bool) {
	list, given, ok := v.unused()
	return float64(len(list)) / float64(max(1, given)), "that part of the GPUs that it was given is not used", ok
}

func askElsewhere(v *view) (State, string) {
	asked := v.asks()
	for _, g := range asked {
		b, ok := g.lines.of(series.Busy).mean(v.train)
		m, known := g.of(series.MemoryUsed).quantile(v.train, 0.5)
		if ok && known && b < quiet && m < smallMemory {
			for _, other := range v.all {
				for _, p := range v.procs {
					if p.usesDevice(other.id) && other.id != g.id {
						return Yes, fmt.Sprintf("GPU %d is empty, and process %d is on GPU %d", g.index, p.pid, other.index)
					}
				}
			}
		}
	}
	return No, ""
}
