package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
)

// A recorder has the virtual GPU and the versions of what it records.
type recorder struct {
	options
	lib      vgpu.Library
	versions [][2]string
	script   string
	names    string // library that names frames fast
}

func newRecorder(ctx context.Context, o options) (*recorder, error) {
	t, err := vgpu.Probe(ctx, o.python)
	if err != nil {
		return nil, err
	}
	cache, err := vgpu.CacheDir()
	if err != nil {
		return nil, err
	}
	r := &recorder{options: o, script: "internal/family/record/py/record.py"}
	if r.lib, err = vgpu.Prepare(ctx, t, cache, nil); err != nil {
		return nil, err
	}
	if r.versions, err = versionsOf(ctx, o.python); err != nil {
		return nil, err
	}
	r.names, err = compileNames(ctx, cache)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// compileNames compiles the library that names frames.
func compileNames(ctx context.Context, dir string) (string, error) {
	out := filepath.Join(dir, "record-dladdr.so")
	cmd := exec.CommandContext(ctx, "cc", "-O2", "-shared", "-fPIC", "internal/family/record/csrc/dladdr.c", "-o", out)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiling dladdr.c: %w\n%s", err, text)
	}
	return out, nil
}

// versionsOf are the versions that decide what is recorded.
func versionsOf(ctx context.Context, python string) ([][2]string, error) {
	const ask = `import importlib.metadata as m
for p in ("torch", "transformers", "torchvision", "peft"):
    try: print(p, m.version(p))
    except m.PackageNotFoundError: pass`
	out, err := exec.CommandContext(ctx, python, "-c", ask).Output()
	if err != nil {
		return nil, fmt.Errorf("asking %s for versions: %w", python, err)
	}
	var list [][2]string
	for line := range strings.Lines(string(out)) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		list = append(list, [2]string{name, version})
	}
	return list, nil
}

// torch is the version without what it was built for, "2.15.0".
func (r *recorder) torch() string {
	version, _, _ := strings.Cut(r.versions[0][1], "+")
	return version
}

// family records, solves, checks and writes one family.
func (r *recorder) family(ctx context.Context, name string) error {
	rw, err := readRow(filepath.Join(r.rows, name+".json"))
	if err != nil {
		return err
	}
	path := filepath.Join(r.out, "torch-"+r.torch(), name+".sym.gz")
	c, err := open(path)
	if err != nil {
		return err
	}
	var list []variant
	for _, v := range planOf(rw, r.plan) {
		if strings.Contains(v.key(), r.only) {
			list = append(list, v)
		}
	}
	start := time.Now() //nolint:forbidigo // a tool that shows progress
	if r.cached {
		list = slices.DeleteFunc(list, func(v variant) bool { return !r.isCached(rw, v) })
		c = symbolic.NewCollection()
	} else if err := r.prerecord(ctx, rw, list); err != nil {
		return err
	}
	c.Meta, c.Symbols = r.versions, nil
	for _, s := range rw.Symbols {
		c.Symbols = append(c.Symbols, symbolic.Symbol(s))
	}
	fmt.Fprintf(os.Stderr, "%s recorded, %4.0f s\n", name, time.Since(start).Seconds()) //nolint:forbidigo // progress
	tapes := make([]*symbolic.Tape, len(list))
	var wait sync.WaitGroup
	slots := make(chan struct{}, r.jobs)
	for i, v := range list {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			t, said := r.variant(rw, v)
			fmt.Fprintf(os.Stderr, "%s %d/%d %4.0f s  %s  %s\n", name, i+1, len(list), time.Since(start).Seconds(), v.key(), said) //nolint:forbidigo // progress
			tapes[i] = t
			if r.keepIn != "" && t != nil {
				if err := r.keep(rw, v); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		})
	}
	wait.Wait()
	for i, t := range tapes {
		if t != nil {
			c.Add(list[i].key(), t)
		}
	}
	return write(path, c)
}

// variant makes one tape; it returns nil and the reason when it cannot.
func (r *recorder) variant(rw *row, v variant) (*symbolic.Tape, string) {
	recs, solved, err := r.recordings(rw, v)
	if err != nil {
		return nil, "FAILED " + err.Error()
	}
	s, err := solve.Solve(recs[:solved])
	if err != nil {
		return nil, "FAILED " + err.Error()
	}
	said := ""
	for _, rec := range recs[solved:] {
		said += " " + checkText(s.Tape, rec)
	}
	if len(s.Doubts) > 0 {
		said += fmt.Sprintf("  %d doubts", len(s.Doubts))
	}
	if r.verbose {
		for _, d := range s.Doubts {
			said += "\n    " + d
		}
	}
	return s.Tape, said
}

