package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// model is what is asked about; times how often a process is started.
const (
	model = "llama-3.1-8b"
	times = 20
)

// starts are the medians of whole processes.
func starts(ctx context.Context, binary string) ([]bar, error) {
	var clock, processor, memory []float64
	for range times {
		cmd := exec.CommandContext(ctx, binary, "estimate", model)
		cmd.Stdout = io.Discard
		begin := time.Now()
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w", cmd, err)
		}
		clock = append(clock, milliseconds(time.Since(begin)))
		state := cmd.ProcessState
		processor = append(processor, milliseconds(state.UserTime()+state.SystemTime()))
		used, ok := state.SysUsage().(*syscall.Rusage)
		if !ok {
			return nil, fmt.Errorf("%s: how much memory it took is not told here", cmd)
		}
		memory = append(memory, float64(used.Maxrss)/1024) // KiB on Linux
	}
	return []bar{
		{"estimate " + model + ", a process", median(clock), 50, "ms", fmt.Sprintf("fastest %.1f ms; processor time %.1f ms", slices.Min(clock), median(processor))},
		{"the same, resident", median(memory), 64, "MiB", ""},
	}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// embedded is the size of all recordings as they stand in the binary.
func embedded() ([]bar, error) {
	paths, err := filepath.Glob("internal/family/recordings/torch-*/*.sym.zst")
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("there are no recordings under internal/family/recordings: is this the top of a checkout? %w", err)
	}
	var sum int64
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		sum += info.Size()
	}
	return []bar{{"recordings in the binary", float64(sum) / 1e6, 8, "MB", fmt.Sprintf("%d files", len(paths))}}, nil
}
