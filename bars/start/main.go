// Command start measures what a capture adds to a script, and checks it
// against the bars: at most half a second over a bare "import torch", and at
// most 30 ms for a training step of ResNet-50.
//
// usage: start PYTHON
//
// Each time is the least of several runs, since a busy machine only adds. The
// first capture, which builds the virtual GPU, is not counted. The bare import
// has the virtual GPU's libraries too, since PyTorch without any does not load;
// with NVIDIA's it takes longer.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/plimsoll-dev/plimsoll/bars/bare"
	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/capture/child"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
)

const (
	runs    = 5
	mostAdd = 500 * time.Millisecond
	mostMs  = 30.0
)

//go:embed resnet50.py
var resnet50 string

// first allocates once: the least that a capture can see.
const first = "import torch\ntorch.empty(1, device='cuda')\n"

func main() {
	if len(os.Args) == 2 && os.Args[1] == child.Verb {
		os.Exit(child.Supervise())
	}
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: start PYTHON")
		os.Exit(2)
	}
	ok, err := measure(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure the start:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func measure(python string) (bool, error) {
	dir, err := os.MkdirTemp("", "start-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"first.py": first, "resnet50.py": resnet50} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return false, err
		}
	}
	env, err := bare.Environ(context.Background(), python)
	if err != nil {
		return false, err
	}
	bare, bareCPU, err := least(func() error {
		cmd := exec.Command(python, "-c", "import torch")
		cmd.Env = env
		return cmd.Run()
	})
	if err != nil {
		return false, fmt.Errorf("import torch: %w", err)
	}
	captured, capturedCPU, err := least(func() error { return run(python, dir, "first.py", nil) })
	if err != nil {
		return false, err
	}
	var out bytes.Buffer
	if err := run(python, dir, "resnet50.py", &out); err != nil {
		return false, err
	}
	m := regexp.MustCompile(`median step ([\d.]+) ms, ([\d.]+) ms`).FindSubmatch(out.Bytes())
	if m == nil {
		return false, fmt.Errorf("resnet50.py printed no time: %q", out.String())
	}
	step, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		return false, err
	}
	fmt.Printf("import torch      %6.2f s, of which %.2f s on the processor\n", bare.Seconds(), bareCPU.Seconds())
	fmt.Printf("a capture of it   %6.2f s, of which %.2f s on the processor\n", captured.Seconds(), capturedCPU.Seconds())
	fmt.Printf("a capture adds    %6.2f s, and %.2f s on the processor; the bar is %.2f s\n", (captured - bare).Seconds(), (capturedCPU - bareCPU).Seconds(), mostAdd.Seconds())
	fmt.Printf("a ResNet-50 step  %6.1f ms, of which %s ms on the processor; the bar is %.0f ms\n", step, m[2], mostMs)
	return captured-bare <= mostAdd && step <= mostMs, nil
}

// least is the shortest of several runs, and the least that one took of the
// processor; one before them is not counted.
func least(f func() error) (wall, cpu time.Duration, err error) {
	for i := range runs + 1 {
		begin, used := time.Now(), processor()
		if err := f(); err != nil {
			return 0, 0, err
		}
		w, c := time.Since(begin), processor()-used
		if i == 1 || i > 1 && w < wall {
			wall = w
		}
		if i == 1 || i > 1 && c < cpu {
			cpu = c
		}
	}
	return wall, cpu, nil
}

// processor is the time that all processes which have ended took.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func run(python, dir, script string, out *bytes.Buffer) error {
	choice, err := gpu.Lookup("h100")
	if err != nil {
		return err
	}
	o := capture.Options{
		Argv: []string{python, script}, Dir: dir, Environ: os.Environ(), Steps: 100, CuDNNWorkspace: -1,
		Card: capture.Card{Card: choice.Card, Count: 1},
	}
	if out != nil {
		o.Echo = out
	}
	_, err = capture.Run(context.Background(), o)
	return err
}
