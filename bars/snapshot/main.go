// Command snapshot measures plimsoll explain on a memory snapshot beside
// CPython's pickle.load of the same file: time by the clock, processor time,
// and the most memory.
//
// usage: snapshot [-plimsoll BIN] [-python PYTHON] [-runs N] FILE.pickle
//
// It exits with 1 when explain takes more than half the time or a fifth of
// the memory. Files of any size are made by make.py.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// A run is what one process took.
type run struct {
	wall, cpu time.Duration
	peak      int64 // bytes
}

const load = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"

func main() {
	plimsoll := flag.String("plimsoll", "bin/plimsoll", "the program")
	python := flag.String("python", "python3", "the interpreter that loads the file")
	runs := flag.Int("runs", 3, "how often; the middle of them counts")
	flag.Parse()
	if flag.NArg() != 1 || *runs < 1 {
		fmt.Fprintln(os.Stderr, "usage: snapshot [-plimsoll BIN] [-python PYTHON] [-runs N] FILE.pickle")
		os.Exit(2)
	}
	if !bar(*plimsoll, *python, flag.Arg(0), *runs) {
		os.Exit(1)
	}
}

// bar measures both, prints the numbers and reports whether they are as they
// should be.
func bar(plimsoll, python, path string, runs int) bool {
	answer, err := os.CreateTemp("", "explain-*.json")
	if err != nil {
		fail(err)
	}
	defer os.Remove(answer.Name())
	answer.Close()
	var ours, theirs []run
	for range runs {
		ours = append(ours, measure(plimsoll, "explain", "--format", "json", "-o", answer.Name(), path))
		theirs = append(theirs, measure(python, "-c", load, path))
	}
	us, them := middle(ours), middle(theirs)
	events, exact := contents(answer.Name())
	fmt.Printf("%-12s %8s %8s %10s\n", "", "seconds", "cpu", "peak MiB")
	for _, r := range []struct {
		name string
		run
	}{{"explain", us}, {"pickle.load", them}} {
		fmt.Printf("%-12s %8.2f %8.2f %10.0f\n", r.name, r.wall.Seconds(), r.cpu.Seconds(), float64(r.peak)/(1<<20))
	}
	fmt.Printf("share        %7.0f%% %7.0f%% %9.0f%%   (at most 50 %% of the time, 20 %% of the memory)\n",
		100*float64(us.wall)/float64(them.wall), 100*float64(us.cpu)/float64(them.cpu), 100*float64(us.peak)/float64(them.peak))
	fmt.Printf("%d events, %.1f bytes of memory each; replay exact: %t\n", events, float64(us.peak)/float64(max(events, 1)), exact)
	return us.wall*2 <= them.wall && us.peak*5 <= them.peak
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "snapshot:", err)
	os.Exit(2)
}

// measure runs a command to its end.
func measure(name string, args ...string) run {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		fail(fmt.Errorf("%s: %w", name, err))
	}
	r := run{wall: time.Since(begin), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = usage.Maxrss * 1024
	}
	return r
}

// middle takes the middle of each amount.
func middle(runs []run) run {
	pick := func(f func(run) int64) int64 {
		var list []int64
		for _, r := range runs {
			list = append(list, f(r))
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	return run{
		wall: time.Duration(pick(func(r run) int64 { return int64(r.wall) })),
		cpu:  time.Duration(pick(func(r run) int64 { return int64(r.cpu) })),
		peak: pick(func(r run) int64 { return r.peak }),
	}
}

// contents is how many events the answer is about, and whether the replay
// was exact.
func contents(path string) (events int, exact bool) {
	var doc struct {
		Recording struct {
			Devices []struct{ Events int }
		}
		Replay struct{ Exact bool }
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		fail(err)
	}
	for _, d := range doc.Recording.Devices {
		events += d.Events
	}
	return events, doc.Replay.Exact
}
