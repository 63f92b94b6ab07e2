package hub

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family"
)

// An id names a repository on the hub, and a revision of it.
type id struct {
	repo     string // "org/name", or "name" for the oldest
	revision string
}

// maxID is the longest id that the hub allows.
const maxID = 96

// part is one of the two parts of an id; revision is a branch, tag or commit.
var (
	part     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	revision = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
)

// parseID reads "org/name", "name" or "org/name@revision".
func parseID(name string) (id, error) {
	repo, rev, ok := strings.Cut(name, "@")
	if !ok {
		rev = "main"
	}
	parts := strings.Split(repo, "/")
	valid := len(repo) <= maxID && len(parts) <= 2 && revision.MatchString(rev)
	for _, p := range parts {
		valid = valid && part.MatchString(p) && !strings.Contains(p, "..") && !strings.Contains(p, "--")
	}
	if !valid {
		return id{}, unknownName(name)
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

// unknownName is the error for a name that leads nowhere.
func unknownName(name string) error {
	const limit = 100
	if len(name) > limit {
		name = name[:limit] + "..."
	}
	hint := "plimsoll models lists the known names; a hub id is ORGANISATION/NAME; a config.json or its directory works, too"
	if near := family.NearestBuiltins(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? plimsoll models lists all names"
	}
	return &family.Error{Msg: fmt.Sprintf("no model is called %q, and no such file or directory is there", name), Hint: hint}
}
