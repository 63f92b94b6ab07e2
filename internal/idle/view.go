package idle

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A scene is samples cut into lines: every GPU and process that was seen, and the
// host, each with a number per sample. It is made once for all questions about the
// same samples.
type scene struct {
	samples []series.Sample
	room    *room // of what all questions share
	times   line  // seconds since the first sample
	// interval is the usual one between samples.
	interval float64
	host     lines
	everyone []*proc
	devices  []*gpu
}

// A view is a scene with one question: the GPUs and processes of one job.
type view struct {
	*scene
	w     Window
	room  *room   // of this question
	gpus  []*gpu  // that the answer is of
	peers []*gpu  // all of the job, with them
	all   []*gpu  // those of other jobs, too
	procs []*proc // of the job, by PID
	ranks []*proc // those of the job that work with a GPU
	mains []*proc // those of them that work with one of gpus
	// workers are processes of the job below a main one, without a GPU of
	// their own.
	workers []*proc
	others  []*proc // on the same GPUs and not of the job
	// absent says that the job is on no GPU: gpus are those that it could be on.
	absent bool

	train mask // samples after the start of the job
	// Lines that are asked for again and again.
	busyLine, writtenLine line
	// What cutAtSwing found.
	isCut, swings     bool
	cut               float64
	lowMask, highMask mask
	asked             map[string]told
	levelled          *twoLevels // see levels
}

// lines reads counters out of one thing's Values, sample by sample.
type lines struct {
	times line
	room  *room
	at    func(i int) *series.Values // nil where the thing was not seen
	cache map[series.Counter]line
}

// mostOfAny is more than any counter reaches: an exabyte.
const mostOfAny = 1e18

// of is the line of a counter: the numbers of a gauge, and the growth per second
// of a total. Where samples between two numbers did not ask for it, the growth from
// one to the other is of them all.
func (l *lines) of(c series.Counter) line {
	if got, ok := l.cache[c]; ok {
		return got
	}
	out := l.room.line(len(l.times))
	last, seen, most := 0.0, -1, mostOfAny
	unasked := true // since the sample seen nobody asked
	info := c.Info()
	if info.Unit == series.Ratio {
		most = 1
	}
	for i := range out {
		vs := l.at(i)
		if vs == nil {
			seen = -1
			continue
		}
		got := vs.Get(c)
		n, ok := got.Get()
		if !ok || !(n >= 0 && n <= most) {
			unasked = unasked && got.Status == series.Absent
			continue // no counter is negative, and what is over 100 % is stale
		}
		if info.Kind == series.Gauge {
			out[i] = n
			continue
		}
		if seen >= 0 && n >= last && l.times[i] > l.times[seen] {
			from := i
			if unasked {
				from = seen + 1
			}
			for j := from; j <= i; j++ {
				out[j] = (n - last) / (l.times[i] - l.times[seen])
			}
		}
		last, seen, unasked = n, i, true
	}
	l.cache[c] = out
	return out
}

// A gpu is one device over the window.
type gpu struct {
	lines
	v        *view // whose question it is seen for
	id, name string
	index    int
	seen     []*series.Device
	ratios   map[[2]series.Counter]line
	works    mask // see working
}

// answered is the share of the samples that hold the GPU with fresh values.
func (g *gpu) answered() float64 {
	fresh, n := 0, 0
	for _, d := range g.seen {
		if d == nil {
			continue
		}
		if n++; d.StaleFor == 0 && d.Status != series.Stuck && d.Status != series.Lost {
			fresh++
		}
	}
	return float64(fresh) / float64(max(1, n))
}

// A proc is one process over the window.
type proc struct {
	lines
	pid, parent int
	last        *series.Process // as it was last seen
	seen        []*series.Process
	uses        []use // of the devices that it was on
	wants       line  // see demand
}

// A use is what a process held of a device.
type use struct {
	device string
	held   float64 // bytes, of all samples together; an unknown number counts as one
}

// use is the use of a device.
func (p *proc) use(device string) *use {
	for i := range p.uses {
		if p.uses[i].device == device {
			return &p.uses[i]
		}
	}
	p.uses = append(p.uses, use{device: device})
	return &p.uses[len(p.uses)-1]
}

// usesDevice says whether the process was on a device.
func (p *proc) usesDevice(id string) bool {
	return slices.ContainsFunc(p.uses, func(u use) bool { return u.device == id })
}

// life is how many samples have it.
func (p *proc) life() int {
	n := 0
	for _, s := range p.seen {
		if s != nil {
			n++
		}
	}
	return n
}

