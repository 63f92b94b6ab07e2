package command

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// shebang returns the words of a program's "#!" line, nil when it has none.
// "env" is looked through: "#!/usr/bin/env -S python3 -u" gives python3, -u.
// The two-line form that pip writes for long paths is understood.
func shebang(path string) ([]string, error) {
	head, err := readHead(path)
	if err != nil {
		return nil, refuse("read "+path+": "+err.Error(), "")
	}
	if !bytes.HasPrefix(head, []byte("#!")) {
		return nil, nil
	}
	lines := strings.SplitN(string(head[2:]), "\n", 3)
	words := strings.Fields(lines[0])
	if len(words) == 0 {
		return nil, nil
	}
	if filepath.Base(words[0]) == "env" {
		words = skipEnv(words[1:], map[string]string{})
	}
	if len(lines) > 1 && len(words) == 1 && filepath.Base(words[0]) == "sh" {
		// '''exec' "/long path/bin/python" "$0" "$@"
		if rest, ok := strings.CutPrefix(lines[1], "'''exec' "); ok {
			if quoted := strings.Split(rest, `"`); len(quoted) > 1 && strings.HasPrefix(rest, `"`) {
				return []string{quoted[1]}, nil
			}
			return strings.Fields(rest)[:1], nil
		}
	}
	return words, nil
}

// readHead returns at most the first 4 KiB of a file.
func readHead(path string) ([]byte, error) {
	f, _, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return head[:n], nil
}
