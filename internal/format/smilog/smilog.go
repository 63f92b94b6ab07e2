// Package smilog reads what other tools log of GPUs as samples of package series:
// nvidia-smi's CSV queries, its dmon and pmon, dcgmi dmon, metrics of dcgm-exporter in
// Prometheus's text format, and gpustat's JSON.
//
// What a log does not say is absent, and what it says in words ("[N/A]", "ERR!",
// "GPU is lost") is that status; neither is 0. A line that is cut is left out and
// told about. Logs without times are taken to be of one sample a second, which is
// told, too.
package smilog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A form is a kind of log.
type form struct {
	name   string // as messages call it
	detect func(lines []string) bool
	parser func(r *Reader) parser
}

// A parser takes one line after the other.
type parser interface {
	line(text string)
}

// forms are all, in the order in which they are tried.
var forms = []form{
	{"nvidia-smi dmon", isDmon, func(r *Reader) parser { return &dmon{r: r} }},
	{"nvidia-smi pmon", isPmon, func(r *Reader) parser { return &pmon{r: r} }},
	{"dcgmi dmon", isDcgmi, func(r *Reader) parser { return &dcgmi{r: r} }},
	{"dcgm-exporter", isProm, func(r *Reader) parser { return &prom{r: r} }},
	{"nvidia-smi CSV", isCSV, func(r *Reader) parser { return &csvLog{r: r} }},
}

// gpustatName is the form that is no lines.
const gpustatName = "gpustat JSON"

// Limits of a log.
const (
	mostLine    = 1 << 20
	mostDevices = 1024
	mostColumns = 512
	mostTold    = 100
)

// formOf is the form of a log that begins with prefix, nil for none.
func formOf(prefix []byte) *form {
	lines := strings.Split(string(bytes.TrimPrefix(text(prefix), []byte("\ufeff"))), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	for i := range forms {
		if forms[i].detect(lines) {
			return &forms[i]
		}
	}
	return nil
}

// Detect reports whether a file that begins with prefix is such a log.
func Detect(prefix []byte) bool { return isGpustat(prefix) || formOf(prefix) != nil }

// A Reader reads a log from front to back.
type Reader struct {
	Kind string // of the log, in words

	name    string
	lines   *bufio.Scanner
	whole   bool // the last line read ended with a line break
	parser  parser
	gpustat *gpustat
	build   builder
	n       int // lines
	done    bool
	told    map[string]bool
	left    []string
	untimed string // that times are assumed
}

// NewReader begins to read a log. One that is none of those that are known is an
// *input.SyntaxError.
func NewReader(src io.Reader, name string) (*Reader, error) {
	buf := bufio.NewReaderSize(src, 64<<10)
	prefix, err := buf.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if order := orderOf(prefix); order != nil {
		buf = bufio.NewReaderSize(&narrow{src: buf, order: order}, 64<<10)
		prefix = text(prefix)
	}
	r := &Reader{name: name, told: map[string]bool{}}
	if isGpustat(prefix) {
		r.Kind, r.gpustat = gpustatName, newGpustat(r, buf)
		return r, nil
	}
	f := formOf(prefix)
	if msg, hint, ok := Refused(prefix); f == nil && ok {
		return nil, &input.SyntaxError{File: name, Offset: 0, Msg: msg + ": " + hint}
	}
	if f == nil {
		return nil, &input.SyntaxError{File: name, Offset: 0, Msg: "this is no log of GPUs that is known: nvidia-smi --query-gpu with a header, dmon, pmon, dcgmi dmon, dcgm-exporter or gpustat --json"}
	}
	r.Kind = f.name
	r.lines = bufio.NewScanner(buf)
	r.lines.Buffer(nil, mostLine)
	r.lines.Split(r.splitLine)
	r.parser = f.parser(r)
	return r, nil
}

// splitLine is bufio.ScanLines that remembers whether a line was ended.
func (r *Reader) splitLine(data []byte, atEOF bool) (int, []byte, error) {
	n, line, err := bufio.ScanLines(data, atEOF)
	r.whole = n > 0 && data[n-1] == '\n'
	return n, line, err
}

// Left says what could not be read, a sentence each.
func (r *Reader) Left() []string { return r.left }

// Untimed says what is assumed of when samples were taken, "" where the log has it.
func (r *Reader) Untimed() string { return r.untimed }

// assume notes that the log does not say when.
func (r *Reader) assume(sentence string) { r.untimed = sentence }

// tell notes something that could not be read, once for each key.
func (r *Reader) tell(key, format string, args ...any) {
	if r.told[key] || len(r.left) >= mostTold {
		return
	}
	r.told[key] = true
	r.left = append(r.left, fmt.Sprintf(format, args...))
}

// Next returns the next sample, io.EOF behind the last.
func (r *Reader) Next() (*series.Sample, error) {
	for len(r.build.ready) == 0 && !r.done {
		if err := r.more(); err != nil {
			return nil, err
		}
	}
	if len(r.build.ready) == 0 {
		return nil, io.EOF
	}
	s := r.build.ready[0]
	r.build.ready = r.build.ready[1:]
	return s, nil
}

// more reads a line, or a document.
func (r *Reader) more() error {
	if r.gpustat != nil {
		if !r.gpustat.more() {
			r.end()
		}
		return nil
	}
	if r.lines.Scan() {
		r.n++
		r.parser.line(strings.TrimRight(strings.ToValidUTF8(strings.TrimPrefix(r.lines.Text(), "\ufeff"), "\uFFFD"), "\r \t"))
		return nil
	}
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		r.tell("long", "line %d is longer than %d bytes; what follows is left out", r.n+1, mostLine)
	case err != nil:
		return fmt.Errorf("read %s behind line %d: %w", r.name, r.n, err)
	}
	r.end()
	return nil
}

func (r *Reader) end() {
	r.build.flush()
	r.done = true
}