// state chooses the samples in which the process was in one of the states, and
// says whether its state is known at all.
func (p *proc) state(letters string) (line, bool) {
	out, known := p.room.line(len(p.seen)), false
	for i, s := range p.seen {
		if s == nil || s.State == "" {
			continue
		}
		known = true
		out[i] = 0
		for _, l := range letters {
			if s.State[0] == byte(l) {
				out[i] = 1
			}
		}
	}
	return out, known
}

// runnable is how much more often a process must be seen ready to run than it
// has run for the difference to be a wait for a processor, and not chance.
const runnable = 0.2

// demand is the processors that the process took or was ready to take. On a host
// with other work the second is what tells a busy process from one that sleeps.
// The kernel counts it of the main thread: other threads that computed are taken
// to have waited as often. Where it counts nothing, the states that were seen do.
func (p *proc) demand() line {
	if p.wants == nil {
		p.wants = p.newDemand()
	}
	return p.wants
}

func (p *proc) newDemand() line {
	out := p.room.line(len(p.seen))
	out.add(p.of(series.CPUTime))
	ran, _ := out.mean(nil)
	wait := p.of(series.CPUWait)
	if _, ok := wait.mean(nil); !ok {
		states, _ := p.state("R")
		if ready, ok := states.mean(nil); ok && ready >= ran+runnable {
			return states
		}
		return out
	}
	threads := 1.0
	if main, ok := p.of(series.MainCPUTime).mean(nil); ok && main >= little {
		threads = max(1, ran/main)
	}
	for i, w := range wait {
		if !math.IsNaN(out[i]) && !math.IsNaN(w) {
			out[i] += w * threads
		}
	}
	return out
}

// forward are the samples whose clock goes forward: a recording may hold others.
func forward(list []series.Sample) []series.Sample {
	back := 1
	for back < len(list) && list[back].Since > list[back-1].Since {
		back++
	}
	if back >= len(list) {
		return list
	}
	out := slices.Clone(list[:back])
	for _, s := range list[back:] {
		if s.Since > out[len(out)-1].Since {
			out = append(out, s)
		}
	}
	return out
}

func newScene(samples []series.Sample) *scene {
	samples = forward(samples)
	sc := &scene{samples: samples, room: newRoom()}
	sc.times = sc.room.line(len(samples))
	for i := range samples {
		sc.times[i] = (samples[i].Since - samples[0].Since).Seconds()
	}
	gaps := sc.room.line(len(sc.times))
	for i := 1; i < len(sc.times); i++ {
		gaps[i] = sc.times[i] - sc.times[i-1]
	}
	sc.interval, _ = gaps.quantile(nil, 0.5)
	sc.interval = max(sc.interval, 1e-3) // of a window of one sample, or of a clock that stood
	sc.host = sc.lines(func(i int) *series.Values { return &samples[i].Host.Values })
	sc.gatherProcesses()
	sc.gatherDevices()
	return sc
}

func (sc *scene) lines(at func(i int) *series.Values) lines {
	return lines{times: sc.times, room: sc.room, at: at, cache: map[series.Counter]line{}}
}

func newView(sc *scene, w Window) *view {
	v := &view{scene: sc, w: w, room: newRoom(), asked: make(map[string]told, len(signals))}
	for _, g := range sc.devices {
		own := *g
		own.v = v
		v.all = append(v.all, &own)
	}
	v.job(v.everyone)
	v.choose(v.everyone)
	v.others = slices.DeleteFunc(slices.Clone(v.everyone), func(p *proc) bool { return !p.on(v.gpus) || slices.Contains(v.procs, p) })
	v.ranks, _ = v.roles(v.peers)
	v.mains, v.workers = v.roles(v.gpus)
	if len(v.gpus) == 0 {
		// A job that is on no GPU at all should be on those that it was given.
		if v.gpus = v.asks(); len(v.gpus) == 0 {
			v.gpus, v.absent = v.unclaimed()
		}
		v.peers = v.gpus
	}
	v.train = v.beforeEnd(v.afterStart())
	return v
}

// unclaimed are the GPUs that a job may be on which was seen on none: where memory is
// held by whom nobody can see, it may be the job that does. Without such it is on
// none, and could be on those that nobody else is on.
func (v *view) unclaimed() (gpus []*gpu, absent bool) {
	var held, free []*gpu
	for _, g := range v.all {
		if slices.ContainsFunc(v.everyone, func(p *proc) bool { return p.usesDevice(g.id) && p.last.Status != series.Lost }) {
			continue
		}
		if m, ok := g.of(series.MemoryUsed).quantile(nil, 0.5); ok && m >= smallMemory {
			held = append(held, g)
		}
		free = append(free, g)
	}
	switch {
	case len(held) > 0:
		return held, false
	case len(free) > 0:
		return free, true
	}
	return v.all, true
}

