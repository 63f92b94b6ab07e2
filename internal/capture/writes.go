package capture

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture/overlay"
)

// kept is what the overlay's actions are called in a result.
var kept = map[overlay.Action]string{
	overlay.Create: "new file", overlay.Overwrite: "existing file", overlay.Delete: "deletion",
}

// addChanges lists what the overlay kept from the user's files. What the
// helper has named by the call that made it is not listed twice, and what
// lies in a new folder goes with it.
func (r *Result) addChanges(changes []overlay.Change) {
	folders := map[string]bool{}
	for _, c := range changes {
		if c.Folder && c.Action == overlay.Create {
			folders[c.Path] = true
		}
	}
	inside := map[string]int{}
	var list []Write
	for _, c := range changes {
		top := outermost(c.Path, folders)
		switch {
		case c.Action == overlay.NoSpace:
			r.warn("overlay-full", fmt.Sprintf("%s was too large to be copied, so the script could not change it", c.Path))
		case top != "":
			inside[top]++
		case c.Folder:
			list = append(list, Write{Action: "redirected", What: "new folder", Path: c.Path})
		case !r.writes(c.Path):
			list = append(list, Write{Action: "redirected", What: kept[c.Action], Path: c.Path})
		}
	}
	for _, w := range list {
		w.Count = max(inside[w.Path], 1)
		r.Writes = append(r.Writes, w)
	}
}

// outermost is the highest of the folders that a path lies in, "" for none.
func outermost(path string, folders map[string]bool) string {
	top := ""
	for dir := filepath.Dir(path); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if folders[dir] {
			top = dir
		}
	}
	return top
}

// writes reports whether a path is listed already.
func (r *Result) writes(path string) bool {
	return slices.ContainsFunc(r.Writes, func(w Write) bool {
		return w.Path == path || strings.HasPrefix(path, strings.TrimSuffix(w.Path, "/")+"/")
	})
}
