// Command top compares `plimsoll top` with nvitop and gpustat on eight GPUs that
// are not there, all in one run on the same scripted driver:
//
//	go run ./bars/top -venv DIR
//
// DIR is a Python environment with nvitop and gpustat; -install makes it from PyPI.
// Screens run in a terminal of 120x40 with one sample a second. What is compared
// is processor time (user and system, of all threads) and resident memory after
// it, which other work on the machine does not change; time by the clock is printed
// beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/plimsoll-dev/plimsoll/internal/monitor/nvml/fake"
)

var (
	venv      = flag.String("venv", "", "Python environment with nvitop and gpustat")
	install   = flag.Bool("install", false, "make the environment, from PyPI")
	seconds   = flag.Int("seconds", 60, "how long a screen is measured, after ten seconds")
	gpus      = flag.Int("gpus", 8, "GPUs of the scripted driver")
	processes = flag.Int("processes", 50, "processes on them; they exist and sleep")
	shots     = flag.Int("shots", 15, "how often a one-shot is run")
	width     = flag.Int("width", 120, "columns of the terminal")
	height    = flag.Int("height", 40, "lines of the terminal")
)

func main() {
	flag.Parse()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bars/top:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "plimsoll-bars-top")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *install {
		if err := makeEnvironment(ctx); err != nil {
			return err
		}
	}
	binary := filepath.Join(dir, "plimsoll")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/plimsoll").CombinedOutput(); err != nil {
		return fmt.Errorf("build plimsoll: %w\n%s", err, out)
	}
	env, stop, err := driver(ctx, dir)
	if err != nil {
		return err
	}
	defer stop()
	missed := false
	ours, err := screen(env, binary, "top")
	if err != nil {
		return err
	}
	fmt.Println("plimsoll top ", ours)
	once, err := oneShot(env, binary, "top", "--once")
	if err != nil {
		return err
	}
	fmt.Println("plimsoll top --once ", once)
	if *venv == "" {
		return nil
	}
	nvitop, err := screen(env, filepath.Join(*venv, "bin", "nvitop"), "--monitor", "full", "--interval", "1")
	if err != nil {
		return err
	}
	fmt.Println("nvitop       ", nvitop)
	gpustat, err := oneShot(env, filepath.Join(*venv, "bin", "gpustat"))
	if err != nil {
		return err
	}
	fmt.Println("gpustat             ", gpustat)
	for _, b := range []struct {
		what        string
		got, of     float64
		most        float64
		comparesYes string
	}{
		{"processor time of the screen", ours.cpu.Seconds(), nvitop.cpu.Seconds(), 1.0 / 5, "nvitop's"},
		{"the same with its start", (ours.cpu + ours.start).Seconds(), (nvitop.cpu + nvitop.start).Seconds(), 1.0 / 5, "nvitop's"},
		{"resident memory of the screen", float64(ours.resident), float64(nvitop.resident), 1.0 / 2, "nvitop's"},
		{"anonymous memory of the screen", float64(ours.anonymous), float64(nvitop.anonymous), 1.0 / 2, "nvitop's"},
		{"processor time of a one-shot", once.cpu.Seconds(), gpustat.cpu.Seconds(), 1.0 / 5, "gpustat's"},
		{"time of a one-shot by the clock", once.wall.Seconds(), gpustat.wall.Seconds(), 1.0 / 5, "gpustat's"},
	} {
		verdict := "holds"
		if b.got > b.most*b.of {
			verdict, missed = "MISSED", true
		}
		fmt.Printf("%-32s %.3f of %s, bar %.2f: %s\n", b.what, b.got/b.of, b.comparesYes, b.most, verdict)
	}
	if missed {
		return errors.New("a bar is missed")
	}
	return nil
}

