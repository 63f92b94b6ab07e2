package capture

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// longestCode is how much of a source line is shown, bytes.
const longestCode = 160

// codeAt reads one line of a source file, "" where it cannot.
func codeAt(file string, line int) string {
	if !filepath.IsAbs(file) || line <= 0 {
		return ""
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
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