// recordings are those of a variant. A job that failed is left out; a variant
// needs most of them.
func (r *recorder) recordings(rw *row, v variant) (recs []*solve.Recording, solved int, err error) {
	units, at, n, border, err := r.units(rw, v)
	if err != nil {
		return nil, 0, err
	}
	read := make([][]*solve.Recording, len(units))
	for k, u := range units {
		if read[k], err = readRecordings(u.path, len(u.lines)); err != nil {
			return nil, 0, err
		}
	}
	failed := ""
	for i := range n {
		rec := read[at[i][0]][at[i][1]]
		if rec.Error != "" {
			failed = rec.Error
			continue
		}
		recs = append(recs, rec)
		if i < border {
			solved++
		}
	}
	if solved < border*2/3 {
		return nil, 0, fmt.Errorf("%d of %d recordings: %s", solved, border, failed)
	}
	return recs, solved, nil
}

// A unit is the jobs of a variant on one device, and where their recordings go.
type unit struct {
	device kernel.Device
	lines  []string
	path   string
}

// units are those of a variant; at says which job is where.
func (r *recorder) units(rw *row, v variant) (list []unit, at map[int][2]int, n, solved int, err error) {
	jobs, solved := v.jobs(rw)
	at = map[int][2]int{}
	index := map[kernel.Device]int{}
	for i, j := range jobs {
		data, err := json.Marshal(j)
		if err != nil {
			return nil, nil, 0, 0, err
		}
		k, ok := index[j.Device]
		if !ok {
			k = len(list)
			index[j.Device] = k
			list = append(list, unit{device: j.Device})
		}
		at[i] = [2]int{k, len(list[k].lines)}
		list[k].lines = append(list[k].lines, string(data))
	}
	for k := range list {
		u := &list[k]
		digest := sha256.Sum256([]byte(recorderVersion + fmt.Sprint(r.versions) + strings.Join(u.lines, "\n")))
		u.path = filepath.Join(r.cache, fmt.Sprintf("%x.jsonl.gz", digest[:12]))
	}
	return list, at, len(jobs), solved, nil
}

// isCached reports whether all recordings of a variant are in the cache.
func (r *recorder) isCached(rw *row, v variant) bool {
	units, _, _, _, err := r.units(rw, v)
	return err == nil && !slices.ContainsFunc(units, func(u unit) bool {
		_, err := os.Stat(u.path)
		return err != nil
	})
}

// recorderVersion changes when py/ records something else than before.
const recorderVersion = "2"

// atOnce bounds the variants that one process records: importing PyTorch takes
// as long as ten of them.
const atOnce = 24

// prerecord records what is not in the cache yet, several variants a process.
func (r *recorder) prerecord(ctx context.Context, rw *row, list []variant) error {
	missing := map[kernel.Device][]unit{}
	for _, v := range list {
		units, _, _, _, err := r.units(rw, v)
		if err != nil {
			return err
		}
		for _, u := range units {
			if _, err := os.Stat(u.path); err != nil {
				missing[u.device] = append(missing[u.device], u)
			}
		}
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, r.jobs)
	var failed error
	for _, units := range missing {
		for batch := range slices.Chunk(units, atOnce) {
			slots <- struct{}{}
			wait.Go(func() {
				defer func() { <-slots }()
				if err := r.record(ctx, rw.Family, batch); err != nil {
					failed = err
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
	cmd.Env = append(append(os.Environ(), config.Env()...), r.lib.Env(r.names)...)
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
	for range u.lines {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return err
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

func readRecordings(path string, n int) ([]*solve.Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(zip, 1<<20)
	var list []*solve.Recording
	for len(list) < n {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		rec := &solve.Recording{}
		if err := json.Unmarshal(line, rec); err != nil {
			return nil, err
		}
		list = append(list, rec)
	}
	return list, nil
}

func readRow(path string) (*row, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &row{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// open reads the tapes that are there already, so that some can be replaced.
func open(path string) (*symbolic.Collection, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return symbolic.NewCollection(), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return symbolic.ReadCollection(zip)
}

func write(path string, c *symbolic.Collection) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := path + ".part"
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	zip, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	_, err = c.WriteTo(zip)
	if err := errors.Join(zip.Close(), f.Close()); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	return os.Rename(part, path)
}
