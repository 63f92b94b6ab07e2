package idle

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// helpers are children of a training process that are no workers of its loader:
// words of their command lines.
var helpers = []string{"resource_tracker", "semaphore_tracker", "forkserver", "wandb", "tensorboard"}

// compilers are programs that frameworks start to compile kernels and extensions, as
// the kernel names them (15 letters); compileWorker is PyTorch's, in its command line.
var compilers = []string{"cc1plus", "cc1", "cicc", "ptxas", "nvcc", "cudafe++", "fatbinary", "nvlink", "gcc", "g++", "c++", "clang", "clang++", "hipcc", "ld", "ninja"}

const compileWorker = "compile_worker"

func compiles(p *proc) bool {
	return slices.Contains(compilers, p.last.Name) || strings.Contains(p.last.Command, compileWorker)
}

// compiling is how many processors compilers take, sample by sample.
func (v *view) compiling() line {
	var list []*proc
	for _, p := range v.procs {
		if compiles(p) {
			list = append(list, p)
		}
	}
	return v.sumOver(list, (*proc).demand)
}

// compilerRuns is what compilers take at least to be what is waited for.
const compilerRuns = 0.5

func askCompilers(v *view) (State, string) {
	d, ok := v.compiling().mean(v.low())
	return judge(ok && d >= compilerRuns, fmt.Sprintf("compilers take %.1f processors while the GPU idles", d))
}

// lostToCompilers is the part of the idle time in which compilers ran.
func lostToCompilers(v *view) (float64, string, bool) {
	at := v.room.where(v.compiling(), v.low(), func(d float64) bool { return d >= compilerRuns })
	return v.lostTo(at.sum(), v.low().sum(), "no kernel ran for that long while compilers did")
}

func helps(p *proc) bool {
	if compiles(p) {
		return true
	}
	for _, w := range helpers {
		if strings.Contains(p.last.Command, w) {
			return true
		}
	}
	return false
}

// little is the share of a processor below which a process does nothing that
// matters: waking up to poll takes as much.
const little = 0.05

// active are the workers that do something, or wait for a disk.
func (v *view) active() []*proc {
	var out []*proc
	for _, p := range v.workers {
		if helps(p) {
			continue
		}
		d, _ := p.demand().mean(v.train)
		if w, _ := p.diskWait(v.train); d >= little || w >= little {
			out = append(out, p)
		}
	}
	return out
}

// loaders are who brings the data: active workers, without any the main
// processes.
func (v *view) loaders() []*proc {
	if a := v.active(); len(a) > 0 {
		return a
	}
	return v.mains
}

// diskWait is the share of the time for which a process waited for a disk or a
// file server: by the kernel's count, or by the states that were seen.
func (p *proc) diskWait(m mask) (float64, bool) {
	counted, ok := p.of(series.DiskWait).mean(m)
	states, known := p.state("D")
	seen, _ := states.mean(m)
	return max(counted, seen), ok || known
}

// meanOver is the mean of one number per process over those that have it.
func meanOver(list []*proc, of func(*proc) (float64, bool)) (float64, bool) {
	sum, n := 0.0, 0
	for _, p := range list {
		if x, ok := of(p); ok {
			sum += x
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// sumOver adds a line of several processes. It must not be changed.
func (v *view) sumOver(list []*proc, of func(*proc) line) line {
	if len(list) == 1 {
		return of(list[0])
	}
	out := v.room.line(len(v.times))
	for _, p := range list {
		out.add(of(p))
	}
	return out
}

// mainDemand is the processor time that the main thread took or waited for; all its
// threads' where that is not known.
func (p *proc) mainDemand() line {
	thread := p.of(series.MainCPUTime)
	if _, ok := thread.mean(nil); !ok {
		return p.demand()
	}
	out, wait := p.room.line(len(thread)), p.of(series.CPUWait)
	for i := range out {
		if out[i] = thread[i]; !math.IsNaN(wait[i]) {
			out[i] += wait[i]
		}
	}
	return out
}

// mainDemand is that of the training processes, in the mean.
func (v *view) mainDemand(m mask) (float64, bool) {
	return meanOver(v.mains, func(p *proc) (float64, bool) { return p.mainDemand().mean(m) })
}

// alive is how many of some processes there were on average.
func (v *view) alive(list []*proc) float64 {
	n := 0
	for _, p := range list {
		for i, s := range p.seen {
			if s != nil && v.train.has(i) {
				n++
			}
		}
	}
	if c := v.train.count(len(v.times)); c > 0 {
		return float64(n) / float64(c)
	}
	return 0
}

// rate is the mean of the job's sum of a counter.
func (v *view) rate(list []*proc, c series.Counter) (float64, bool) {
	return v.sumOver(list, func(p *proc) line { return p.of(c) }).mean(v.train)
}

// jobDemand is the processor time that the job took or waited for, in
// processors.
func (v *view) jobDemand() (float64, bool) {
	return v.sumOver(v.procs, func(p *proc) line { return p.demand() }).mean(v.train)
}

// cpus is how many processors the job may take: what its affinity and the
// host's quota allow.
func (v *view) cpus() (float64, bool) {
	n, ok := v.host.of(series.HostCPUsAllowed).quantile(nil, 0.5)
	if !ok {
		n, ok = v.host.of(series.HostCPUs).quantile(nil, 0.5)
	}
	for _, p := range v.mains {
		if a, known := p.of(series.CPUsAllowed).quantile(nil, 0.5); known && (!ok || a < n) {
			n, ok = a, true
		}
	}
	return n, ok && n > 0
}

// written is what the job writes per second: the training processes whatever layer
// counts it, others to disks only, since workers write their batches to pipes.
func (v *view) written() line {
	if v.writtenLine == nil {
		v.writtenLine = v.newWritten()
	}
	return v.writtenLine
}

func (v *view) newWritten() line {
	out := v.room.line(len(v.times))
	for _, p := range v.mains {
		given, disk := p.of(series.BytesGiven), p.of(series.BytesWritten)
		both := v.room.line(len(out))
		for i := range both {
			both[i] = fmax(given[i], disk[i])
		}
		out.add(both)
	}
	for _, p := range v.workers {
		out.add(p.of(series.BytesWritten))
	}
	return out
}

// fmax is the larger one, or the one that is known.
func fmax(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return max(a, b)
}