// gatherProcesses gathers every process of the samples. A PID that starts anew is
// another process.
func (sc *scene) gatherProcesses() {
	type key struct {
		pid     int
		started uint64
	}
	found := map[key]*proc{}
	for i := range sc.samples {
		list := sc.samples[i].Processes
		for j := range list {
			s := &list[j]
			// Most processes stand where they stood in the sample before.
			var p *proc
			if j < len(sc.everyone) && sc.everyone[j].pid == s.PID && sc.everyone[j].last.Started == s.Started {
				p = sc.everyone[j]
			} else {
				p = found[key{s.PID, s.Started}]
			}
			if p == nil {
				p = &proc{pid: s.PID, seen: make([]*series.Process, len(sc.times))}
				p.lines = sc.lines(func(i int) *series.Values {
					if p.seen[i] == nil {
						return nil
					}
					return &p.seen[i].Values
				})
				found[key{s.PID, s.Started}] = p
				sc.everyone = append(sc.everyone, p)
			}
			p.seen[i], p.last = s, s
			if p.parent == 0 {
				p.parent = s.Parent // who started it: when that ends another takes it over
			}
			for _, u := range s.Uses {
				m, _ := u.Values.Get(series.UseMemory).Get()
				p.use(u.Device).held += max(m, 1)
			}
		}
	}
}

// gatherDevices gathers every device of the samples.
func (sc *scene) gatherDevices() {
	byID := map[string]*gpu{}
	for i := range sc.samples {
		for j := range sc.samples[i].Devices {
			d := &sc.samples[i].Devices[j]
			g := byID[d.ID]
			if g == nil {
				g = &gpu{id: d.ID, seen: make([]*series.Device, len(sc.times)), ratios: map[[2]series.Counter]line{}}
				g.lines = sc.lines(func(i int) *series.Values {
					if g.seen[i] == nil || g.seen[i].StaleFor > 0 {
						return nil
					}
					return &g.seen[i].Values
				})
				byID[d.ID] = g
				sc.devices = append(sc.devices, g)
			}
			g.seen[i], g.name, g.index = d, d.Name, d.Index
		}
	}
}

// choose takes the GPUs of the job, those that it is on and those that were given to
// it or asked for, else all; and of them those that the answer is of.
func (v *view) choose(all []*proc) {
	used := map[string]bool{}
	for _, p := range v.procs {
		for _, u := range p.uses {
			used[u.device] = true
		}
	}
	for _, id := range slices.Concat(v.w.Given, v.w.Devices) {
		used[id] = true
	}
	if len(used) == 0 && v.w.Root == 0 {
		for _, p := range all {
			for _, u := range p.uses {
				used[u.device] = true
			}
		}
	}
	for _, g := range v.all {
		if len(used) == 0 && v.w.Root == 0 || used[g.id] {
			v.peers = append(v.peers, g)
		}
	}
	v.gpus = v.peers
	if len(v.w.Devices) > 0 {
		v.gpus = nil
		for _, g := range v.peers {
			if slices.Contains(v.w.Devices, g.id) {
				v.gpus = append(v.gpus, g)
			}
		}
	}
}

// asks are the GPUs that the job was given: as is known, else by its
// environment.
func (v *view) asks() []*gpu {
	var out []*gpu
	for _, g := range v.all {
		asked := slices.Contains(v.w.Given, g.id)
		if len(v.w.Given) == 0 {
			for _, p := range v.mains {
				asked = asked || visible(p.last.Visible, g)
			}
		}
		if asked {
			out = append(out, g)
		}
	}
	return out
}

// visible says whether CUDA_VISIBLE_DEVICES names a GPU, by index or by the
// beginning of its UUID.
func visible(list string, g *gpu) bool {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		if word != "" && (word == strconv.Itoa(g.index) || len(word) > len("GPU-") && strings.HasPrefix(g.id, word)) {
			return true
		}
	}
	return false
}

// on says whether a process was on one of some GPUs.
func (p *proc) on(gpus []*gpu) bool {
	return slices.ContainsFunc(gpus, func(g *gpu) bool { return p.usesDevice(g.id) })
}
