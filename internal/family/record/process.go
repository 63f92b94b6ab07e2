package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// atOnce bounds the variants that one process records: importing PyTorch takes
// as long as ten of them.
const atOnce = 24

// prerecord records what is not in the cache yet, several variants a process.
func (r *recorder) prerecord(ctx context.Context, name string, rw *row, list []variant) error {
	missing := map[kernel.Device][]unit{}
	for _, v := range list {
		p, err := r.planned(rw, v)
		if err != nil {
			return err
		}
		for _, u := range p.units {
			if !u.isDone() {
				missing[u.device] = append(missing[u.device], u)
			}
		}
	}
	total := 0
	for _, units := range missing {
		total += len(units)
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, r.jobs)
	var lock sync.Mutex
	var failed error
	stored, start := 0, time.Now() //nolint:forbidigo // a tool that shows progress
	progress := func() {
		lock.Lock()
		defer lock.Unlock()
		if stored++; stored%progressEvery == 0 || stored == total {
			fmt.Fprintf(os.Stderr, "%s %d/%d recorded %4.0f s\n", name, stored, total, time.Since(start).Seconds())
		}
	}
	for _, units := range missing {
		for batch := range slices.Chunk(units, atOnce) {
			slots <- struct{}{}
			wait.Go(func() {
				defer func() { <-slots }()
				if err := r.record(ctx, rw, batch, progress); err != nil {
					lock.Lock()
					failed = errors.Join(failed, err)
					lock.Unlock()
				}
			})
		}
	}
	wait.Wait()
	return errors.Join(failed, ctx.Err())
}

// record runs one process for units of one device, and says when each is stored.
func (r *recorder) record(ctx context.Context, rw *row, units []unit, stored func()) error {
	d := units[0].device
	var in strings.Builder
	for _, u := range units {
		in.WriteString(strings.Join(u.lines, "\n") + "\n")
	}
	config := vgpu.Config{Name: "NVIDIA virtual", Capability: d.Capability, Multiprocessors: d.Multiprocessors, ThreadsPerMultiprocessor: d.ThreadsPerMultiprocessor, Capacity: 1 << 42}
	cmd := exec.CommandContext(ctx, r.python, append([]string{filepath.Join(r.scripts, "record.py")}, rw.imports()...)...)
	cmd.Env = slices.Concat(os.Environ(), config.Env(), r.lib.Env(r.names), []string{"TORCH_SYMBOLIZE_MODE=dladdr"})
	cmd.Stdin = strings.NewReader(in.String())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	out := bufio.NewReaderSize(pipe, 1<<20)
	for _, u := range units {
		if err = store(u, out); err != nil {
			_ = cmd.Process.Kill()
			break
		}
		stored()
	}
	if err = errors.Join(err, cmd.Wait()); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	text := strings.TrimSpace(stderr.String())
	return fmt.Errorf("recording on a card of capability %d: %w; the process said: %s", d.Capability, err, text[max(0, len(text)-mostSaid):])
}

const (
	mostSaid      = 800 // of the end of what a process that failed said
	progressEvery = 10  // units
)

// longestError is more than an answer to a job that failed takes.
const longestError = 1 << 13

// store keeps the recordings of a unit.
func store(u unit, in *bufio.Reader) error {
	return pack(u.path, gzip.BestSpeed, func(out io.Writer) error {
		_ = os.Remove(u.failed())
		for range u.lines {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return err
			}
			if len(line) < longestError && bytes.Contains(line, []byte(`"error":"`)) {
				if err := os.WriteFile(u.failed(), line, 0o600); err != nil {
					return err
				}
			}
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
}
