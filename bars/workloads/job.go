package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// A job is the training process of one run.
type job struct {
	dir   string
	gpus  []gpu
	rank  int
	g     gpu // the one of this process
	r     *rand.Rand
	cpus  int
	end   time.Time
	round int64 // collectives so far
}

func newJob(dir string, seed uint64, rank int, seconds float64) (*job, error) {
	gpus, err := openGPUs(dir)
	if err != nil {
		return nil, err
	}
	j := &job{dir: dir, gpus: gpus, rank: rank, g: gpus[rank], cpus: runtime.NumCPU(),
		// All ranks draw the same numbers.
		r: rand.New(rand.NewPCG(seed, 1)), end: time.Now().Add(time.Duration(seconds * float64(time.Second)))}
	j.g.set(wPID, int64(os.Getpid()))
	j.g.set(wClock, int64(j.between(0.96, 1)*topClock))
	j.g.set(wPower, int64(j.between(0.58, 0.93)*limit))
	j.g.set(wSpin, int64(j.between(0.2, 0.3)*limit))
	j.g.set(wMemory, int64(j.between(4000, 60000)))
	j.g.set(wWidth, 16)
	return j, nil
}

func (j *job) between(a, b float64) float64 { return a + (b-a)*j.r.Float64() }

// about is a time that varies by a share around its mean, differently each time.
func about(mean, vary float64) time.Duration {
	return time.Duration(max(0.2, 1+vary*rand.NormFloat64()) * mean * float64(time.Second))
}

func (j *job) goesOn() bool { return time.Now().Before(j.end) }

// A step is how the training process spends one step.
type step struct {
	gpu   float64                   // seconds of kernels
	ahead bool                      // it may queue a step before the last one has ended
	vary  float64                   // of both
	gap   func(j *job) error        // between steps, with the GPU's queue empty unless ahead
	after func(j *job, n int) error // after step n, with the queue drained if it stalls
}

// train makes steps until the end.
func (j *job) train(s step) error {
	for n := 1; j.goesOn(); n++ {
		if s.ahead {
			j.g.wait(time.Duration(s.gpu * float64(time.Second)))
		} else {
			j.g.wait(0)
		}
		if s.gap != nil {
			if err := s.gap(j); err != nil {
				return err
			}
		}
		j.g.launch(about(s.gpu, s.vary))
		if s.after != nil {
			if err := s.after(j, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// load is a gap in which the next batch is waited for.
func load(l *loader) func(*job) error { return func(*job) error { return l.next() } }

// easy are workers that keep ahead of steps of that many seconds.
func (j *job) easy(step float64) (*loader, error) {
	n := 1 + j.r.IntN(3)
	// Together they compute for a part of one processor.
	return newLoader(j.dir, n, task{kind: "decode", cpu: time.Duration(j.between(0.05, 0.3) * step * float64(time.Second))})
}

// every counts seconds of GPU work and says when something is due.
func every(seconds float64) func() bool {
	next := time.Now().Add(about(seconds, 0.1))
	return func() bool {
		if time.Now().Before(next) {
			return false
		}
		next = time.Now().Add(about(seconds, 0.1))
		return true
	}
}

// ranks starts the other ranks of a job on n GPUs; rank 0 is this process.
func (j *job) ranks(n int, args []string) error {
	if j.rank > 0 {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		c := exec.Command(self, append(args, fmt.Sprint(i))...)
		c.Env = append(os.Environ(), fmt.Sprintf("RANK=%d", i), fmt.Sprintf("WORLD_SIZE=%d", n))
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of that many bytes to the disk and waits for it.
func (j *job) write(name string, bytes int) error {
	f, err := os.Create(filepath.Join(j.dir, name))
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for bytes > 0 {
		n, err := f.Write(block[:min(bytes, len(block))])
		if err != nil {
			return err
		}
		bytes -= n
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}
