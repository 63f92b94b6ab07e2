package overlay

import (
	"fmt"
	"strings"
)

// Variable is the environment variable that tells the library what to do;
// without it all calls pass.
const Variable = "PLIMSOLL_FILES"

// A Config says where writes go.
type Config struct {
	Root  string   // folder that receives what is written; made if missing
	Log   string   // file that lists it; see ReadLog
	Allow []string // paths that are written in place; /dev, /proc and /sys always are
}

// Value is the value of Variable. Paths must be absolute and hold neither
// semicolons nor, in Allow, colons.
func (c Config) Value() (string, error) {
	for _, p := range append([]string{c.Root, c.Log}, c.Allow...) {
		if !strings.HasPrefix(p, "/") || strings.Contains(p, ";") {
			return "", fmt.Errorf("set up the overlay: path %q is not absolute or holds a semicolon", p)
		}
	}
	for _, p := range c.Allow {
		if strings.Contains(p, ":") {
			return "", fmt.Errorf("set up the overlay: path %q holds a colon", p)
		}
	}
	return "root=" + c.Root + ";log=" + c.Log + ";allow=" + strings.Join(c.Allow, ":"), nil
}
