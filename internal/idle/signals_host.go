package idle

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Limits of host signals.
const (
	// saturated is the share of a processor that a worker without a pause
	// takes or waits for; the catalogue says 90 %, of which the hand-over of a
	// batch and the ticks of the clock take some.
	saturated = 0.8
	// tireless is the share from which a process never waits.
	tireless = 0.95
	// asleep is the share of a processor below which a main process waits for
	// others.
	asleep = 0.35
	// waiting is the share of the time in a disk's queue from which a worker
	// is held up by it.
	waiting = 0.25
	// flowing is a rate of reading that can be the input of a training: ten
	// images of a hundred kilobytes in a second.
	flowing = 1 << 20
	// pressed is the share of the time under pressure of a resource.
	pressed = 0.2
	// largeWrite is the least that a checkpoint writes: a million parameters
	// with their optimizer are 12 MB; logs and plots are smaller.
	largeWrite = 4 << 20
	// someWrite is the least that counts as writing: less is a line on a
	// terminal.
	someWrite = 512
	// spareCPU is how much of a processor must be free to call it free.
	spareCPU = 0.5
)

var hostSignals = []Signal{
	{"no-workers", OfHost, "processes", "the training process has no workers", "", askNoWorkers},
	{"workers-saturated", OfHost, "processor time of workers", "every worker computes without a pause", "read the processor time of the workers", askSaturated},
	{"workers-rest", OfHost, "processor time of workers", "the workers have time to spare", "", askRest},
	{"cpus-left", OfHost, "processor time of the job", "the job leaves processors unused that it may take", "read which processors the job may take", askCPUsLeft},
	{"no-cpus-left", OfHost, "processor time of the job", "the job could use all processors that it may take", "read which processors the job may take", askNoCPUsLeft},
	{"disk-wait", OfHost, "state of loaders", "those who load wait for a disk or a file server", "look at the state of the workers (D) with /proc/PID/stat", askDiskWait},
	{"disk-reads", OfHost, "reads", "data comes from a disk, not from the page cache", "read /proc/PID/io", askDiskReads},
	{"io-pressure", OfHost, "pressure", "the kernel counts tasks that wait for input or output", "", askIOPressure},
	{"main-asleep", OfHost, "main process", "the training process sleeps while the GPU idles", "read the processor time of the training process", askMainAsleep},
	{"main-full", OfHost, "main process", "the training process computes all the time", "read the processor time of the training process", askMainFull},
	{"main-alternates", OfHost, "main process", "the training process computes in part of the time, and more so while the GPU idles", "read the processor time of the training process", askMainAlternates},
	{"main-runs-in-gaps", OfHost, "main process", "the training process computes while the GPU idles", "read the processor time of the training process", askMainRuns},
	{"main-still", OfHost, "main process", "the training process does not compute at all", "read the processor time of the training process", askMainStill},
	{"job-still", OfHost, "main process", "no process of the job computes", "read the processor time of the processes on the GPU", askJobStill},
	{"job-computes", OfHost, "processor time of the job", "the job computes on processors", "read the processor time of the job", askJobComputes},
	{"ranks", OfHost, "processes", "the job has several ranks", "set RANK and WORLD_SIZE, or start it with torchrun", askRanks},
	{"odd-main", OfHost, "main process", "the process of one rank computes more or less than the others", "read the processor time of every rank", askOddMain},
	{"workers-replaced", OfHost, "processes", "workers end and others start when the GPU stalls", "look at the PIDs of the workers", askReplaced},
	{"remote-wait", OfHost, "wait of loaders", "those who load wait in the code of a network file system or for the network", "read /proc/PID/wchan of the workers", askRemoteWait},
	{"network-reads", OfHost, "network", "data comes in over the network", "read the traffic of the network interfaces", askNetReads},
	{"no-disk-reads", OfHost, "reads", "hardly any data comes from a local disk", "", askNoDiskReads},
	{"major-faults", OfHost, "page faults", "many page faults wait for a disk", "read major faults of the job (/proc/PID/stat)", askFaults},
	{"cache-full", OfHost, "page cache", "what is read from disks does not stay in the page cache", "read the size of the page cache", askCacheFull},
	{"memory-pressure", OfHost, "pressure", "the kernel counts tasks that wait for memory", "read /proc/pressure/memory", askMemoryPressure},
	{"waits-for-cpu", OfHost, "wait for processors", "the job's processes are ready to run and get no processor", "read /proc/PID/schedstat", askWaitsForCPU},
	{"mostly-waits", OfHost, "wait for processors", "the training process waits for a processor for longer than it has one", "read /proc/PID/schedstat", askMostlyWaits},
	{"over-demand", OfHost, "processor time of the job", "the job wants half as many processors again as it may take, or more", "read which processors the job may take", askOverDemand},
	{"threads-crowd", OfHost, "threads", "one process alone wants more processors than the job may take", "count the threads that run in each process: top -H", askThreadsCrowd},
	{"main-crowded", OfHost, "wait for processors", "the training process gets no processor since the rest of the job has them", "read /proc/PID/schedstat", askMainCrowded},
	{"quota", OfHost, "quota", "the processor quota of the container is used up", "read cpu.stat of the cgroup", askQuota},
	{"other-load", OfHost, "processor time of others", "other work takes processors of the host", "read the processor time of the host", askOtherLoad},
	{"holder-gone", OfHost, "processes on the GPU", "memory is held by a process that is dead or cannot be seen", "list the processes on the GPU as root: nvidia-smi, fuser -v /dev/nvidia*", askHolderGone},
	{"tenant", OfHost, "processes on the GPU", "a process of another job is on the GPU", "", askTenant},
	{"tenant-works", OfDevice, "utilisation by process", "kernels of another job run on the GPU", "read utilisation by process (nvidia-smi pmon)", askTenantWorks},
	{"asked-unused", OfHost, "processes on the GPU", "the job holds nothing on a GPU that it was given", "", askUnused},
	{"other-used", OfDevice, "device memory", "the GPU that it was given is empty, and it works on another", "", askElsewhere},
	{"main-reads", OfHost, "reads", "the training process itself reads the data", "read /proc/PID/io", askMainReads},
	{"large-writes", OfHost, "writes", "large amounts are written when the GPU stalls", "read /proc/PID/io", askLargeWrites},
	{"small-writes", OfHost, "writes", "small amounts are written when the GPU stalls, and hardly any between", "read /proc/PID/io", askSmallWrites},
}