func makeEnvironment(ctx context.Context) error {
	if *venv == "" {
		return errors.New("-install needs -venv")
	}
	for _, args := range [][]string{{"python3", "-m", "venv", *venv}, {filepath.Join(*venv, "bin", "pip"), "install", "nvitop", "gpustat"}} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// driver builds the scripted driver with processes that exist, and returns the
// environment that uses it.
func driver(ctx context.Context, dir string) (env []string, stop func(), err error) {
	if err := fake.Build(ctx, dir); err != nil {
		return nil, nil, err
	}
	var sleepers []*exec.Cmd
	stop = func() {
		for _, s := range sleepers {
			s.Process.Kill() //nolint:errcheck // it may have ended
			s.Wait()         //nolint:errcheck // it was killed
		}
	}
	var script strings.Builder
	fmt.Fprintf(&script, "driver 570.86.15\ncuda 12080\ngpus %d\ncsv %s 60\n", *gpus, filepath.Join(dir, "values.csv"))
	for i := range *processes {
		s := exec.CommandContext(ctx, "sleep", "3600")
		if err := s.Start(); err != nil {
			stop()
			return nil, nil, err
		}
		sleepers = append(sleepers, s)
		fmt.Fprintf(&script, "proc %d %d %d %d C\n", i%*gpus, s.Process.Pid, 500+10*i, 2*i%100)
	}
	var values strings.Builder
	values.WriteString("seconds,gpu,util,memutil,power,used,temp,sm,tx,rx\n")
	for t := range 60 {
		for g := range *gpus {
			fmt.Fprintf(&values, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", t, g, (37*t+11*g)%101, (13*t+7*g)%60, 200+(29*t+41*g)%450, 20000+100*t+3000*g, 40+(t+g)%30, 1200+15*((t+3*g)%52), 1000*t, 2000*t)
		}
	}
	for name, text := range map[string]string{"script": script.String(), "values.csv": values.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			stop()
			return nil, nil, err
		}
	}
	env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, fake.ScriptVariable+"="+filepath.Join(dir, "script"), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8")
	return env, stop, nil
}

// A cost is what a program took.
type cost struct {
	cpu      time.Duration // user and system, over wall or of one run
	start    time.Duration // of the ten seconds before
	wall     time.Duration
	resident int64 // bytes
	// anonymous are the bytes of it that are no file's: those of a file (of a
	// large program, too) the kernel can have back at any time.
	anonymous int64
}

func (c cost) String() string {
	const mib = 1 << 20
	s := fmt.Sprintf("%8.0f ms of processor time in %.3f s", float64(c.cpu)/float64(time.Millisecond), c.wall.Seconds())
	if c.resident > 0 {
		s += fmt.Sprintf(", %.0f ms in the ten seconds before; %.1f MiB resident, %.1f of it anonymous", float64(c.start)/float64(time.Millisecond), float64(c.resident)/mib, float64(c.anonymous)/mib)
	}
	return s
}

// screen measures a screen in a terminal, from ten seconds after its start.
func screen(env []string, name string, args ...string) (cost, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = env
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(*height), Cols: uint16(*width)})
	if err != nil {
		return cost{}, fmt.Errorf("start %s: %w", name, err)
	}
	defer tty.Close()
	sent := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, tty)
		sent <- n
	}()
	time.Sleep(10 * time.Second)
	before, err := processorTime(cmd.Process.Pid)
	if err != nil {
		return cost{}, fmt.Errorf("%s has ended: %w", name, err)
	}
	begun := time.Now()
	time.Sleep(time.Duration(*seconds) * time.Second)
	after, err := processorTime(cmd.Process.Pid)
	if err != nil {
		return cost{}, fmt.Errorf("%s has ended: %w", name, err)
	}
	c := cost{cpu: after - before, start: before, wall: time.Since(begun)}
	c.resident, c.anonymous = memory(cmd.Process.Pid)
	cmd.Process.Kill() //nolint:errcheck // it may have ended
	cmd.Wait()         //nolint:errcheck // it was killed
	return c, nil
}

// ticks is what /proc/PID/stat counts processor time in (USER_HZ).
const ticks = 100

// processorTime is utime and stime of a process (proc_pid_stat(5), fields 14 and
// 15).
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 13 || fields[0] == "Z" {
		return 0, errors.New("it is a zombie")
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks, nil
}

// memory is what /proc says of a process's memory.
func memory(pid int) (resident, anonymous int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		n, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "Rss:":
			resident = n << 10
		case "Anonymous:":
			anonymous = n << 10
		}
	}
	return resident, anonymous
}

// oneShot is the median of several runs.
func oneShot(env []string, name string, args ...string) (cost, error) {
	var costs []cost
	for range *shots {
		cmd := exec.Command(name, args...)
		cmd.Env = env
		begun := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return cost{}, fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		costs = append(costs, cost{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: time.Since(begun)})
	}
	median := func(of func(cost) time.Duration) time.Duration {
		slices.SortFunc(costs, func(a, b cost) int { return int(of(a) - of(b)) })
		return of(costs[len(costs)/2])
	}
	return cost{cpu: median(func(c cost) time.Duration { return c.cpu }), wall: median(func(c cost) time.Duration { return c.wall })}, nil
}
