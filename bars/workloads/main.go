// Command workloads runs training jobs whose GPU idles for a known cause, watches
// each with `plimsoll run`, and compares what it says.
//
// The jobs are real processes that compute, sleep, read and write; only the GPU
// is not: its counters follow what the processes launch, through the fake library
// of internal/monitor/nvml/fake. Nothing here knows a limit of the rules.
//
//	go build -o plimsoll ./cmd/plimsoll
//	go run ./internal/monitor/nvml/fake/build fakelib
//	go run ./bars/workloads -plimsoll ./plimsoll -fake fakelib
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

func init() {
	// What a process does is seen by its main thread.
	runtime.LockOSThread()
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "workloads:", err)
		os.Exit(1)
	}
}

var errMissed = errors.New("the bar is missed")

func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "play":
			return play(args)
		case "worker":
			t, err := taskOf(args[2:])
			if err != nil {
				return err
			}
			return work(args[1], t)
		case "tenant":
			d, err := time.ParseDuration(args[2])
			if err != nil {
				return err
			}
			return tenant(args[1], d)
		case "load":
			for {
				burn(time.Second)
			}
		}
	}
	return bar(args)
}

// play is the training process: play DIR SCENE SEED SECONDS [RANK].
func play(args []string) error {
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(args[3], 10, 64)
	if err != nil {
		return err
	}
	length, err := strconv.ParseFloat(args[4], 64)
	if err != nil {
		return err
	}
	rank := 0
	if len(args) > 5 {
		if rank, err = strconv.Atoi(args[5]); err != nil {
			return err
		}
	}
	j, err := newJob(args[1], seed, rank, length)
	if err != nil {
		return err
	}
	return scenes[n].play(j, args[:5])
}

type options struct {
	plimsoll, fake, dir, interval, only string
	first, runs                         uint64
	seconds                             float64
	verbose                             bool
}

func bar(args []string) error {
	var o options
	f := flag.NewFlagSet("workloads", flag.ContinueOnError)
	f.StringVar(&o.plimsoll, "plimsoll", "plimsoll", "the program")
	f.StringVar(&o.fake, "fake", "", "folder of the fake libnvidia-ml.so.1")
	f.StringVar(&o.dir, "dir", "", "folder on a disk for data and answers; a temporary one without")
	f.StringVar(&o.interval, "interval", "", "mean interval of samples; without it what run does by itself")
	f.StringVar(&o.only, "only", "", "one cause only")
	f.Uint64Var(&o.first, "first", 1, "first seed")
	f.Uint64Var(&o.runs, "runs", 60, "number of runs")
	f.Float64Var(&o.seconds, "seconds", 12, "length of a run")
	f.BoolVar(&o.verbose, "v", false, "show the evidence")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "workloads")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	if err := makeData(filepath.Join(o.dir, dataName)); err != nil {
		return err
	}
	right, alarms, all, healthy := 0, 0, 0, 0
	for seed := o.first; seed < o.first+o.runs; seed++ {
		// Seeds go through all scenes, in an order of their own in each round.
		round := seed / uint64(len(scenes))
		order := rand.New(rand.NewPCG(round, 2)).Perm(len(scenes))
		n := order[seed%uint64(len(scenes))]
		want := scenes[n].cause
		if o.only != "" && want != o.only {
			continue
		}
		a, err := o.one(n, seed)
		if err != nil {
			return fmt.Errorf("seed %d, %q: %w", seed, want, err)
		}
		got := ""
		if len(a.Findings) > 0 {
			got = a.Findings[0].Cause
		}
		all++
		mark := "WRONG"
		if got == want {
			right++
			mark = "right"
		}
		if want == "" {
			healthy++
			if got != "" {
				alarms++
			}
		}
		fmt.Printf("%s %3d %-22s %-22s %s\n", mark, seed, orHealthy(want), orHealthy(got), a.Verdict)
		if o.verbose || mark == "WRONG" {
			a.show()
		}
	}
	fmt.Printf("right %d of %d; alarms of healthy jobs %d of %d\n", right, all, alarms, healthy)
	if 10*right < 9*all || alarms > 0 {
		return errMissed
	}
	return nil
}

func orHealthy(cause string) string {
	if cause == "" {
		return "-"
	}
	return cause
}

// An answer is what the bar reads of the program's.
type answer struct {
	Verdict  string
	Findings []struct {
		Cause    string
		Evidence []struct{ Fact string }
	}
	Unsure []struct{ Cause, Measure string }
	Shares struct {
		Samples int
		Idle    *float64 `json:"idle_ratio"`
	}
}

func (a *answer) show() {
	for _, f := range a.Findings {
		for _, e := range f.Evidence {
			fmt.Printf("          %s: %s\n", f.Cause, e.Fact)
		}
	}
	for _, u := range a.Unsure {
		fmt.Printf("          unsure of %s\n", u.Cause)
	}
	if a.Shares.Idle != nil {
		fmt.Printf("          idle %.2f in %d samples\n", *a.Shares.Idle, a.Shares.Samples)
	}
}

// one runs a scene under plimsoll run.
func (o *options) one(n int, seed uint64) (*answer, error) {
	s := scenes[n]
	for _, left := range []string{"gpus", "script", "answer"} {
		if err := os.Remove(filepath.Join(o.dir, left)); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	gpus, err := openGPUs(o.dir)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 3))
	d := &driver{gpus: gpus, n: max(1, s.gpus), script: filepath.Join(o.dir, "script"), smooth: r.IntN(2) == 0,
		refresh: []time.Duration{100 * time.Millisecond, time.Second / 6, time.Second / 4}[r.IntN(3)]}
	for i := range d.n {
		gpus[i].set(wWidth, 16)
	}
	if err := d.write(make([]int, d.n), make([]int, d.n), 1, time.Second); err != nil {
		return nil, err
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- d.run(stop) }()
	err = o.watch(n, seed, s)
	close(stop)
	if err := errors.Join(err, <-ended); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(o.dir, "answer"))
	if err != nil {
		return nil, err
	}
	var doc struct{ Answer answer }
	return &doc.Answer, json.Unmarshal(b, &doc)
}

func (o *options) watch(n int, seed uint64, s scene) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	length := seconds(o.seconds)
	others := [][]string{}
	if s.tenant {
		others = append(others, []string{"tenant", o.dir, length.String()})
	}
	if s.load {
		for range 8 * runtime.NumCPU() {
			others = append(others, []string{"load"})
		}
	}
	for _, args := range others {
		c := exec.Command(self, args...)
		c.SysProcAttr = hold
		if err := c.Start(); err != nil {
			return err
		}
		defer func() {
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed
		}()
	}
	args := []string{"run", "--format", "json", "-o", filepath.Join(o.dir, "answer")}
	if o.interval != "" {
		args = append(args, "--interval", o.interval)
	}
	args = append(args, "--", self, "play", o.dir, fmt.Sprint(n), fmt.Sprint(seed), fmt.Sprint(o.seconds))
	c := exec.Command(o.plimsoll, args...)
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+o.fake, "PLIMSOLL_FAKE_NVML="+filepath.Join(o.dir, "script"))
	if s.gpus > 1 && len(s.env) == 0 {
		c.Env = append(c.Env, "RANK=0", fmt.Sprintf("WORLD_SIZE=%d", s.gpus))
	}
	c.Env = append(c.Env, s.env...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return c.Run()
}
