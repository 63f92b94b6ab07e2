package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// recorderVersion changes when py/ records something else than before.
const recorderVersion = "2"

// atOnce bounds the variants that one process records: importing PyTorch takes
// as long as ten of them.
const atOnce = 24

// prerecord records what is not in the cache yet, several variants a process.
func (r *recorder) prerecord(ctx context.Context, rw *row, list []variant) error {
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
	var wait sync.WaitGroup
	slots := make(chan struct{}, r.jobs)
	var lock sync.Mutex
	var failed error
	for _, units := range missing {
		for batch := range slices.Chunk(units, atOnce) {
			slots <- struct{}{}
			wait.Go(func() {
				defer func() { <-slots }()
				if err := r.record(ctx, rw.Family, batch); err != nil {
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

// record runs one process for units of one device.
func (r *recorder) record(ctx context.Context, family string, units []unit) error {
	d := units[0].device
	var in strings.Builder
	for _, u := range units {
		in.WriteString(strings.Join(u.lines, "\n") + "\n")
	}
	config := vgpu.Config{Name: "NVIDIA virtual", Capability: d.Capability, Multiprocessors: d.Multiprocessors, ThreadsPerMultiprocessor: d.ThreadsPerMultiprocessor, Capacity: 1 << 42}
	cmd := exec.CommandContext(ctx, r.python, r.script, r.rows, family)
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
		if err := store(u, out); err != nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			text := stderr.String()
			return fmt.Errorf("%w: %s", err, text[max(0, len(text)-800):])
		}
	}
	return cmd.Wait()
}

// longestError is more than an answer to a job that failed takes.
const longestError = 1 << 13

// store keeps the recordings of a unit.
func store(u unit, in *bufio.Reader) error {
	if err := os.MkdirAll(filepath.Dir(u.path), 0o700); err != nil {
		return err
	}
	part := fmt.Sprintf("%s.%d", u.path, os.Getpid())
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	defer os.Remove(part)
	defer f.Close()
	zip, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
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
		if _, err := zip.Write(line); err != nil {
			return err
		}
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return os.Rename(part, u.path)
}
