package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
)

// maxFixRounds bounds how often a file is fixed and linted again; a file whose
// fixes still go on then is left alone.
const maxFixRounds = 10

// A FixResult is what Fix did.
type FixResult struct {
	Files    []FileResult // as they are now
	Fixed    []FixedFile
	Problems []Problem
}

// A FixedFile is a file that fixes were written into.
type FixedFile struct {
	Path  string
	Fixes int
}

// A fixer is Fix at work.
type fixer struct {
	*Workspace
	allowed func(Finding) bool
	round   int
	before  map[string][]byte // what is on the disk, of files that are fixed
	overlay map[string][]byte // what they are so far
	changed map[string][]byte // in this round
	count   map[int]int
	given   map[int]bool // given up
	out     *FixResult
}

// Fix applies fixes until there are none that may be made, and writes the
// files. A file that someone changes meanwhile is left alone. filter gives, for
// each round, a function that says of which findings.
func (w *Workspace) Fix(ctx context.Context, filter func() func(Finding) bool) (*FixResult, error) {
	x := &fixer{
		Workspace: w, out: &FixResult{},
		before: map[string][]byte{}, overlay: map[string][]byte{}, count: map[int]int{}, given: map[int]bool{},
	}
	cache := w.Cache
	w.Cache, w.state = "", nil
	defer func() { w.Cache = cache }()
	for ; ; x.round++ {
		x.changed, x.allowed = map[string][]byte{}, filter()
		var err error
		if x.out.Files, err = w.check(ctx, x.overlay, x.file); err != nil {
			return nil, err
		}
		if len(x.changed) == 0 {
			break
		}
		maps.Copy(x.overlay, x.changed)
	}
	if x.write() {
		return x.out, nil
	}
	var err error // what could not be written still is as it was
	x.out.Files, err = w.check(ctx, x.overlay, nil)
	return x.out, err
}

// file makes the fixes of one file, for the next round.
func (x *fixer) file(i int, read string, f *lint.File, kept []lint.Finding, described []Finding) {
	var fixes []*lint.Fix
	for k, found := range kept {
		if found.Fix != nil && x.allowed(described[k]) {
			fixes = append(fixes, found.Fix)
		}
	}
	if len(fixes) == 0 || x.given[i] {
		return
	}
	name := x.Tree.Files[i].Name
	raw, err := x.bytes(i, x.overlay)
	if err == nil && hash(raw) != read {
		err = errChanged
	}
	if err == nil && x.round == maxFixRounds {
		err = errors.New("its fixes do not come to an end; please report it")
	}
	var text []byte
	var made []*lint.Fix
	if err == nil {
		text, made, err = lint.Fixed(f, raw, fixes)
	}
	switch {
	case err != nil:
		x.problem(i, err)
		x.given[i] = true
		if b, ok := x.before[name]; ok { // all or nothing
			x.changed[name] = b
			delete(x.count, i)
		}
	case len(made) > 0:
		if x.before[name] == nil {
			x.before[name] = raw
		}
		x.changed[name] = text
		x.count[i] += len(made)
	}
}

func (x *fixer) problem(i int, err error) {
	x.out.Problems = append(x.out.Problems, Problem{x.Tree.Files[i].Path, 0, "not fixed: " + err.Error()})
}

// write writes the files, and reports whether all could be. Those that could not
// are taken back.
func (x *fixer) write() bool {
	whole := true
	for _, i := range slices.Sorted(maps.Keys(x.count)) {
		f := x.Tree.Files[i]
		if err := x.replace(i, x.before[f.Name], x.overlay[f.Name]); err != nil {
			x.problem(i, err)
			delete(x.overlay, f.Name)
			whole = false
			continue
		}
		x.out.Fixed = append(x.out.Fixed, FixedFile{f.Path, x.count[i]})
	}
	return whole
}

// replace writes a file that still is as it was, at the end of its links, with
// the permissions that it has.
func (w *Workspace) replace(i int, old, text []byte) error {
	now, err := w.bytes(i, nil)
	if err != nil {
		return err
	}
	if hash(now) != hash(old) {
		return errChanged
	}
	name, err := filepath.EvalSymlinks(filepath.FromSlash(w.Tree.Files[i].Path))
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o222 == 0 {
		return errors.New("the file is read-only")
	}
	err = writeAtomically(name, info.Mode().Perm(), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write: %w", cause(err))
	}
	return nil
}
