package attribute

import (
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Line is where an allocation is said to come from.
type Line struct {
	File     string // "" when there was no Python stack
	Line     int
	Function string
	User     bool // in the user's own code
}

// A lineTable finds the line of each stack, once.
type lineTable struct {
	users  []string // folders with a slash at the end
	helper string
	known  map[tape.SiteID]Line
}

func newLineTable(users []string, helper string) lineTable {
	t := lineTable{known: map[tape.SiteID]Line{}}
	for _, dir := range users {
		if dir != "" {
			t.users = append(t.users, strings.TrimSuffix(filepath.Clean(dir), "/")+"/")
		}
	}
	if helper != "" {
		t.helper = filepath.Clean(helper) + "/"
	}
	return t
}

// Line returns the line that is named for a stack: the innermost one in the
// user's own folders; without any, the innermost outside of installed
// packages; without any, the innermost outside of PyTorch; else the innermost.
func (r *Recording) Line(s tape.SiteID) Line {
	if l, ok := r.lines.known[s]; ok {
		return l
	}
	l := r.lines.choose(r.Tape.Site(s))
	r.lines.known[s] = l
	return l
}

func (t *lineTable) choose(frames []tape.Frame) Line {
	i := t.frame(frames)
	if i < 0 {
		return Line{}
	}
	f := frames[i]
	return Line{File: f.File, Line: f.Line, Function: f.Name, User: t.isUser(f.File)}
}

// frame is the index of the frame that is named, -1 for an empty stack.
func (t *lineTable) frame(frames []tape.Frame) int {
	for _, accept := range []func(string) bool{t.isUser, isLoose, outsidePyTorch, func(string) bool { return true }} {
		for i, f := range frames {
			if accept(f.File) && (t.helper == "" || !strings.HasPrefix(f.File, t.helper)) {
				return i
			}
		}
	}
	return -1
}

// Frame is the index of the frame that Line names, -1 when there is none.
func (r *Recording) Frame(frames []tape.Frame) int { return r.lines.frame(frames) }

// isUser reports whether a file lies in the user's folders and was not
// installed there, as the packages of a virtual environment beside the script
// are.
func (t *lineTable) isUser(file string) bool {
	if installed(file) {
		return false
	}
	for _, dir := range t.users {
		if strings.HasPrefix(file, dir) {
			return true
		}
	}
	return false
}

// isLoose accepts real files that no package manager put there.
func isLoose(file string) bool { return filepath.IsAbs(file) && !installed(file) }

func installed(file string) bool {
	return strings.Contains(file, "/site-packages/") || strings.Contains(file, "/dist-packages/") ||
		strings.Contains(file, "/lib/python3") || strings.Contains(file, "/torchinductor_")
}

func outsidePyTorch(file string) bool {
	return filepath.IsAbs(file) && !strings.Contains(file, "-packages/torch/")
}
