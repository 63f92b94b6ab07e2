package oomlog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/internal/pattern"
)

// A prefix is something that a logger, a launcher or a container puts before
// each line.
type prefix struct {
	first string // characters that it may begin with
	form  *pattern.Pattern
	rank  bool // its first group is a rank
}

// prefixes are tried one after the other until none is there. They must not
// match the beginning of a message.
var prefixes = []prefix{
	// torchrun and PyTorch: "[rank3]: ", "[default3]:"; mpirun --tag-output: "[1,3]<stderr>:".
	{"[", pattern.New(`^\[(?:rank|default|gpu|worker) ?(\d{1,6})\]:? ?`), true},
	{"[", pattern.New(`^\[\d+,(\d{1,6})\](?:<std(?:err|out)>)?:? ?`), true},
	// srun --label: "3: ".
	{"0123456789", pattern.New(`^(\d{1,5}): `), true},
	// vLLM and Ray: "(VllmWorker rank=1 pid=2445156) ", "(train pid=1094, ip=10.0.0.1) ".
	{"(", pattern.New(`^\([^()]{0,80}rank=(\d{1,6})[^()]{0,80}\) ?`), true},
	{"(", pattern.New(`^\([^()]{0,80}pid=\d+[^()]{0,80}\) ?`), false},
	// Clocks: "2025-11-12T11:25:13.4961658Z ", "2021-09-22 12:04:35.645579: ", "[2024-05-01 12:00:00,123] ".
	{"0123456789[", pattern.New(`^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?:?(?: - | ?\| ?| )?`), false},
	// The kernel's: "[    4.972801] ".
	{"[", pattern.New(`^\[ *\d+\.\d+\] `), false},
	// syslog: "Nov 12 11:25:13 host python[123]: ".
	{"JFMASOND", pattern.New(`^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: `), false},
	// Google's: "I tensorflow/core/bfc_allocator.cc:696] ", "E0512 16:00:15.123456 123 file.go:1] ".
	{"IWEF", pattern.New(`^[IWEF](?:\d{4} [\d:.]+ +\d+)? [\w./\\-]+\.\w+:\d+\] ?`), false},
	// vLLM: "ERROR 04-01 23:46:56 [engine.py:160] ", "INFO 02-26 09:54:05 worker.py:267] ".
	{"DIWEC", pattern.New(`^(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d (?:\[[\w./-]+:\d+\]|[\w./-]+:\d+\]) ?`), false},
	// Loggers: "[INFO] ", "[WARNING|trainer.py:803] ".
	{"[", pattern.New(`^\[(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)[^\[\]]{0,120}\] ?(?:>> ?)?`), false},
	// A quotation: "> ".
	{">", pattern.New(`^> `), false},
	// Compose: "trainer-1  | ".
	{"abcdefghijklmnopqrstuvwxyz", pattern.New(`^[a-z0-9][\w.-]{0,80} *\| `), false},
}

// prefixesOf are those that begin with a character.
var prefixesOf = func() (out [byteValues][]prefix) {
	for _, p := range prefixes {
		for i := range len(p.first) {
			out[p.first[i]] = append(out[p.first[i]], p)
		}
	}
	return out
}()

// mostPrefixes is how many prefixes a line may have.
const mostPrefixes = 8

// unprefixed takes the prefixes off a line and returns the rank that they
// name, -1 for none.
func unprefixed(line []byte) (rest []byte, rank int) {
	rank = -1
	for range mostPrefixes {
		for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			line = line[1:]
		}
		n := len(line)
		if n == 0 {
			break
		}
		for _, p := range prefixesOf[line[0]] {
			at := p.form.FindSubmatchIndex(line[:min(len(line), 256)])
			if at == nil {
				continue
			}
			if p.rank && rank < 0 { // the outermost: it is on every line
				if r, err := strconv.Atoi(string(line[at[2]:at[3]])); err == nil {
					rank = r
				}
			}
			line = line[at[1]:]
			break
		}
		if len(line) == n {
			break
		}
	}
	return line, rank
}

// plain takes terminal control and the frames of pretty tracebacks off a line.
func plain(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 && bytes.IndexByte(line, '[') < 0 && isASCII(line) {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == 0x1b:
			i += escapeLength(line[i:])
		case c == '[' && leftover(line[i:]) > 0:
			i += leftover(line[i:])
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(line[i:])
			if r >= 0x2500 && r <= 0x259f || r == 0x2771 || r == 0xa0 { // box drawing, the arrow of a traceback, a hard space
				out = append(out, ' ')
			} else {
				out = append(out, line[i:i+n]...)
			}
			i += n
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

func isASCII(line []byte) bool {
	for _, c := range line {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// escapeLength is how long the control sequence at the beginning of s is.
func escapeLength(s []byte) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[': // CSI: parameters, then one letter
		for i := 2; i < len(s) && i < 64; i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
	case ']': // OSC: until BEL or ST
		for i := 2; i < len(s) && i < 512; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b {
				return min(i+2, len(s))
			}
		}
	}
	return 2
}

// leftover is how long a colour is whose escape character was lost: "[31;1m".
func leftover(s []byte) int {
	for i := 1; i < len(s) && i < 12; i++ {
		switch c := s[i]; {
		case c == 'm' && i > 1:
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// dockerLine is what a line of Docker's json-file driver holds, or the line
// itself.
func dockerLine(line []byte) []byte {
	if !hasPrefix(line, `{"log":"`) {
		return line
	}
	var entry struct {
		Log string `json:"log"`
	}
	if json.Unmarshal(line, &entry) != nil {
		return line
	}
	return bytes.TrimRight([]byte(entry.Log), "\n")
}