func askNoWorkers(v *view) (State, string) {
	if len(v.mains) == 0 {
		return Unknown, ""
	}
	var loaders []*proc
	for _, p := range v.workers {
		if !helps(p) {
			loaders = append(loaders, p)
		}
	}
	return judge(v.alive(loaders) < 0.5, "the training process has no child that could load data")
}

// workerDemand is how much of a processor the middle one of the active workers
// took or waited for.
func (v *view) workerDemand() (float64, int, bool) {
	a := v.active()
	l := newLine(len(a))
	for i, p := range a {
		if d, ok := p.demand().mean(v.train); ok {
			l[i] = d
		}
	}
	d, ok := l.quantile(nil, 0.5)
	return d, len(a), ok
}

func askSaturated(v *view) (State, string) {
	if len(v.mains) == 0 {
		return Unknown, ""
	}
	d, n, ok := v.workerDemand()
	if !ok {
		return No, ""
	}
	return judge(d >= saturated, fmt.Sprintf("%d workers compute or wait for a processor for %s of the time", n, percent(d)))
}

func askRest(v *view) (State, string) {
	if s, _ := askNoWorkers(v); s != No {
		return s, ""
	}
	d, _, _ := v.workerDemand()
	w, _ := meanOver(v.active(), func(p *proc) (float64, bool) { return p.diskWait(v.train) })
	return judge(d < saturated && w < waiting, fmt.Sprintf("workers compute for %s of the time and wait for disks for %s", percent(d), percent(w)))
}

// wanted is how many processors the job would take if it could: those that it
// took or waited for, and at least one for each worker that never pauses.
func (v *view) wanted() (float64, bool) {
	d, ok := v.jobDemand()
	if w, n, known := v.workerDemand(); known && w >= saturated {
		d = max(d, float64(n))
	}
	return d, ok
}

func askCPUsLeft(v *view) (State, string) {
	n, ok := v.cpus()
	d, known := v.wanted()
	if !ok || !known {
		return Unknown, ""
	}
	return judge(n-d >= spareCPU, fmt.Sprintf("the job could use %.1f processors and may take %.4g", d, n))
}

func askNoCPUsLeft(v *view) (State, string) {
	n, ok := v.cpus()
	d, known := v.wanted()
	if !ok || !known {
		return Unknown, ""
	}
	return judge(n-d < spareCPU, fmt.Sprintf("the job could use %.1f processors and may take %.4g", d, n))
}

