// Command lint measures what `plimsoll lint` costs against its bars: a million
// lines, the same again, and one file.
//
// usage: lint [-plimsoll BINARY] [-lines N] [CODE]     (from the top of a checkout)
//
// The corpus is made of the rules' own examples, or of the Python files below
// CODE; either is repeated, each time with other words in it, until it has the
// lines. Without a binary it builds one. Beside the clock it prints processor
// time, which says more on a machine that does other work: the bar of seconds on
// two cores is twice as many of one core. It exits with 1 when a bar is missed by
// processor time or memory.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/lint/rules"
)

func main() {
	binary := flag.String("plimsoll", "", "the program to start, built from this checkout without it")
	lines := flag.Int("lines", 1_000_000, "how many lines")
	flag.Parse()
	missed, err := run(context.Background(), *binary, *lines, flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(2)
	}
	if missed {
		os.Exit(1)
	}
}

func run(ctx context.Context, binary string, lines int, code string) (missed bool, err error) {
	dir, err := os.MkdirTemp("", "plimsoll-bar")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	if binary == "" {
		binary = filepath.Join(dir, "plimsoll")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/plimsoll")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return false, fmt.Errorf("build plimsoll: %w", err)
		}
	}
	corpus := filepath.Join(dir, "corpus")
	one, n, files, err := grow(corpus, code, lines)
	if err != nil {
		return false, err
	}
	fmt.Printf("%d lines in %d files\n", n, files)
	cache := filepath.Join(dir, "cache")
	for _, m := range []struct {
		what    string
		seconds float64 // of processor time
		args    []string
	}{
		{"all for the first time", 24, []string{corpus, "--cache-dir", cache}},
		{"all again, nothing changed", 2, []string{corpus, "--cache-dir", cache}},
		{"one file", 0.06, []string{one, "--no-cache"}},
	} {
		cost, err := measure(ctx, binary, m.args)
		if err != nil {
			return false, err
		}
		word := "met"
		if cost.cpu.Seconds() > m.seconds || cost.peak > 300<<20 {
			word, missed = "MISSED", true
		}
		fmt.Printf("%-28s %6.2f s of processor time (at most %5.2f), %6.2f s by the clock, %4d MiB (at most 286)  %s\n",
			m.what, cost.cpu.Seconds(), m.seconds, cost.clock.Seconds(), cost.peak>>20, word)
	}
	return missed, nil
}

type cost struct {
	cpu, clock time.Duration
	peak       int64 // bytes in memory
}

func measure(ctx context.Context, binary string, args []string) (cost, error) {
	cmd := exec.CommandContext(ctx, binary, append([]string{"lint", "--format", "json", "-o", os.DevNull, "--fail-on", "never"}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("plimsoll lint: %w: %s", err, said.String())
	}
	c := cost{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), clock: time.Since(begin)}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peak = usage.Maxrss << 10 // Linux counts KiB
	}
	return c, nil
}

// grow writes the corpus, and names one file of usual length in it.
func grow(dir, code string, lines int) (one string, n, files int, err error) {
	texts, err := read(code)
	if err != nil {
		return "", 0, 0, err
	}
	for round := 0; n < lines; round++ {
		for i, get := range texts {
			if n >= lines {
				break
			}
			text, err := get()
			if err != nil {
				return "", 0, 0, err
			}
			// Other words in each round: no cache of anything helps.
			text = fmt.Appendf(bytes.Clone(text), "\nround_%d = %d\n", round, i)
			name := filepath.Join(dir, fmt.Sprintf("round%d", round), fmt.Sprintf("part%d", i/100), fmt.Sprintf("file%d.py", i))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return "", 0, 0, err
			}
			if err := os.WriteFile(name, text, 0o644); err != nil {
				return "", 0, 0, err
			}
			count := bytes.Count(text, []byte("\n"))
			if one == "" && count > 200 && count < 600 || files == 0 {
				one = name
			}
			n += count
			files++
		}
	}
	return one, n, files, nil
}

// read lists how to get the texts that the corpus is made of; they are not kept,
// because what this process holds would be counted as the next one's. The rules'
// examples are joined to files of 300 lines, as people write.
func read(code string) (texts []func() ([]byte, error), err error) {
	if code == "" {
		var text []byte
		for i, r := range rules.All {
			text = append(append(append(text, r.Bad...), '\n'), r.Good...)
			if bytes.Count(text, []byte("\n")) > 300 || i == len(rules.All)-1 {
				whole := text
				texts, text = append(texts, func() ([]byte, error) { return whole, nil }), nil
			}
		}
		return texts, nil
	}
	err = filepath.WalkDir(code, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".py" {
			texts = append(texts, func() ([]byte, error) { return os.ReadFile(path) })
		}
		return err
	})
	if err == nil && len(texts) == 0 {
		err = errors.New("there is no Python file in " + code)
	}
	return texts, err
}
