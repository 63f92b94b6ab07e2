package hub

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/pattern"
)

// An id names a repository on the hub, and a revision of it.
type id struct {
	repo     string // "org/name", or "name" for the oldest
	revision string
}

// maxID is the longest id that the hub allows.
const maxID = 96

// part is one of the two parts of an id; revision is a branch, tag or commit, or
// "refs/pr/7"; folder is a commit's in the cache.
var (
	part     = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	revision = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_.@/+-]{0,127}$`)
	folder   = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
)

// parseID reads "org/name", "name" or "org/name@revision".
func parseID(name string) (id, error) {
	repo, rev, ok := strings.Cut(name, "@")
	if !ok {
		rev = "main"
	}
	parts := strings.Split(repo, "/")
	valid := len(repo) <= maxID && len(parts) <= 2
	for _, p := range parts {
		valid = valid && part.MatchString(p) && !strings.Contains(p, "..") && !strings.Contains(p, "--")
	}
	if !valid {
		return id{}, unknownName(name)
	}
	if !revision.MatchString(rev) || strings.Contains(rev, "..") || strings.Contains(rev, "//") || strings.HasSuffix(rev, "/") {
		return id{}, &family.Error{Msg: fmt.Sprintf("%q names no revision of %s", shortened(rev), repo), Hint: "after @ stands a branch, a tag or a commit; without it the newest is meant"}
	}
	return id{repo, rev}, nil
}

// onHub reports whether the id may be looked up on the hub. A single word is
// likelier a misspelled name than one of the few old ids without an
// organisation.
func (i id) onHub() bool { return strings.Contains(i.repo, "/") }

// String is the id as the user may write it.
func (i id) String() string {
	if i.revision == "main" {
		return i.repo
	}
	return i.repo + "@" + i.revision
}

// shortened bounds what an error quotes.
func shortened(s string) string {
	const limit = 100
	if len(s) > limit {
		s = s[:limit] + "..."
	}
	return s
}

// unknownName is the error for a name that leads nowhere.
func unknownName(name string) error {
	name = shortened(name)
	hint := "plimsoll models lists the known names; a hub id is ORGANISATION/NAME; a config.json or its directory works, too"
	if near := family.NearestBuiltins(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? plimsoll models lists all names"
	}
	return &family.Error{Msg: fmt.Sprintf("no model is called %q, and no file or directory with a config.json is", name), Hint: hint}
}
