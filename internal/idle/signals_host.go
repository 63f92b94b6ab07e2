package idle

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Limits of host signals.
const (
	// saturated is the share of a processor that a worker without a pause
	// takes or waits for; the catalogue says 90 %, of which the hand-over of a
	// batch and the ticks of the clock take some.
	saturated = 0.8
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
	spareCPU = 0.75
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

func askCPUsLeft(v *view) (State, string) {
	n, ok := v.cpus()
	d, known := v.jobDemand()
	if !ok || !known {
		return Unknown, ""
	}
	return judge(n-d >= spareCPU, fmt.Sprintf("the job takes %.1f of %.4g processors", d, n))
}

func askNoCPUsLeft(v *view) (State, string) {
	n, ok := v.cpus()
	d, known := v.jobDemand()
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
		return judge(d >= little && d < saturated, fmt.Sprintf("the training process computes for %s of the time", percent(d)))
	}
	low, _ := v.mainDemand(v.low())
	high, _ := v.mainDemand(v.high())
	return judge(d >= little && d < saturated && low > high, fmt.Sprintf("the training process computes for %s of the time in gaps and for %s at work", percent(low), percent(high)))
}

func askMainReads(v *view) (State, string) {
	asked, ok := v.rate(v.mains, series.BytesAsked)
	disk, known := v.rate(v.mains, series.BytesRead)
	if !ok && !known {
		return Unknown, ""
	}
	r := max(asked, disk)
	return judge(r >= flowing, fmt.Sprintf("the training process reads %s/s", size(r)))
}

// gapWrites tells the gaps in which something was written: the idle time of
// those with much and with little, all idle time, the most that one gap wrote,
// and the mean rate between gaps.
func (v *view) gapWrites() (large, small, all, most, between float64, ok bool) {
	w := v.written()
	if _, ok = w.mean(v.train); !ok {
		return
	}
	near := make(mask, len(v.times))
	for _, s := range v.gaps() {
		sum := 0.0
		// What is written just before a gap is what the gap waits for, and the
		// sample after it tells what its end wrote.
		for i := max(s.from-1, 1); i <= min(s.to+1, len(v.times)-1); i++ {
			near[i] = true
			if !math.IsNaN(w[i]) {
				sum += w[i] * (v.times[i] - v.times[i-1])
			}
		}
		d := v.seconds(s)
		all += d
		most = max(most, sum)
		switch {
		case sum >= largeWrite:
			large += d
		case sum >= someWrite:
			small += d
		}
	}
	for i := range near {
		near[i] = !near[i]
	}
	between, _ = w.mean(v.train.and(near))
	return
}

func askLargeWrites(v *view) (State, string) {
	large, _, all, most, _, ok := v.gapWrites()
	if !ok {
		return Unknown, ""
	}
	return judge(all > 0 && large >= stalled*all, fmt.Sprintf("up to %s are written in a gap, in gaps that make %s of the idle time", size(most), percent(large/max(all, 1e-9))))
}

func askSmallWrites(v *view) (State, string) {
	_, small, all, most, between, ok := v.gapWrites()
	if !ok {
		return Unknown, ""
	}
	return judge(all > 0 && small >= stalled*all && most > 4*between, fmt.Sprintf("up to %s are written in a gap, in gaps that make %s of the idle time", size(most), percent(small/max(all, 1e-9))))
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
