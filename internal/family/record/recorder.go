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
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
)

// A recorder has the virtual GPU and the versions of what it records.
type recorder struct {
	options
	lib      vgpu.Library
	versions [][2]string
	scripts  string   // folder of py/
	sources  []source // what is in it
	names    string   // library that names frames fast
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
	r := &recorder{options: o, scripts: "internal/family/record/py"}
	if r.sources, err = sourcesIn(r.scripts); err != nil {
		return nil, err
	}
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
	return out, place(out, func(f *os.File) error { // another recorder may be loading it
		cmd := exec.CommandContext(ctx, "cc", "-O2", "-shared", "-fPIC", "internal/family/record/csrc/dladdr.c", "-o", f.Name())
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compiling dladdr.c: %w\n%s", err, text)
		}
		return nil
	})
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

// folderOf is where the tapes of a version of PyTorch are, in the folder of recordings.
func folderOf(torch string) string { return "torch-" + torch }

// family records, solves, checks and writes one family. missing are the keys of
// tapes that could not be made, with the reasons.
func (r *recorder) family(ctx context.Context, name string) (missing []string, err error) {
	rw, err := readRow(filepath.Join(r.rows, name+".json"))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(r.out, folderOf(r.torch()), name+recordings.Extension)
	c, err := r.begun(path)
	if err != nil {
		return nil, err
	}
	list := r.wanted(rw, c)
	if r.cached {
		all := len(list)
		list = slices.DeleteFunc(list, func(v variant) bool { return !r.isCached(rw, v) })
		fmt.Fprintf(os.Stderr, "%s: %d of %d variants are in the cache\n", name, len(list), all)
	} else if err := r.prerecord(ctx, name, rw, list); err != nil {
		return nil, err
	}
	c.Meta, c.Symbols = r.versions, nil
	for _, s := range rw.Symbols {
		c.Symbols = append(c.Symbols, symbolic.Symbol(s))
	}
	tapes, said := r.solve(ctx, name, rw, list)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("nothing is written, what was recorded is kept: %w", err)
	}
	for i, t := range tapes {
		if t == nil {
			missing = append(missing, fmt.Sprintf("%s %s: %s", name, list[i].key(), said[i]))
		}
	}
	if r.inexact {
		list, tapes = better(c, list, tapes)
	}
	replace(c, rw, list, tapes)
	return missing, write(path, c)
}

// begun is the collection that tapes are added to: an empty one, or the file's
// where only some of its tapes are made anew. Tapes of other versions do not stay
// beside new ones.
func (r *recorder) begun(path string) (*symbolic.Collection, error) {
	if r.only == "" && r.plan == "" && !r.missing && !r.inexact {
		return symbolic.NewCollection(), nil
	}
	c, err := open(path)
	if err != nil {
		return nil, err
	}
	if len(c.Keys) > 0 && !slices.Equal(c.Meta, r.versions) {
		return nil, fmt.Errorf("%s was recorded with %v, not %v: record all of the family, without -only, -plan, -missing and -inexact", path, c.Meta, r.versions)
	}
	return c, anew(c, path)
}

// wanted are the variants that the flags ask for; c is the file as it is.
func (r *recorder) wanted(rw *row, c *symbolic.Collection) []variant {
	return slices.DeleteFunc(planOf(rw, r.plan), func(v variant) bool {
		return !strings.Contains(v.key(), r.only) || r.missing && slices.Contains(c.Keys, v.key()) || r.inexact && !inexactly(c, v.key())
	})
}

// replace puts the tapes of variants, nil where there is none, in place of those
// that the collection has of them, and drops what no plan has any more.
func replace(c *symbolic.Collection, rw *row, list []variant, tapes []*symbolic.Tape) {
	stays := map[string]bool{}
	for _, v := range planOf(rw, "") {
		stays[v.key()] = true
	}
	for i, v := range list {
		stays[v.key()] = tapes[i] != nil
	}
	c.Keep(func(key string) bool { return stays[key] })
	for i, t := range tapes {
		if t != nil {
			c.Add(list[i].key(), t)
		}
	}
}

// solve makes the tapes of variants, nil where there is none, and says how each
// agrees, or why it is not there.
func (r *recorder) solve(ctx context.Context, name string, rw *row, list []variant) (tapes []*symbolic.Tape, said []string) {
	tapes, said = make([]*symbolic.Tape, len(list)), make([]string, len(list))
	start := time.Now() //nolint:forbidigo // a tool that shows progress
	var wait sync.WaitGroup
	slots := make(chan struct{}, r.jobs)
	for i, v := range list {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-slots }()
			tapes[i], said[i] = r.tape(rw, v)
			fmt.Fprintf(os.Stderr, "%s %d/%d %4.0f s  %s  %s\n", name, i+1, len(list), time.Since(start).Seconds(), v.key(), said[i])
			if r.keepIn != "" && tapes[i] != nil {
				if err := r.keep(rw, v); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		})
	}
	wait.Wait()
	return tapes, said
}

// tape makes the tape of a variant and says how it agrees with what it was not solved
// from; it returns nil and the reason when it cannot.
func (r *recorder) tape(rw *row, v variant) (*symbolic.Tape, string) {
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
		return nil, "LEFT OUT unchecked: " + failed
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
