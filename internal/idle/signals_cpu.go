package idle

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/series"
)

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
	does := "computes"
	if v.ranOf(v.mains) < 1-leastLoss {
		does = "computes or waits for a processor"
	}
	return judge(d >= saturated, fmt.Sprintf("the training process %s for %s of the time", does, percent(d)))
}

// askMainAlternates asks more than askMainRuns: that it rests, too, and where gaps are
// long enough to be told apart that it does so while the GPU works.
func askMainAlternates(v *view) (State, string) {
	d, ok := v.mainDemand(v.train)
	if !ok {
		return Unknown, ""
	}
	runs, fact := askMainRuns(v)
	idle, _ := v.idleShare()
	if runs != Yes || d >= tireless || d > idle+asleep*(1-idle) {
		return runs.orNo(), "" // at work it would compute, too
	}
	if !v.stalls() {
		return Yes, fact
	}
	low, _ := v.mainDemand(v.low())
	high, _ := v.mainDemand(v.high())
	return judge(low > high, fmt.Sprintf("the training process computes for %s of the time in gaps and for %s at work", percent(low), percent(high)))
}

// byChance is how many standard deviations a correlation must lie from none: noise
// reaches that in one window of two hundred.
const byChance = 2.6

// follows is the least correlation of a process that computes while the GPU idles, in
// samples no further apart than a few steps; the simulator gives 0.4 to 0.8.
const follows = 0.4

// askMainFollows sees a process that computes more, the more the GPU idles, sample by
// sample: that it computes for as long as the GPU idles may be chance, and is where
// gaps are no more than what launches take. Seconds are compared and not shares of an
// interval: utilisation is of the driver's last period, and what the process computed
// before that is as much noise in a short interval as in a long one.
func askMainFollows(v *view) (State, string) {
	main, busy := v.sumOver(v.mains, (*proc).mainDemand), v.busy()
	mb, okB := busy.mean(v.train)
	mc, okC := main.mean(v.train)
	if !okB || !okC {
		return Unknown, ""
	}
	var gc, gg, cc, n float64
	for i := 1; i < len(main); i++ {
		if b, c := busy[i], main[i]; v.train.has(i) && !math.IsNaN(b) && !math.IsNaN(c) {
			gap, computed := mb-b, (c-mc)*(v.times[i]-v.times[i-1])
			gc += gap * computed
			gg += gap * gap
			cc += computed * computed
			n++
		}
	}
	if gg == 0 || cc == 0 {
		return Unknown, ""
	}
	r, noise := gc/math.Sqrt(gg*cc), byChance/math.Sqrt(n)
	if n < 2*leastSamples || r < noise && r+noise >= follows {
		return Unknown, "" // too few samples to tell the two apart
	}
	return judge(r >= noise, fmt.Sprintf("the more the GPU idles in a sample, the more the training process computes: their correlation is %.2f over %.0f samples", r, n))
}

// askMainAccounts sees a process that computes for longer than launching alone takes, or
// for as long as the GPU idles and hardly longer.
func askMainAccounts(v *view) (State, string) {
	d, ok := v.mainDemand(v.train)
	idle, known := v.idleShare()
	if !ok || !known {
		return Unknown, ""
	}
	return judge(d >= asleep || d >= accounts*idle && d-idle < little*(1-idle), fmt.Sprintf("the training process computes for %s of the time, the GPU idles for %s", percent(d), percent(idle)))
}

