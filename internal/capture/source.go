package capture

import (
	"bufio"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// longestCode is how much of a source line is shown, bytes.
const longestCode = 160

// codeAt reads one line of a source file, "" where it cannot.
func codeAt(file string, line int) string {
	if !filepath.IsAbs(file) || line <= 0 {
		return ""
	}
	f, _, err := input.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		if n == line {
			text := strings.TrimSpace(in.Text())
			return text[:min(len(text), longestCode)]
		}
	}
	return ""
}