func askDiskWait(v *view) (State, string) {
	w, ok := meanOver(v.loaders(), func(p *proc) (float64, bool) { return p.diskWait(v.train) })
	if !ok {
		return Unknown, ""
	}
	return judge(w >= waiting, fmt.Sprintf("those who load wait for input for %s of the time", percent(w)))
}

func askDiskReads(v *view) (State, string) {
	r, ok := v.rate(v.procs, series.BytesRead)
	if !ok {
		return Unknown, ""
	}
	return judge(r >= flowing, fmt.Sprintf("the job reads %s/s from disks", size(r)))
}

func askIOPressure(v *view) (State, string) {
	p, ok := v.host.of(series.HostPressureIO).mean(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(p >= pressed, fmt.Sprintf("tasks wait for input or output for %s of the time (PSI)", percent(p)))
}

func askMainAsleep(v *view) (State, string) {
	d, ok := v.mainDemand(v.low())
	if !ok {
		return Unknown, ""
	}
	return judge(d < asleep, fmt.Sprintf("the training process computes for %s of the time in which the GPU idles", percent(d)))
}

func askMainFull(v *view) (State, string) {
	d, ok := v.mainDemand(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(d >= saturated, fmt.Sprintf("the training process computes for %s of the time", percent(d)))
}

func askMainAlternates(v *view) (State, string) {
	d, ok := v.mainDemand(v.train)
	if !ok {
		return Unknown, ""
	}
	if _, swings := v.swing(); !swings {
		return judge(d >= little && d < tireless, fmt.Sprintf("the training process computes for %s of the time", percent(d)))
	}
	low, _ := v.mainDemand(v.low())
	high, _ := v.mainDemand(v.high())
	return judge(d >= little && d < tireless && low > high, fmt.Sprintf("the training process computes for %s of the time in gaps and for %s at work", percent(low), percent(high)))
}

func askMainReads(v *view) (State, string) {
	if s, _ := askNoWorkers(v); s == No {
		return No, "" // what it reads comes from them, through pipes
	}
	asked, ok := v.rate(v.mains, series.BytesAsked)
	disk, known := v.rate(v.mains, series.BytesRead)
	if !ok && !known {
		return Unknown, ""
	}
	r := max(asked, disk)
	return judge(r >= flowing, fmt.Sprintf("the training process reads %s/s", size(r)))
}

// around are the samples from which what happened in a gap is told: what is
// written just before it is what the gap waits for, and the sample after it tells
// what its end did.
func (v *view) around(s span) span { return span{max(s.from-1, 1), min(s.to+1, len(v.times)-1)} }

// writtenIn is what the training process wrote in a gap.
func (v *view) writtenIn(s span) float64 {
	w, sum := v.written(), 0.0
	near := v.around(s)
	for i := near.from; i <= near.to; i++ {
		if !math.IsNaN(w[i]) {
			sum += w[i] * (v.times[i] - v.times[i-1])
		}
	}
	return sum
}

// gapWrites tells what was written in gaps.
type gapWrites struct {
	large, small, all float64 // idle time of gaps with much, with a little, of all gaps
	most              float64 // what one gap wrote at most
	faster            float64 // how many times faster it wrote in gaps than between
}

// gapWrites is false where writes are unknown, or gaps are everywhere and so is
// whatever is written.
func (v *view) gapWrites() (gapWrites, bool) {
	var out gapWrites
	w := v.written()
	if _, ok := w.mean(v.train); !ok {
		return out, false
	}
	far, near := make(mask, len(v.times)), make(mask, len(v.times))
	copy(far, v.train)
	for _, s := range v.gaps() {
		about := v.around(s)
		for i := about.from; i <= about.to; i++ {
			near[i], far[i] = v.train[i], 0
		}
		sum, d := v.writtenIn(s), v.seconds(s)
		out.all += d
		out.most = max(out.most, sum)
		switch {
		case sum >= largeWrite:
			out.large += d
		case sum >= someWrite:
			out.small += d
		}
	}
	in, _ := w.mean(near)
	between, _ := w.mean(far)
	out.faster = in / max(between, 1)
	return out, far.count(len(far)) >= v.train.count(len(far))/8
}

// muchFaster is how many times more must be written in gaps than between for the
// two to belong together.
const muchFaster = 4

func askLargeWrites(v *view) (State, string) {
	w, ok := v.gapWrites()
	if !ok {
		return unknownWrites(w)
	}
	return judge(w.all > 0 && w.large >= stalled*w.all && w.faster >= muchFaster, fmt.Sprintf("up to %s are written in a gap, in gaps that make %s of the idle time", size(w.most), percent(w.large/max(w.all, 1e-9))))
}

// unknownWrites says no where nothing that matters was written anywhere.
func unknownWrites(w gapWrites) (State, string) {
	if w.all > 0 && w.most < someWrite {
		return No, ""
	}
	return Unknown, ""
}

func askSmallWrites(v *view) (State, string) {
	w, ok := v.gapWrites()
	if !ok {
		return unknownWrites(w)
	}
	return judge(w.all > 0 && w.small >= stalled*w.all && w.faster >= muchFaster, fmt.Sprintf("up to %s are written in a gap, in gaps that make %s of the idle time", size(w.most), percent(w.small/max(w.all, 1e-9))))
}

// waits is the share of the samples in which the kernel said that a process
// waits in a function with one of the words in its name.
func (v *view) waits(list []*proc, words ...string) (float64, bool) {
	in, n := 0, 0
	for _, p := range list {
		for i, s := range p.seen {
			if s == nil || s.Wait == "" || !v.train.has(i) {
				continue
			}
			n++
			for _, w := range words {
				if strings.Contains(s.Wait, w) {
					in++
					break
				}
			}
		}
	}
	if n == 0 {
		return 0, false
	}
	return float64(in) / float64(n), true
}

// accounts is the share of the idle time for which a training process must have
// computed to be what the GPU waited for.
const accounts = 0.6

func askMainRuns(v *view) (State, string) {
	d, ok := v.mainDemand(v.low())
	all, _ := v.mainDemand(v.train)
	idle, known := v.idleShare()
	if !ok || !known {
		return Unknown, ""
	}
	if v.stalls() || d >= asleep {
		return judge(d >= asleep, fmt.Sprintf("the training process computes for %s of the time in which the GPU idles", percent(d)))
	}
	// Gaps are as short as the samples, whose processor time is of both.
	return judge(all >= max(little, accounts*idle), fmt.Sprintf("the training process computes for %s of the time, the GPU idles for %s", percent(all), percent(idle)))
}

func askMainStill(v *view) (State, string) {
	d, ok := v.mainDemand(v.train)
	if !ok {
		return Unknown, ""
	}
	futex, known := v.waits(v.mains, "futex", "poll", "select")
	fact := fmt.Sprintf("the training process computes for %s of the time", percent(d))
	if known {
		fact += fmt.Sprintf(" and waits for another thread or process in %s of the samples", percent(futex))
	}
	return judge(d < little, fact)
}

func askJobStill(v *view) (State, string) {
	list := v.procs
	if len(list) == 0 {
		list = v.others
	}
	d, ok := v.sumOver(list, (*proc).demand).mean(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(d < little, fmt.Sprintf("its processes compute for %s of the time", percent(d)))
}

func askJobComputes(v *view) (State, string) {
	d, ok := v.jobDemand()
	if !ok {
		return Unknown, ""
	}
	return judge(d >= 0.5, fmt.Sprintf("the job takes %.1f processors", d))
}

// askOddMain compares the ranks' main processes as odd compares GPUs.
func askOddMain(v *view) (State, string) {
	if len(v.mains) < 2 {
		return No, ""
	}
	x := newLine(len(v.mains))
	for i, p := range v.mains {
		d, ok := p.demand().mean(v.train)
		if !ok {
			return Unknown, ""
		}
		x[i] = d
	}
	for i, d := range x {
		rest := append(append(line{}, x[:i]...), x[i+1:]...)
		mid, _ := rest.quantile(nil, 0.5)
		low, _ := rest.quantile(nil, 0)
		high, _ := rest.quantile(nil, 1)
		if far := math.Abs(d - mid); far >= 0.2 && high-low <= far/2 {
			return Yes, fmt.Sprintf("the process of rank %d computes for %s of the time, the others for %s", v.mains[i].last.Rank, percent(d), percent(mid))
		}
	}
	return No, ""
}

// replacedTime is the idle time of gaps in which workers started anew, and all
// idle time.
func (v *view) replacedTime() (replaced, all float64) {
	begins, ends := make([]int, len(v.times)), make([]int, len(v.times))
	for _, p := range v.workers {
		if helps(p) {
			continue
		}
		for i := 1; i < len(p.seen); i++ {
			if p.seen[i] != nil && p.seen[i-1] == nil && v.train.has(i-1) {
				begins[i]++
			}
			if p.seen[i] == nil && p.seen[i-1] != nil && v.train.has(i-1) {
				ends[i]++
			}
		}
	}
	for _, s := range v.gaps() {
		d := v.seconds(s)
		all += d
		b, e := 0, 0
		for i := max(s.from-1, 0); i <= min(s.to+1, len(v.times)-1); i++ {
			b += begins[i]
			e += ends[i]
		}
		if b > 0 && e > 0 {
			replaced += d
		}
	}
	return replaced, all
}

func askReplaced(v *view) (State, string) {
	if len(v.mains) == 0 {
		return Unknown, ""
	}
	r, all := v.replacedTime()
	return judge(all > 0 && r >= stalled*all, fmt.Sprintf("workers end and others start in gaps that make %s of the idle time", percent(r/max(all, 1e-9))))
}

func askRemoteWait(v *view) (State, string) {
	w, ok := v.waits(v.loaders(), "nfs", "rpc_", "ceph", "fuse", "request_wait_answer", "lustre", "ptlrpc", "cl_", "cifs", "smb", "gpfs", "9p", "sk_wait_data", "inet_csk", "tcp_")
	if !ok {
		return Unknown, ""
	}
	return judge(w >= waiting, fmt.Sprintf("those who load wait in network code in %s of the samples", percent(w)))
}

func askNetReads(v *view) (State, string) {
	r, ok := v.host.of(series.HostNetReceived).mean(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(r >= flowing, fmt.Sprintf("the host receives %s/s", size(r)))
}

func askNoDiskReads(v *view) (State, string) {
	r, ok := v.rate(v.procs, series.BytesRead)
	if !ok {
		return Unknown, ""
	}
	return judge(r < flowing, fmt.Sprintf("the job reads %s/s from local disks", size(r)))
}

// manyFaults is a rate of major faults at which waiting for them takes a tenth of
// the time or more: one costs about a tenth of a millisecond on a fast disk and
// ten on a slow one.
const manyFaults = 50

func askFaults(v *view) (State, string) {
	r, ok := v.rate(v.procs, series.MajorFaults)
	if !ok {
		return Unknown, ""
	}
	return judge(r >= manyFaults, fmt.Sprintf("%.0f page faults a second wait for a disk", r))
}

// askCacheFull compares what disks give with how the page cache grows: what is
// read and does not stay pushes out what was read before.
func askCacheFull(v *view) (State, string) {
	c := v.host.of(series.HostPageCache)
	first, last := -1, -1
	for i, x := range c {
		if math.IsNaN(x) || !v.train.has(i) {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	r, ok := v.rate(v.procs, series.BytesRead)
	if !ok || last <= first {
		return Unknown, ""
	}
	grows := (c[last] - c[first]) / (v.times[last] - v.times[first])
	return judge(r >= flowing && grows < r/4, fmt.Sprintf("the job reads %s/s from disks and the page cache grows by %s/s", size(r), size(max(0, grows))))
}

// memoryPressed is the share of the time: any wait for memory is a sign that
// pages are fetched again that were just thrown out.
const memoryPressed = 0.05

func askMemoryPressure(v *view) (State, string) {
	p, ok := v.host.of(series.HostPressureMemory).mean(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(p >= memoryPressed, fmt.Sprintf("tasks wait for memory for %s of the time (PSI)", percent(p)))
}

// crowded is the share of its time in which a process that could run does not.
const crowded = 0.3

// cpuWait is how long the training process wanted a processor and had none, and
// how long it wanted one.
func (v *view) cpuWait() (wait, wanted float64, ok bool) {
	ran, ok := v.rate(v.mains, series.CPUTime)
	d, known := v.sumOver(v.mains, (*proc).demand).mean(v.train)
	n := float64(max(1, len(v.mains)))
	return (d - ran) / n, d / n, ok && known
}

func askWaitsForCPU(v *view) (State, string) {
	wait, wanted, ok := v.cpuWait()
	if !ok {
		return Unknown, ""
	}
	return judge(wait >= crowded*wanted && wait >= leastLoss, fmt.Sprintf("the training process waits for a processor for %s of the time", percent(wait)))
}

// mostlyWaits is the share of what it wanted from which a process is held up by
// the lack of a processor rather than by what it does with one.
const mostlyWaits = 0.6

func askMostlyWaits(v *view) (State, string) {
	wait, wanted, ok := v.cpuWait()
	if !ok {
		return Unknown, ""
	}
	return judge(wait >= mostlyWaits*wanted && wait >= leastLoss, fmt.Sprintf("the training process waits for a processor for %s of the time, and has one for %s", percent(wait), percent(wanted-wait)))
}

func askOverDemand(v *view) (State, string) {
	n, ok := v.cpus()
	d, known := v.jobDemand()
	if !ok || !known {
		return Unknown, ""
	}
	return judge(d >= 1.5*n, fmt.Sprintf("the job could use %.1f processors and may take %.4g", d, n))
}

// askThreadsCrowd sees a process with more busy threads than the job may run.
func askThreadsCrowd(v *view) (State, string) {
	n, ok := v.cpus()
	if !ok {
		return Unknown, ""
	}
	for _, p := range v.procs {
		if d, known := p.demand().mean(v.train); known && d >= 1.2*n && d >= 1.5 {
			return Yes, fmt.Sprintf("process %d alone could use %.1f processors, and the job may take %.4g", p.pid, d, n)
		}
	}
	return No, ""
}

// askMainCrowded is both: the training process waits for a processor, and it is
// its own job that wants more than there are.
func askMainCrowded(v *view) (State, string) {
	wait, fact := askWaitsForCPU(v)
	over, _ := askOverDemand(v)
	if wait == Yes && over == Yes {
		return Yes, fact
	}
	return No, ""
}

func askQuota(v *view) (State, string) {
	t, ok := v.host.of(series.HostThrottledTime).mean(v.train)
	if !ok {
		return Unknown, ""
	}
	return judge(t >= leastLoss, fmt.Sprintf("the processor quota was used up for %s of the time", percent(t)))
}

func askOtherLoad(v *view) (State, string) {
	all, ok := v.host.of(series.HostCPUTime).mean(v.train)
	own, known := v.rate(v.procs, series.CPUTime)
	n, cpus := v.host.of(series.HostCPUs).quantile(nil, 0.5)
	if !ok || !known || !cpus {
		return Unknown, ""
	}
	return judge(all-own >= crowded*n, fmt.Sprintf("other work takes %.1f of %.0f processors", all-own, n))
}

// askHolderGone looks at who holds memory on the GPUs: a process that has died,
// is dying, or cannot be found, or nobody at all.
func askHolderGone(v *view) (State, string) {
	alive, gone := 0, ""
	var held float64
	for _, p := range append(append([]*proc{}, v.procs...), v.others...) {
		if !v.shares(p) {
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
		if !ok {
			return Unknown, ""
		}
		return judge(used >= smallMemory, fmt.Sprintf("%s are taken and no process holds them", size(used)))
	}
	return judge(gone != "" && alive == 0, gone)
}

// tenants are processes of other jobs that compute on the view's GPUs, with
// more than a display takes.
func (v *view) tenants() []*proc {
	if len(v.procs) == 0 {
		return nil
	}
	var out []*proc
	for _, p := range v.others {
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

// useBusy is the utilisation by some processes, in the mean.
func (v *view) useBusy(list []*proc) (float64, bool) {
	sum, n := 0.0, 0
	for i := range v.times {
		x, any := 0.0, false
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

// askUnused compares the GPUs that a job was given with those that it is on.
func askUnused(v *view) (State, string) {
	asked := v.asks()
	if len(asked) == 0 || len(v.mains) == 0 {
		return Unknown, ""
	}
	used := map[string]bool{}
	for _, p := range v.procs {
		for id := range p.uses {
			used[id] = true
		}
	}
	for _, g := range asked {
		if !used[g.id] {
			return judge(len(used) > 0, fmt.Sprintf("GPU %d was given to the job, and it holds nothing there", g.index))
		}
	}
	return No, ""
}

func askElsewhere(v *view) (State, string) {
	asked := v.asks()
	for _, g := range asked {
		b, ok := g.lines.of(series.Busy).mean(v.train)
		m, known := g.of(series.MemoryUsed).quantile(v.train, 0.5)
		if ok && known && b < quiet && m < smallMemory {
			for _, other := range v.everyGPU() {
				for _, p := range v.procs {
					if p.uses[other.id] && other.id != g.id {
						return Yes, fmt.Sprintf("GPU %d is empty, and process %d is on GPU %d", g.index, p.pid, other.index)
					}
				}
			}
		}
	}
	return No, ""
}
