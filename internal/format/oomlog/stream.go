package oomlog

import (
	"bytes"
	"sort"
	"strings"
)

// A stream is what one rank wrote inside a window: its text in lower case
// without white space, and the lines that it came from.
type stream struct {
	rank  int
	text  []byte
	gap   []gap   // what stood before each byte
	at    []int32 // where the byte stood in the window
	lines []line
}

// A gap is what stands between two characters of a text.
type gap uint8

const (
	noGap gap = iota
	spaceGap
	lineGap // the end of a line, which may be a terminal's
)

// A line is one line of a stream.
type line struct {
	start  int // in the text of the stream
	number int // in the log, from 1
	offset int64
	body   string
	prefix string // that was taken off
}

// longestPrefix is how much of what stood before a line is kept.
const longestPrefix = 200

// longestLine is how much of a line is kept for people.
const longestLine = 1 << 10

// streams splits a window of the log, which begins with line number first at
// an offset, by ranks. A line without a rank goes on where the last one was:
// terminals wrap lines, and only the first part has the prefix.
func streams(window []byte, offset int64, first int) []*stream {
	var all []*stream
	var now *stream
	number, begin := first, offset
	for len(window) > 0 {
		raw, size, breaks := cutLine(window)
		whole := plain(dockerLine(raw))
		body, rank := unprefixed(whole)
		if now == nil || rank >= 0 && rank != now.rank {
			now = nil
			for _, s := range all {
				if s.rank == rank {
					now = s
				}
			}
			if now == nil {
				now = &stream{rank: rank}
				all = append(all, now)
			}
		}
		now.add(body, number, offset, int32(offset-begin)+int32(len(raw)-len(body)))
		now.lines[len(now.lines)-1].prefix = string(whole[:min(len(whole)-len(body), longestPrefix)])
		window, offset, number = window[size:], offset+int64(size), number+breaks
	}
	return all
}

// cutLine returns the first line, how many bytes it takes with its end, and
// how many line breaks these have. A carriage return ends a line, too: that is
// how progress bars write over themselves.
func cutLine(b []byte) (raw []byte, size, breaks int) {
	at := bytes.IndexAny(b, "\r\n")
	if at < 0 {
		return b, len(b), 0
	}
	if b[at] == '\n' {
		return b[:at], at + 1, 1
	}
	if at+1 < len(b) && b[at+1] == '\n' {
		return b[:at], at + 2, 1
	}
	return b[:at], at + 1, 0
}

// add appends a line; at is where its body begins in the window, as far as
// that can be said of a line with control characters.
func (s *stream) add(body []byte, number int, offset int64, at int32) {
	kept := body[:min(len(body), longestLine)]
	s.lines = append(s.lines, line{len(s.text), number, offset, strings.TrimRight(string(kept), " \t"), ""})
	before := lineGap
	for i, c := range body {
		if isSpace(c) || c == 0 {
			before = max(before, spaceGap)
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.text, s.gap, s.at = append(s.text, c), append(s.gap, before), append(s.at, at+int32(i))
		before = noGap
	}
}

// lineAt returns the index of the line that holds a byte of the text.
func (s *stream) lineAt(at int) int {
	return sort.Search(len(s.lines), func(i int) bool { return s.lines[i].start > at }) - 1
}

// bodies returns the lines from..to as they are shown.
func (s *stream) bodies(from, to int) []string {
	var out []string
	for i := max(from, 0); i < to && i < len(s.lines); i++ {
		if s.lines[i].body != "" {
			out = append(out, s.lines[i].body)
		}
	}
	return out
}
