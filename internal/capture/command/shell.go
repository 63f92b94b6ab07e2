package command

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

func isShell(path string) bool {
	switch filepath.Base(path) {
	case "sh", "bash", "dash", "zsh", "ksh":
		return true
	}
	return false
}

// maxShellScript is how much of a shell script is searched, bytes.
const maxShellScript = 1 << 20

var (
	// launchWord finds a word of a shell script that starts Python.
	launchWord = regexp.MustCompile(`(?m)(?:^|[\s;&|(=])((?:[^\s;&|()'"$=]*/)?(?:python[0-9.]*|torchrun|accelerate|deepspeed|lightning))(?:\s|$)`)
	// activateLine finds the virtual environment that a script enters.
	activateLine = regexp.MustCompile(`(?m)^\s*(?:source|\.)\s+["']?([^\s"']+)/bin/activate`)
)

// identifyShell guesses the interpreter of a shell script by the first word
// in it that starts Python. It is a guess, since variables decide, and the
// command says so.
func (c *Command) identifyShell(program string, words []string, s System) error {
	text, name := shellText(program, words, s)
	if text == "" {
		return interpreterUnknown(words[0] + " gives no script to look for Python in")
	}
	if name != "" {
		c.Dir = filepath.Dir(s.abs(name))
	}
	if m := activateLine.FindStringSubmatch(text); m != nil {
		if python := filepath.Join(s.abs(m[1]), "bin", "python"); s.isFile(python) {
			c.Python, c.Guessed = python, "the shell script activates "+m[1]
			return nil
		}
	}
	for _, m := range launchWord.FindAllStringSubmatch(text, -1) {
		path, err := s.find(m[1])
		if err != nil {
			continue
		}
		if !isPython(path) {
			line, err := shebang(path)
			if err != nil || len(line) == 0 {
				continue
			}
			if path, err = s.find(line[0]); err != nil {
				continue
			}
		}
		if isPython(path) {
			c.Python, c.Guessed = path, "the first Python that the shell script names is "+m[1]
			return nil
		}
	}
	return interpreterUnknown("the shell script " + words[0] + " names no Python that can be found")
}

// shellText is the script that a shell will run: the file that is the
// program, the first file among the arguments, or the text after -c.
func shellText(program string, words []string, s System) (text, name string) {
	if !isShell(program) {
		return readScriptText(program), program
	}
	for i, w := range words[1:] {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") && i+2 < len(words) {
			return words[i+2], ""
		}
		if !strings.HasPrefix(w, "-") {
			return readScriptText(s.abs(w)), w
		}
	}
	return "", ""
}

func readScriptText(path string) string {
	text, err := input.ReadFile(path, maxShellScript)
	if err != nil {
		return ""
	}
	return string(text)
}
