package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
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
	fmt.Fprintf(os.Stderr, "%s recorded, %4.0f s\n", name, time.Since(start).Seconds())
	tapes := make([]*symbolic.Tape, len(list))
	var wait sync.WaitGroup
	slots := make(chan struct{}, r.jobs)
	for i, v := range list {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			t, said := r.variant(rw, v)
			fmt.Fprintf(os.Stderr, "%s %d/%d %4.0f s  %s  %s\n", name, i+1, len(list), time.Since(start).Seconds(), v.key(), said)
			tapes[i] = t
			if r.keepIn != "" && t != nil {
				if err := r.keep(rw, v); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		})
	}
	wait.Wait()
	planned := map[string]bool{} // what a plan of earlier days had is not left behind
	for _, v := range planOf(rw, "") {
		planned[v.key()] = true
	}
	c.Keep(func(key string) bool { return planned[key] })
	for i, t := range tapes {
		if t != nil {
			c.Add(list[i].key(), t)
		}
	}
	return write(path, c)
}

// variant makes one tape and says how it agrees with what it was not solved from;
// it returns nil and the reason when it cannot.
func (r *recorder) variant(rw *row, v variant) (*symbolic.Tape, string) {
	recs, solved, failed, err := r.recordings(rw, v)
	if err != nil {
		return nil, "FAILED " + err.Error()
	}
	s, err := solve.Solve(recs[:solved])
	if err != nil {
		return nil, "FAILED " + err.Error()
	}
	said := ""
	for _, rec := range recs[solved:] {
		result, text := check(s.Tape, rec)
		s.Tape.Checked = append(s.Tape.Checked, result)
		said += " " + text
	}
	if len(recs) == solved {
		said += " UNCHECKED"
	}
	if failed != "" {
		said += fmt.Sprintf(" (%d of its jobs alone: %s)", len(recs), failed)
	}
	if len(s.Doubts) > 0 {
		said += fmt.Sprintf("  %d doubts", len(s.Doubts))
	}
	if r.verbose {
		for _, d := range s.Doubts {
			said += "\n    " + d
		}
	}
	if slices.ContainsFunc(s.Tape.Checked, func(c symbolic.Check) bool { return math.Abs(c.Peak) > worst }) {
		return nil, "LEFT OUT" + said
	}
	return s.Tape, said
}

// worst is the error of a peak, as a share, from which on a tape is not written:
// no answer is better than one that is wrong.
const worst = 0.02
