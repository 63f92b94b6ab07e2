// Package workspace lints the files of a folder: it finds them, remembers what
// it found in those that did not change, and writes fixes into them.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// A File is one to lint.
type File struct {
	Path string // as the user wrote it, or below what the user wrote
	Name string // within the project, with slashes
}

// A Problem is a file or folder that was passed over, or only read in part.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return p.File + ": " + p.Message
}

// A Tree is what was found to lint.
type Tree struct {
	Root     string // absolute; what Names are relative to
	Files    []File
	Problems []Problem
}

// skipped are folders that hold no code of the project's own.
var skipped = map[string]bool{
	".git": true, ".hg": true, ".svn": true, ".venv": true, "venv": true, "__pycache__": true, "node_modules": true, "site-packages": true,
	".tox": true, ".nox": true, ".eggs": true, ".mypy_cache": true, ".pytest_cache": true, ".ruff_cache": true, ".ipynb_checkpoints": true,
	"__pypackages__": true, ".direnv": true, ".idea": true, ".vscode": true,
}

// rootMarks are what stands at the top of a project.
var rootMarks = []string{".git", "pyproject.toml", "plimsoll.toml", "setup.py", "setup.cfg"}

// Find lists the Python files and notebooks at and below paths. A path that is
// a file is taken whatever its name is. Links to folders are not followed.
// exclude are patterns as Matcher takes them, relative to base.
func Find(paths []string, base string, exclude []string) (*Tree, error) {
	f := &finder{tree: &Tree{}, seen: map[string]bool{}, base: base, exclude: exclude}
	var tops []string
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("lint %s: there is no such file or folder", p)
		}
		if err != nil {
			return nil, fmt.Errorf("lint %s: %w", p, cause(err))
		}
		if info.IsDir() {
			tops = append(tops, abs)
			f.walk(p)
			continue
		}
		tops = append(tops, filepath.Dir(abs))
		f.take(p, info)
	}
	f.tree.Root = rootOf(tops)
	sort.SliceStable(f.tree.Files, func(i, j int) bool { return f.tree.Files[i].Path < f.tree.Files[j].Path })
	for i := range f.tree.Files {
		file := &f.tree.Files[i]
		file.Name = relative(f.tree.Root, file.Path)
		file.Path = filepath.ToSlash(file.Path)
	}
	return f.tree, nil
}

type finder struct {
	tree    *Tree
	seen    map[string]bool // absolute paths
	base    string
	exclude []string
}

func (f *finder) walk(top string) {
	//nolint:errcheck // every error is a Problem and nil for WalkDir
	filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			f.problem(p, cause(err))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
			if p != top && (skipped[d.Name()] || isEnvironment(p) || f.excluded(p)) {
				return fs.SkipDir
			}
		case d.Type()&fs.ModeSymlink != 0:
			f.link(p)
		case isPython(p) && !f.excluded(p):
			info, err := d.Info()
			if err != nil {
				f.problem(p, cause(err))
				return nil
			}
			f.take(p, info)
		}
		return nil
	})
}

// link takes a link to a file; one to a folder would be linted twice, or for ever.
func (f *finder) link(p string) {
	info, err := os.Stat(p)
	switch {
	case err != nil && isPython(p):
		f.problem(p, cause(err))
	case err != nil: // a broken link to something else
	case info.IsDir():
		f.problem(p, errors.New("a link to a folder, which is not followed"))
	case isPython(p) && !f.excluded(p):
		f.take(p, info)
	}
}

func (f *finder) take(p string, info fs.FileInfo) {
	if !info.Mode().IsRegular() {
		f.problem(p, errors.New("no file that can be read twice (a pipe, a socket or a device)"))
		return
	}
	if abs, err := filepath.Abs(p); err == nil {
		if f.seen[abs] {
			return
		}
		f.seen[abs] = true
	}
	f.tree.Files = append(f.tree.Files, File{Path: filepath.Clean(p)})
}

func (f *finder) problem(p string, err error) {
	f.tree.Problems = append(f.tree.Problems, Problem{File: filepath.ToSlash(p), Message: err.Error()})
}

func (f *finder) excluded(p string) bool { return Matches(f.exclude, relative(f.base, p)) }

func isPython(p string) bool {
	switch strings.ToLower(filepath.Ext(p)) {
	case ".py", ".ipynb", ".pyw":
		return true
	}
	return false
}

// isEnvironment reports whether a folder is a virtual environment.
func isEnvironment(p string) bool {
	_, err := os.Lstat(filepath.Join(p, "pyvenv.cfg"))
	return err == nil
}

// relative is a path below base, with slashes; the path itself if it is not
// below it.
func relative(base, p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return filepath.ToSlash(p)
	}
	rel, err := filepath.Rel(base, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(abs)
	}
	return filepath.ToSlash(rel)
}

// Matches reports whether a name or one of the folders it is in matches one of
// the patterns. A pattern without a slash is compared with each part of the
// name, one with a slash with the beginning of the name.
func Matches(patterns []string, name string) bool {
	parts := strings.Split(name, "/")
	for _, p := range patterns {
		p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
		n := strings.Count(p, "/") + 1
		for i := range parts {
			part := parts[i]
			if n > 1 {
				if i > 0 || n > len(parts) {
					break
				}
				part = strings.Join(parts[:n], "/")
			}
			if ok, err := path.Match(p, part); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// rootOf is the folder that module names are relative to: the nearest above
// all tops that looks like the top of a project, else the deepest that holds
// them all, outside of packages.
func rootOf(tops []string) string {
	common := tops[0]
	for _, t := range tops[1:] {
		for common != filepath.Dir(common) && !within(common, t) {
			common = filepath.Dir(common)
		}
	}
	for dir := common; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if slices.ContainsFunc(rootMarks, func(m string) bool { return exists(filepath.Join(dir, m)) }) {
			return dir
		}
	}
	for exists(filepath.Join(common, "__init__.py")) && common != filepath.Dir(common) {
		common = filepath.Dir(common)
	}
	return common
}

func within(dir, p string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

// cause is an error without the path, which is said beside it.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
