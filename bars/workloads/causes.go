package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// A scene is what happens in a run whose GPU idles for a known cause: as the
// reference describes it, with every number drawn from the run's seed.
type scene struct {
	cause string // as the program calls it; "" for a healthy job
	gpus  int
	play  func(j *job, args []string) error
	env   []string // of the job
	// tenant and load start processes that are not the job's.
	tenant, load bool
}

var scenes = []scene{
	{cause: "", play: healthy},
	{cause: "few-workers", play: fewWorkers},
	{cause: "slow-disk", play: slowDisk},
	{cause: "", play: healthyWithDips},
	{cause: "step-sync", play: stepSync},
	{cause: "small-kernels", play: smallKernels},
	{cause: "cpu-decode", play: cpuDecode},
	{cause: "pageable-copies", play: pageableCopies},
	{cause: "checkpoint-stall", play: checkpoint},
	{cause: "logging-stall", play: logging},
	{cause: "", play: healthySpinning},
	{cause: "evaluation", play: evaluation},
	{cause: "epoch-boundary", play: epochs},
	{cause: "no-workers", play: noWorkers},
	{cause: "straggler", gpus: 3, play: straggler},
	{cause: "communication", gpus: 2, play: communication},
	{cause: "hung-collective", gpus: 2, play: hung},
	{cause: "throttled-power", play: throttled(0x4, 0.96, 1)},
	{cause: "throttled-heat", play: throttled(0x20, 0.5, 0.85)},
	{cause: "clocks-lowered", play: throttled(0x2, 0.5, 0.65)},
	{cause: "idle-reservation", play: holding(2000, 60000)},
	{cause: "memory-full-idle", play: holding(76000, 80500)},
	{cause: "zombie-context", play: zombie},
	{cause: "page-cache-thrash", play: thrash},
	{cause: "narrow-link", play: narrowLink},
	{cause: "cpu-oversubscription", play: oversubscribed},
	{cause: "cpu-only", play: cpuOnly},
	{cause: "wrong-device", gpus: 2, play: healthy, env: []string{"CUDA_VISIBLE_DEVICES=1"}},
	{cause: "other-tenant", play: shared, tenant: true},
	{cause: "other-load", play: stepSync, load: true},
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func healthy(j *job, _ []string) error {
	s := j.between(0.05, 0.6)
	l, err := j.easy(s)
	if err != nil {
		return err
	}
	return j.train(step{gpu: s, ahead: true, vary: 0.05, gap: load(l)})
}

// healthyWithDips stalls now and then for less than a tenth of the time.
func healthyWithDips(j *job, _ []string) error {
	s := j.between(0.05, 0.4)
	l, err := j.easy(s)
	if err != nil {
		return err
	}
	dip := j.between(0.1, 0.35)
	due := every(dip / j.between(0.03, 0.06))
	bytes := int(j.between(100, 3e6))
	return j.train(step{gpu: s, ahead: true, vary: 0.05, gap: load(l), after: func(j *job, _ int) error {
		if !due() {
			return nil
		}
		j.g.wait(0)
		time.Sleep(seconds(dip))
		return j.write("metrics", bytes)
	}})
}

// healthySpinning waits for the GPU as CUDA does by default: it spins.
func healthySpinning(j *job, _ []string) error {
	s := j.between(0.05, 0.4)
	for j.goesOn() {
		for j.g.queued() > seconds(s) {
			burn(time.Millisecond)
		}
		j.g.launch(about(s, 0.05))
	}
	return nil
}

func fewWorkers(j *job, _ []string) error {
	batch, idle := j.between(0.05, 0.5), j.between(0.2, 0.75)
	n := 1 + j.r.IntN(max(1, j.cpus-1))
	l, err := newLoader(j.dir, n, task{kind: "decode", cpu: seconds(batch)})
	if err != nil {
		return err
	}
	return j.train(step{gpu: batch / float64(n) * (1 - idle), vary: 0.1, ahead: true, gap: load(l)})
}

func cpuDecode(j *job, _ []string) error {
	batch, idle := j.between(0.05, 0.5), j.between(0.2, 0.75)
	l, err := newLoader(j.dir, j.cpus, task{kind: "decode", cpu: seconds(batch)})
	if err != nil {
		return err
	}
	return j.train(step{gpu: batch / float64(j.cpus) * (1 - idle), vary: 0.1, ahead: true, gap: load(l)})
}

// slowDisk measures how long the disk needs for a batch and computes for less.
func slowDisk(j *job, _ []string) error { return j.disk("disk") }

func thrash(j *job, _ []string) error { return j.disk("thrash") }

func (j *job) disk(kind string) error {
	bytes := int(j.between(4, 24)) << 20
	data, err := openData(filepath.Join(j.dir, dataName), kind == "thrash")
	if err != nil {
		return err
	}
	read := data.direct
	if kind == "thrash" {
		bytes /= 4
		read = data.touch
	}
	// What a batch takes while nobody else reads: the least of some.
	took := time.Hour.Seconds()
	for range 4 {
		began := time.Now()
		if err := read(bytes); err != nil {
			return err
		}
		took = min(took, time.Since(began).Seconds())
	}
	l, err := newLoader(j.dir, 1+j.r.IntN(3), task{kind: kind, cpu: seconds(took * j.between(0.02, 0.1)), bytes: bytes})
	if err != nil {
		return err
	}
	// Workers slow each other down, so that the wait is longer than this at
	// least with several.
	return j.train(step{gpu: took / float64(l.n) * j.between(0.15, 0.5), vary: 0.1, ahead: true, gap: load(l)})
}

func noWorkers(j *job, _ []string) error {
	s, idle := j.between(0.05, 0.5), j.between(0.3, 0.75)
	data, err := os.Open(filepath.Join(j.dir, dataName))
	if err != nil {
		return err
	}
	defer data.Close()
	batch := make([]byte, int(j.between(1, 8))<<20)
	return j.train(step{gpu: s, vary: 0.1, gap: func(j *job) error {
		if _, err := data.ReadAt(batch, int64(j.r.IntN(dataBytes-len(batch)))); err != nil {
			return err
		}
		burn(about(s*idle/(1-idle), 0.1))
		return nil
	}})
}

func stepSync(j *job, _ []string) error {
	s, idle := j.between(0.03, 0.3), j.between(0.18, 0.5)
	l, err := j.easy(s / (1 - idle))
	if err != nil {
		return err
	}
	return j.train(step{gpu: s, vary: 0.05, gap: func(*job) error {
		burn(about(s*idle/(1-idle), 0.1))
		return l.next()
	}})
}

// smallKernels launches kernels that are about as short as their launch.
func smallKernels(j *job, _ []string) error {
	kernel, idle := j.between(0.0005, 0.003), j.between(0.05, 0.4)
	j.g.set(wPower, int64(j.between(0.17, 0.42)*limit))
	l, err := j.easy(0.3)
	if err != nil {
		return err
	}
	for n := 0; j.goesOn(); n++ {
		burn(about(kernel, 0.1))
		j.g.launch(about(kernel*(1-idle), 0.1))
		if n%200 == 0 {
			if err := l.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// pageableCopies copies each batch twice, as the driver does from memory that is
// not pinned: into its own buffer, and from there over the link.
func pageableCopies(j *job, _ []string) error {
	s, idle := j.between(0.05, 0.4), j.between(0.2, 0.6)
	l, err := j.easy(s / (1 - idle))
	if err != nil {
		return err
	}
	from, to := make([]byte, 32<<20), make([]byte, 32<<20)
	return j.train(step{gpu: s, vary: 0.05, gap: func(j *job) error {
		if err := l.next(); err != nil {
			return err
		}
		began, end, bytes := time.Now(), threadTime()+about(s*idle/(1-idle), 0.1), 0
		for threadTime() < end {
			bytes += copy(to, from)
			j.g.set(wReceiving, int64(float64(bytes)/1024/time.Since(began).Seconds()))
		}
		j.g.set(wReceiving, 0)
		return nil
	}})
}

func narrowLink(j *job, _ []string) error {
	s, idle := j.between(0.05, 0.4), j.between(0.2, 0.6)
	l, err := j.easy(s / (1 - idle))
	if err != nil {
		return err
	}
	j.g.set(wWidth, []int64{1, 2, 4, 8}[j.r.IntN(4)])
	rate := j.g.get(wWidth) * 3_800_000 / 1 // KiB/s that a lane of generation 5 carries
	return j.train(step{gpu: s, vary: 0.05, gap: func(j *job) error {
		if err := l.next(); err != nil {
			return err
		}
		j.g.set(wReceiving, rate)
		time.Sleep(about(s*idle/(1-idle), 0.1))
		j.g.set(wReceiving, 0)
		return nil
	}})
}

func checkpoint(j *job, _ []string) error {
	s := j.between(0.05, 0.3)
	l, err := j.easy(s)
	if err != nil {
		return err
	}
	pickle, bytes := j.between(0.4, 1.2), int(j.between(16, 64))<<20
	due := every(pickle * j.between(2.5, 5))
	return j.train(step{gpu: s, vary: 0.05, ahead: true, gap: load(l), after: func(j *job, _ int) error {
		if !due() {
			return nil
		}
		j.g.wait(0)
		burn(seconds(pickle))
		return j.write("model.pt", bytes)
	}})
}

func logging(j *job, _ []string) error {
	s := j.between(0.05, 0.3)
	l, err := j.easy(s)
	if err != nil {
		return err
	}
	draw, bytes := j.between(0.3, 0.8), int(j.between(2e3, 3e5))
	due := every(draw * j.between(1.5, 4))
	return j.train(step{gpu: s, vary: 0.05, ahead: true, gap: load(l), after: func(j *job, _ int) error {
		if !due() {
			return nil
		}
		j.g.wait(0)
		burn(seconds(draw))
		return j.write("events", bytes)
	}})
}

func epochs(j *job, _ []string) error {
	s := j.between(0.05, 0.3)
	l, err := j.easy(s)
	if err != nil {
		return err
	}
	l.task.start = seconds(j.between(0.4, 1))
	due := every(j.between(1.5, 3.5))
	return j.train(step{gpu: s, vary: 0.05, ahead: true, gap: func(*job) error { return l.next() }, after: func(j *job, _ int) error {
		if !due() {
			return nil
		}
		j.g.wait(0)
		if err := l.end(); err != nil {
			return err
		}
		l, err = newLoader(j.dir, l.n, l.task)
		return err
	}})
}

func evaluation(j *job, _ []string) error {
	s := j.between(0.05, 0.3)
	l, err := j.easy(s)
	if err != nil {
		return err
	}
	power, memory := j.g.get(wPower), j.g.get(wMemory)
	low, less := j.between(0.55, 0.8), j.between(0.4, 0.85)
	evaluates, due := false, every(j.between(2.5, 4))
	return j.train(step{gpu: s, vary: 0.05, ahead: true, gap: load(l), after: func(j *job, _ int) error {
		if !due() {
			return nil
		}
		evaluates = !evaluates
		if j.g.set(wPower, power); evaluates {
			j.g.set(wPower, int64(float64(power)*low))
		}
		if j.g.set(wMemory, memory); evaluates {
			j.g.set(wMemory, int64(float64(memory)*less))
		}
		return nil
	}})
}

// throttled runs at lower clocks for a reason.
func throttled(reason int64, low, high float64) func(*job, []string) error {
	return func(j *job, _ []string) error {
		clock := j.between(0.5, 0.85)
		j.g.set(wClock, int64(clock*topClock))
		j.g.set(wReasons, reason)
		j.g.set(wPower, int64(j.between(low, high)*limit))
		s := j.between(0.05, 0.4) / clock
		l, err := j.easy(s)
		if err != nil {
			return err
		}
		return j.train(step{gpu: s, vary: 0.05, ahead: true, gap: load(l)})
	}
}

func holding(low, high float64) func(*job, []string) error {
	return func(j *job, _ []string) error {
		j.g.set(wMemory, int64(j.between(low, high)))
		time.Sleep(time.Until(j.end))
		return nil
	}
}

// zombie is a launcher whose child had the GPU and has died.
func zombie(j *job, _ []string) error {
	c := exec.Command("/bin/true")
	if err := c.Start(); err != nil {
		return err
	}
	j.g.set(wPID, int64(c.Process.Pid))
	time.Sleep(time.Until(j.end)) // without waiting for it
	return nil
}

// oversubscribed runs more threads than there are processors, and needs one for
// itself in each step.
func oversubscribed(j *job, _ []string) error {
	s := j.between(0.05, 0.2)
	n := j.cpus * (2 + j.r.IntN(3))
	l, err := newLoader(j.dir, n, task{kind: "decode", cpu: seconds(j.between(0.5, 2))})
	if err != nil {
		return err
	}
	_ = l // its batches are not waited for: they only take processors
	go func() {
		for l.next() == nil {
		}
	}()
	return j.train(step{gpu: s, vary: 0.05, gap: func(*job) error {
		burn(seconds(s * 0.2))
		return nil
	}})
}

func cpuOnly(j *job, _ []string) error {
	j.g.set(wPID, 0)
	j.g.set(wMemory, 0)
	if j.r.IntN(2) == 0 { // a context, and nothing in it
		j.g.set(wPID, int64(os.Getpid()))
		j.g.set(wMemory, int64(j.between(250, 480)))
	}
	for j.goesOn() {
		burn(100 * time.Millisecond)
	}
	return nil
}

// shared gets the GPU for a part of the time.
func shared(j *job, _ []string) error {
	s, theirs := j.between(0.05, 0.3), j.between(0.25, 0.6)
	j.g.set(wTenantBusy, int64(100*theirs))
	l, err := j.easy(s)
	if err != nil {
		return err
	}
	return j.train(step{gpu: s / (1 - theirs), vary: 0.05, ahead: true, gap: load(l)})
}

// tenant is a process of somebody else on the GPU.
func tenant(dir string, until time.Duration) error {
	gpus, err := openGPUs(dir)
	if err != nil {
		return err
	}
	gpus[0].set(wTenant, int64(os.Getpid()))
	for end := time.Now().Add(until); time.Now().Before(end); {
		burn(5 * time.Millisecond)
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// hold keeps a process from outliving the bar.
var hold = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
