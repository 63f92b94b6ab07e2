package child

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// tailSize is how much of the end of an output is kept in memory, bytes.
const tailSize = 256 << 10

// A Log keeps what a script prints: the beginning in a file up to a limit,
// and the end in memory. A script that prints without end costs time, not
// disk.
type Log struct {
	mu      sync.Mutex
	file    *os.File
	room    int64 // bytes that may still go to the file
	tail    []byte
	dropped int64
	also    io.Writer
}

// NewLog opens the file. What is written also goes to also, if it is not nil.
func NewLog(path string, limit int64, also io.Writer) (*Log, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &Log{file: f, room: limit, also: also}, nil
}

// Write never fails: losing the script's output must not stop the script.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(int64(len(p)), l.room)
	if n > 0 {
		if _, err := l.file.Write(p[:n]); err != nil {
			n = 0
		}
		l.room -= n
	}
	l.dropped += int64(len(p)) - n
	l.tail = append(l.tail, p...)
	if len(l.tail) > 2*tailSize {
		l.tail = append(l.tail[:0], l.tail[len(l.tail)-tailSize:]...)
	}
	if l.also != nil {
		l.also.Write(p) //nolint:errcheck // the terminal went away
	}
	return len(p), nil
}

// Close closes the file and returns how many bytes did not fit into it.
func (l *Log) Close() (dropped int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped, l.file.Close()
}

// Tail returns the last lines of the output, at most n, made safe for a
// terminal: control characters and bytes that are no text become dots, and of
// a line that was redrawn with carriage returns only the last state is kept.
func (l *Log) Tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimRight(string(l.tail), "\n"), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = Printable(line[strings.LastIndexByte(line, '\r')+1:])
	}
	return strings.Join(lines, "\n")
}

// Printable replaces what would disturb a terminal by dots.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) && r != '\t' && r != '\n' {
			return '.'
		}
		return r
	}, s)
}
