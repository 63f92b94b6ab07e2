package overlay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// An Action is what would have happened to a path.
type Action string

// The actions.
const (
	Create    Action = "create"    // something new
	Overwrite Action = "overwrite" // the contents of an existing file
	Delete    Action = "delete"    // an existing file or folder
	NoSpace   Action = "no-space"  // an existing file was too large to be copied; the program got an error
	Uncaught  Action = "uncaught"  // a program or library whose writes cannot be kept away
)

// A Change is what the program would have done to one path in all.
type Change struct {
	Action Action
	Path   string
	Folder bool // of Create
}

// maxLine is the longest line that the library writes.
const maxLine = 8 << 10

// ReadLog reads the library's log and sums it up by path, in the order of
// the first change. What the program made and deleted again is left out. A
// missing file is an empty log.
func ReadLog(path string) ([]Change, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of writes: %w", err)
	}
	defer f.Close()
	return sumUp(f)
}

func sumUp(r io.Reader) ([]Change, error) {
	state := map[string]*Change{}
	var order []string
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	for lines.Scan() {
		action, path, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			continue // a line that a full disk cut
		}
		path = unescape.Replace(path)
		old, seen := state[path]
		if !seen {
			order = append(order, path)
		}
		state[path] = next(old, action, path)
		if action == "removed" && old != nil && old.Folder {
			forgetBelow(state, path)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the list of writes: %w", err)
	}
	var out []Change
	for _, path := range order {
		if c := state[path]; c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

// forgetBelow drops what the program made in a folder that it then moved or
// deleted.
func forgetBelow(state map[string]*Change, folder string) {
	for path, c := range state {
		if c != nil && c.Action == Create && strings.HasPrefix(path, folder+"/") {
			state[path] = nil
		}
	}
}

var unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

// next is what has become of a path after one more action.
func next(old *Change, action, path string) *Change {
	original := old != nil && (old.Action == Overwrite || old.Action == Delete)
	switch action {
	case "create", "mkdir":
		if original {
			return &Change{Action: Overwrite, Path: path}
		}
		return &Change{Action: Create, Path: path, Folder: action == "mkdir"}
	case "removed":
		if original {
			return &Change{Action: Delete, Path: path}
		}
		return nil
	case "overwrite", "delete", "no-space", "uncaught":
		return &Change{Action: Action(action), Path: path}
	}
	return old
}
