// Command estimate measures what an estimate costs against its bars: a process
// from start to end, many estimates of one model in one process, and what the
// recordings add to the binary.
//
// usage: estimate [-plimsoll BINARY]     (from the top of a checkout)
//
// Without a binary it builds one. Beside the clock it prints processor time,
// which says more on a machine that does other work. It exits with 1 when a bar
// is missed by the clock.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	binary := flag.String("plimsoll", "", "the program to start, built from this checkout without it")
	flag.Parse()
	missed, err := run(context.Background(), *binary)
	if err != nil {
		fmt.Fprintln(os.Stderr, "estimate:", err)
		os.Exit(2)
	}
	if missed {
		os.Exit(1)
	}
}

// A bar is one number and what it may be.
type bar struct {
	what          string
	got, most     float64
	unit, besides string
}

func (b bar) missed() bool { return b.got > b.most }

func (b bar) String() string {
	word := "met"
	if b.missed() {
		word = "MISSED"
	}
	return fmt.Sprintf("%-46s %8.1f %-3s  at most %5.0f  %-6s  %s", b.what, b.got, b.unit, b.most, word, b.besides)
}

func run(ctx context.Context, binary string) (missed bool, err error) {
	if binary == "" {
		dir, err := os.MkdirTemp("", "plimsoll-bar")
		if err != nil {
			return false, err
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "plimsoll")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/plimsoll")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return false, fmt.Errorf("build plimsoll: %w", err)
		}
	}
	for _, measure := range []func() ([]bar, error){
		func() ([]bar, error) { return starts(ctx, binary) },
		func() ([]bar, error) { return many(ctx) },
		embedded,
	} {
		bars, err := measure()
		if err != nil {
			return false, err
		}
		for _, b := range bars {
			fmt.Println(b)
			missed = missed || b.missed()
		}
	}
	return missed, nil
}
