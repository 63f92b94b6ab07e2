package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/lint"
)

// A Workspace lints a tree, again and again if need be. Files that did not
// change, and that no import joins with one that did, are not linted again.
type Workspace struct {
	Tree    *Tree
	All     []*lint.Rule // that there are
	Rules   []*lint.Rule // that run
	Workers int          // 0: all cores
	Cache   string       // file to remember findings in; "" for none
	Version string       // of the program: what it found means nothing to another

	state *state
}

// A FileResult is what was found in one file, in the order of the source.
type FileResult struct {
	Read     bool // in whole or in part
	Path     string
	Findings []Finding
	Problems []Problem
	Setup    *lint.Setup // where a finding's cost is a multiple of what a model takes
}

// A state is what is remembered of the last Check.
type state struct {
	Key   string
	Files []fileState
	size  int64 // of the files
}

type fileState struct {
	Name     string    `json:"name"`
	Hash     string    `json:"hash"` // "" for a file that could not be read
	Imports  []string  `json:"imports,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	Problems []Problem `json:"problems,omitempty"`

	Setup *lint.Setup `json:"setup,omitempty"`
}

// seen gets each file that is linted, with the hash of what was read and its
// findings, while its tree is there.
type seen func(i int, read string, f *lint.File, kept []lint.Finding, described []Finding)

// Check lints the tree. overlay has the text of files, by name, that are to be
// read from there and not from the disk.
func (w *Workspace) Check(ctx context.Context, overlay map[string][]byte) ([]FileResult, error) {
	return w.check(ctx, overlay, nil)
}

func (w *Workspace) check(ctx context.Context, overlay map[string][]byte, visit seen) ([]FileResult, error) {
	old := w.state
	if old == nil && w.Cache != "" {
		old = loadState(w.Cache, w.All)
	}
	next, err := w.read(ctx, overlay)
	if err != nil {
		return nil, err
	}
	defer boundHeap(next.size, len(next.Files))()
	dirty := w.compare(old, next)
	for slices.Contains(dirty, true) {
		if err := w.lint(ctx, overlay, next, dirty, visit); err != nil {
			return nil, err
		}
		// What changed may import more than before.
		if more := spread(next, dirty); slices.Equal(more, dirty) {
			break
		} else {
			dirty = more
		}
	}
	changed := old == nil || old.Key != next.Key || slices.Contains(dirty, true)
	w.state = next
	if changed && w.Cache != "" && len(overlay) == 0 {
		saveState(w.Cache, next, w.All)
	}
	out := make([]FileResult, len(w.Tree.Files))
	for i, f := range w.Tree.Files {
		s := &next.Files[i]
		whole := func(p Problem) bool { return p.Line == 0 }
		out[i] = FileResult{!slices.ContainsFunc(s.Problems, whole), f.Path, s.Findings, s.Problems, s.Setup}
	}
	return out, nil
}

// boundHeap makes the garbage collector work for its memory while files of so
// many bytes in all are linted: they need 2 bytes for each of theirs and some KiB a
// file, and without a bound the heap grows to twice what is needed. It gives what
// undoes it. Who has set GOMEMLIMIT has it.
func boundHeap(bytes int64, files int) (undo func()) {
	const (
		base = 130 << 20 // trees of the files at work, and the program
		each = 3 << 10
	)
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(base + 2*bytes + each*int64(files))
	return func() { debug.SetMemoryLimit(math.MaxInt64) }
}

// key is what findings depend on beside the files: the program, the rules and
// which files there are.
func (w *Workspace) key() string {
	h := sha256.New()
	h.Write([]byte(w.Version))
	for _, r := range w.Rules {
		h.Write([]byte("\x00" + r.Code))
	}
	for _, f := range w.Tree.Files {
		h.Write([]byte("\x01" + f.Name + "\x00" + f.Path))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// read reads all files once, for what they hash to.
func (w *Workspace) read(ctx context.Context, overlay map[string][]byte) (*state, error) {
	next := &state{Key: w.key(), Files: make([]fileState, len(w.Tree.Files))}
	var wg sync.WaitGroup
	var size atomic.Int64
	jobs := make(chan int)
	for range w.workers() {
		wg.Go(func() {
			for i := range jobs {
				f := &next.Files[i]
				f.Name = w.Tree.Files[i].Name
				raw, err := w.bytes(i, overlay)
				if err != nil {
					f.Problems = []Problem{{w.Tree.Files[i].Path, 0, cause(err).Error()}}
					continue
				}
				f.Hash = hash(raw)
				size.Add(int64(len(raw)))
			}
		})
	}
	for i := range w.Tree.Files {
		if ctx.Err() != nil {
			break
		}
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	next.size = size.Load()
	return next, ctx.Err()
}

func (w *Workspace) workers() int {
	if w.Workers > 0 {
		return w.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// bytes reads a file of the tree.
func (w *Workspace) bytes(i int, overlay map[string][]byte) ([]byte, error) {
	f := w.Tree.Files[i]
	if raw, ok := overlay[f.Name]; ok {
		return raw, nil
	}
	most := lint.MaxSize(f.Name)
	raw, err := input.ReadFile(filepath.FromSlash(f.Path), most)
	if errors.Is(err, input.ErrTooLarge) {
		return nil, errors.New("too large: more than " + sizeWords(most) + " is generated, not written")
	}
	return raw, err
}

func sizeWords(n int64) string {
	digits := ""
	for n >>= 20; n > 0; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return digits + " MiB"
}

// compare takes over what is known of files that are as they were, and tells
// which have to be linted.
func (w *Workspace) compare(old, next *state) []bool {
	dirty := make([]bool, len(next.Files))
	if old == nil || old.Key != next.Key || len(old.Files) != len(next.Files) {
		for i := range dirty {
			dirty[i] = next.Files[i].Hash != ""
		}
		return dirty
	}
	for i := range next.Files {
		f, o := &next.Files[i], &old.Files[i]
		f.Imports = o.Imports // until it is read
		if f.Hash != o.Hash {
			dirty[i] = true
		} else if f.Hash != "" {
			f.Findings, f.Problems, f.Setup = o.Findings, o.Problems, o.Setup
		}
	}
	return spread(next, dirty)
}

// spread marks all files that imports join with a marked one.
func spread(s *state, dirty []bool) []bool {
	if !slices.Contains(dirty, true) || !slices.Contains(dirty, false) {
		return dirty
	}
	names, imports := make([]string, len(s.Files)), make([][]string, len(s.Files))
	for i, f := range s.Files {
		names[i], imports[i] = f.Name, f.Imports
	}
	of := components(names, imports)
	marked := map[int]bool{}
	for i, d := range dirty {
		if d {
			marked[of[i]] = true
		}
	}
	out := make([]bool, len(dirty))
	for i := range out {
		out[i] = marked[of[i]]
	}
	return out
}

// lint lints the marked files.
func (w *Workspace) lint(ctx context.Context, overlay map[string][]byte, next *state, dirty []bool, visit seen) error {
	var names []string
	var sources []lint.Source
	index := map[string]int{}
	for i, f := range w.Tree.Files {
		names = append(names, f.Name)
		s := &next.Files[i]
		if !dirty[i] || s.Hash == "" {
			continue
		}
		s.Findings, s.Problems, s.Imports, s.Setup = nil, nil, nil, nil
		index[f.Name] = i
		sources = append(sources, lint.Source{Path: f.Name, Read: func() ([]byte, error) {
			raw, err := w.bytes(i, overlay)
			if err == nil && hash(raw) != s.Hash {
				return nil, errChanged
			}
			return raw, err
		}})
	}
	problems, err := lint.RunPart(ctx, names, w.Rules, sources, w.workers(), func(f *lint.File, found []lint.Finding) {
		i := index[f.Path]
		s := &next.Files[i]
		s.Imports = f.ProjectImports()
		kept := lint.Suppress(f, found, w.All, w.Rules)
		for _, x := range kept {
			s.Findings = append(s.Findings, describe(w.Tree.Files[i].Path, x))
			if x.Of != "" && s.Setup == nil {
				s.Setup = f.Setup()
			}
		}
		if visit != nil {
			visit(i, s.Hash, f, kept, s.Findings)
		}
	})
	for _, p := range problems {
		i := index[p.Path]
		s := &next.Files[i]
		s.Problems = append(s.Problems, Problem{w.Tree.Files[i].Path, p.Line, firstLine(cause(p.Err).Error())})
		if errors.Is(p.Err, errChanged) {
			s.Hash = "changed" // not what was linted: read it again next time
		}
	}
	return err
}

var errChanged = errors.New("it changed while it was linted; run plimsoll lint again")

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