// askMainRests sees a process that computes in gaps and hardly between them: what it
// does then is for the GPU.
func askMainRests(v *view) (State, string) {
	s, _ := askMainAlternates(v)
	if s != Yes || !v.stalls() {
		return s.orNo(), ""
	}
	high, _ := v.mainDemand(v.high())
	return judge(high < asleep, fmt.Sprintf("the training process computes for %s of the time in which the GPU works", percent(high)))
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
	if v.stalls() {
		return judge(d >= accounts, fmt.Sprintf("the training process computes for %s of the time in which the GPU idles", percent(d)))
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
	fact := fmt.Sprintf("its processes compute for %s of the time", percent(d))
	if share := v.stopped(list); share >= mostSamples {
		fact += fmt.Sprintf(" and are stopped for %s of it (state T; kill -CONT lets them go on)", percent(share))
	}
	return judge(d < little, fact)
}

// stopped is the part of its processes that somebody has stopped, in the mean.
func (v *view) stopped(list []*proc) float64 {
	share, _ := meanOver(list, func(p *proc) (float64, bool) {
		t, _ := p.state("Tt")
		return t.mean(v.train)
	})
	return share
}

func askJobComputes(v *view) (State, string) {
	d, ok := v.jobDemand()
	if !ok {
		return Unknown, ""
	}
	return judge(d >= 0.5, fmt.Sprintf("the job takes %.1f processors", d))
}

// oddMain compares the ranks' main processes as odd compares GPUs. It is the one that
// computes for another time than the others, nil without one.
func (v *view) oddMain() (who *proc, its, theirs float64, known bool) {
	if len(v.ranks) < 2 {
		return nil, 0, 0, true
	}
	x := v.room.line(len(v.ranks))
	for i, p := range v.ranks {
		d, ok := p.demand().mean(v.train)
		if !ok {
			return nil, 0, 0, false
		}
		x[i] = d
	}
	sorted := x.known(nil)
	for i, d := range x {
		at, _ := slices.BinarySearch(sorted, d)
		other := func(k int) float64 { // the k-th of those without d
			if k >= at {
				k++
			}
			return sorted[k]
		}
		last := len(sorted) - 2
		mid, low, high := other((last+1)/2), other(0), other(last)
		if far := math.Abs(d - mid); far >= 0.2 && high-low <= far/2 {
			return v.ranks[i], d, mid, true
		}
	}
	return nil, 0, 0, true
}

func askOddMain(v *view) (State, string) {
	p, its, theirs, ok := v.oddMain()
	switch {
	case !ok:
		return Unknown, ""
	case p == nil:
		return No, ""
	}
	return Yes, fmt.Sprintf("the process of rank %d computes for %s of the time, the others for %s", p.last.Rank, percent(its), percent(theirs))
}

// askSlowProcess sees that the rank whose GPU idles is the one whose process computes
// for another time than the others: what it does there is what all wait for.
func askSlowProcess(v *view) (State, string) {
	s, fact := askOddMain(v)
	if s != Yes {
		return s, ""
	}
	if idles, _ := askOddBusy(v); idles != Yes {
		return idles.orNo(), ""
	}
	x, _ := v.busyShares()
	p, _, _, _ := v.oddMain()
	return judge(p.usesDevice(v.peers[slices.Index(x, slices.Min(x))].id), fact)
}

// crowded is the share of its time in which a process that could run does not.
const crowded = 0.3

// cpuWait is how long some processes wanted a processor and had none, and how long
// they wanted one, in the mean.
func (v *view) cpuWait(list []*proc) (wait, wanted float64, ok bool) {
	ran, ok := v.rate(list, series.CPUTime)
	d, known := v.sumOver(list, (*proc).demand).mean(v.train)
	n := float64(max(1, len(list)))
	return (d - ran) / n, d / n, ok && known
}

func askWaitsForCPU(v *view) (State, string) {
	wait, wanted, ok := v.cpuWait(v.mains)
	if !ok {
		return Unknown, ""
	}
	return judge(wait >= crowded*wanted && wait >= leastLoss, fmt.Sprintf("the training process waits for a processor for %s of the time", percent(wait)))
}

// mostlyWaits is the share of what it wanted from which a process is held up by
// the lack of a processor rather than by what it does with one.
const mostlyWaits = 0.6

// unserved is the part of what it wants below which nothing can be said of what a
// process does with a processor.
const unserved = 0.2

func askUnserved(v *view) (State, string) {
	wait, wanted, ok := v.cpuWait(v.mains)
	if !ok {
		return Unknown, ""
	}
	return judge(wanted-wait < unserved*wanted && wait >= leastLoss, fmt.Sprintf("the training process has a processor for %s of the time that it wants one", percent(v.ranOf(v.mains))))
}

func askMostlyWaits(v *view) (State, string) {
	return mostlyWaiting(v, v.mains, "the training process")
}

// askWorkersMostlyWait asks it of workers that have something to do all the time.
func askWorkersMostlyWait(v *view) (State, string) {
	if s, _ := askSaturated(v); s != Yes {
		return s, ""
	}
	return mostlyWaiting(v, v.active(), "a worker")
}

func mostlyWaiting(v *view, list []*proc, who string) (State, string) {
	wait, wanted, ok := v.cpuWait(list)
	if !ok {
		return Unknown, ""
	}
	return judge(wait >= mostlyWaits*wanted && wait >= leastLoss, fmt.Sprintf("%s waits for a processor for %s of the time, and has one for %s", who, percent(wait), percent(wanted-wait)))
}

// askThreadsSaturated sees loaders that are threads: those of tf.data, DALI and FFCV.
func askThreadsSaturated(v *view) (State, string) {
	n, ok := v.cpus()
	main, known := meanOver(v.mains, func(p *proc) (float64, bool) { return p.of(series.MainCPUTime).mean(v.train) })
	all, counted := v.rate(v.mains, series.CPUTime)
	if !ok || !known || !counted {
		return Unknown, ""
	}
	threads := all - main*float64(len(v.mains))
	return judge(main < asleep && threads >= saturated*n, fmt.Sprintf("its threads take %.1f of %.4g processors, its main thread computes for %s of the time", threads, n, percent(main)))
}

// severalCopies is how many processors one process takes at least that does more than
// to copy: the driver's copy from pageable memory is one thread's.
const severalCopies = 2

func askManyThreads(v *view) (State, string) {
	d, ok := meanOver(v.mains, func(p *proc) (float64, bool) { return p.of(series.CPUTime).mean(v.low()) })
	if !ok {
		return Unknown, ""
	}
	return judge(d >= severalCopies, fmt.Sprintf("the training process takes %.1f processors while the GPU idles", d))
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

// askWorkersCrowded sees workers that are ready to run for much longer than they
// run.
func askWorkersCrowded(v *view) (State, string) {
	wait, wanted, ok := v.cpuWait(v.active())
	if !ok {
		return Unknown, ""
	}
	return judge(wait >= crowded*wanted, fmt.Sprintf("a worker waits for a processor for %s of the time, and has one for %s", percent(wait), percent(wanted-wait)))
}

// askLaunchesOnly is both: a process without a pause, and kernels that do little.
func askLaunchesOnly(v *view) (State, string) {
	full, fact := askMainFull(v)
	low, more := askLowPower(v)
	if full == Yes && low == Yes {
		return Yes, fact + "; " + more
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

func askOthersMore(v *view) (State, string) {
	others, own, n, ok := v.hostLoad()
	if !ok {
		return Unknown, ""
	}
	return judge(others >= crowded*n && others > own, fmt.Sprintf("other work takes %.1f of %.0f processors, the job %.1f", others, n, own))
}

// askOthersCrowd sees that other work takes more processors than the job lacks on its
// own: with the rest of those that it may take it would wait less than half as long.
func askOthersCrowd(v *view) (State, string) {
	others, own, n, ok := v.hostLoad()
	may, known := v.cpus()
	d, counted := v.jobDemand()
	if !ok || !known || !counted {
		return Unknown, ""
	}
	return judge(others >= crowded*n && others > d-may, fmt.Sprintf("other work takes %.1f of %.0f processors, the job %.1f; it wants %.1f", others, n, own, d))
}

// hostLoad is how many of n processors other work and the job take.
func (v *view) hostLoad() (others, own, n float64, ok bool) {
	all, ok := v.host.of(series.HostCPUTime).mean(v.train)
	own, known := v.rate(v.procs, series.CPUTime)
	n, cpus := v.host.of(series.HostCPUs).quantile(nil, 0.5)
	return max(0, all-own), own, n, ok && known && cpus
}
