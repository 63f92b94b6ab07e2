package oomlog

import (
	"bytes"
	"fmt"
	"strings"
)

// A form is a message with holes, as it stands in the tables:
//
//	Tried to allocate {requested_bytes:size} (GPU {gpu_index:int}; ...
//
// Holes are {name:type}; types are size, int, grouped, word (until the next white
// space), text (until what follows in the form), shape and processes. {*}
// skips text. <? ?> is a part that may be missing. It is compared with text in
// lower case without white space.
type form struct {
	source string
	parts  []part
}

type partKind uint8

const (
	literalPart partKind = iota
	sizePart
	intPart
	groupedPart
	wordPart
	textPart
	shapePart
	processesPart
	optionalPart
)

type part struct {
	kind partKind
	name string // of the hole; "" is skipped
	text string // of a literal
	opt  []part
}

// longestText is how far {*} and text holes look for what follows.
const longestText = 400

var partKinds = map[string]partKind{
	"size": sizePart, "int": intPart, "grouped": groupedPart, "word": wordPart, "text": textPart, "shape": shapePart, "processes": processesPart,
}

// newForm compiles a form of the tables; a mistake in one is found by any test.
func newForm(source string) *form {
	parts, rest := parseParts(source)
	if rest != "" || len(parts) == 0 || parts[0].kind != literalPart {
		panic(fmt.Sprintf("form %q: it must begin with text and close what it opens", source))
	}
	return &form{source, parts}
}

func parseParts(s string) (parts []part, rest string) {
	for s != "" {
		at := strings.IndexAny(s, "{<?")
		switch {
		case at < 0:
			return appendLiteral(parts, s), ""
		case strings.HasPrefix(s[at:], "?>"):
			return appendLiteral(parts, s[:at]), s[at:]
		case strings.HasPrefix(s[at:], "<?"):
			parts = appendLiteral(parts, s[:at])
			opt, after := parseParts(s[at+2:])
			if !strings.HasPrefix(after, "?>") {
				panic("form: <? is not closed in " + s)
			}
			parts, s = append(parts, part{kind: optionalPart, opt: opt}), after[2:]
		case s[at] == '{':
			parts = appendLiteral(parts, s[:at])
			hole, after, closed := strings.Cut(s[at+1:], "}")
			name, kind, _ := strings.Cut(hole, ":")
			if name == "*" {
				name, kind = "", "text"
			}
			k, known := partKinds[kind]
			if !closed || !known {
				panic("form: what is {" + hole + "}?")
			}
			parts, s = append(parts, part{kind: k, name: name}), after
		default:
			parts, s = appendLiteral(parts, s[:at+1]), s[at+1:]
		}
	}
	return parts, ""
}

func appendLiteral(parts []part, s string) []part {
	s = squeezed(s)
	if s == "" {
		return parts
	}
	if n := len(parts); n > 0 && parts[n-1].kind == literalPart {
		parts[n-1].text += s
		return parts
	}
	return append(parts, part{kind: literalPart, text: s})
}

// anchor is the text that the form begins with.
func (f *form) anchor() string { return f.parts[0].text }

// A match is what a form found.
type match struct {
	fields    map[string]int64
	words     map[string]string
	processes []Process
	literal   int    // bytes of the form's own text that were there
	holes     int    // holes that were filled
	end       int    // in the text
	whole     bool   // the form was there to its end
	unit      string // of the last size
	last      string // field that was set last, if nothing followed yet
}

// numberLength is how far a number may reach. A line may end inside of one
// where a terminal wrapped it: before its unit is there, or before what the
// form has after it. Otherwise the next line begins with another number.
func numberLength(kind partKind, next []part, t *stream, at int) int {
	rest := t.text[at:]
	digits := 0
	for digits < len(rest) && (rest[digits] >= '0' && rest[digits] <= '9' || rest[digits] == '.' || rest[digits] == ',' || rest[digits] == '-') {
		digits++
	}
	for n := 1; n < digits; n++ {
		switch t.gap[at+n] {
		case noGap:
			continue
		case lineGap:
			if kind == sizePart {
				continue
			}
			if len(next) > 0 && next[0].kind == literalPart && !hasPrefix(rest[n:], next[0].text) && hasPrefix(rest[digits:], next[0].text) {
				continue
			}
		}
		return n
	}
	return len(rest)
}

// leastLabel is how much of a label says that it is this one.
const leastLabel = 3

// readers read the numbers of the holes.
var readers = map[partKind]func([]byte) (int64, int){sizePart: amount, intPart: integer, groupedPart: grouped}

// match compares the form with the text from at on. It goes as far as the text
// does; what is missing then makes the match less than whole.
func (f *form) match(t *stream, at int) match {
	m := match{fields: map[string]int64{}, words: map[string]string{}, end: at}
	m.whole = m.parts(f.parts, t)
	return m
}

func (m *match) parts(parts []part, t *stream) bool {
	for i, p := range parts {
		if p.kind == optionalPart {
			before := *m
			before.fields, before.words = copyMap(m.fields), copyMap(m.words)
			if !m.parts(p.opt, t) {
				*m = before
			}
			continue
		}
		if !m.part(p, parts[i+1:], t) {
			return false
		}
	}
	return true
}

func (m *match) part(p part, next []part, t *stream) bool {
	rest := t.text[m.end:]
	switch p.kind {
	case literalPart:
		n := common(rest, p.text)
		m.end += n
		m.literal += n
		if n < len(p.text) && n < leastLabel && m.last != "" && isLetter(p.text[0]) {
			// What the last number is stands after it, and is missing.
			delete(m.fields, m.last)
			m.holes--
		}
		m.last = ""
		return n == len(p.text)
	case sizePart, intPart, groupedPart:
		v, n := readers[p.kind](rest[:numberLength(p.kind, next, t, m.end)])
		if n == 0 {
			return false
		}
		m.unit = string(bytes.TrimLeft(rest[:n], "-0123456789.,"))
		m.end += n
		m.set(p.name, v)
		m.last = p.name
		return true
	case processesPart:
		m.list(t)
		return true
	}
	n := textLength(p, next, t, m.end)
	if n < 0 {
		return false
	}
	if p.name != "" {
		m.words[p.name] = string(rest[:n])
		m.holes++
	}
	m.end += n
	return true
}

func (m *match) set(name string, v int64) {
	m.holes++
	if name != "" && name != "_" {
		m.fields[name] = v
	}
}

// textLength is how long a text hole is, -1 when it does not end.
func textLength(p part, next []part, t *stream, at int) int {
	rest := t.text[at:]
	switch p.kind {
	case wordPart:
		n := 0
		for n < len(rest) && n < longestText && (n == 0 || t.gap[at+n] == noGap) {
			n++
		}
		return n
	case shapePart:
		n := 0
		for n < len(rest) && n < longestText && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == ',') {
			n++
		}
		return n
	}
	if len(next) == 0 || next[0].kind != literalPart {
		return -1
	}
	return bytes.Index(rest[:min(len(rest), longestText)], []byte(next[0].text))
}

// The process list of PyTorch's messages from 2.1 on.
const (
	listEntry = "process"
	listHas   = "has"
	listOwn   = "includingnon-pytorchmemory,thisprocesshas"
	listEnd   = "memoryinuse."
)

// noSize is what drivers report that do not know what a process holds, as under
// Windows: 2^64 bytes.
const noSize = 1 << 60

// mostProcesses bounds the list of one message.
const mostProcesses = 1 << 10

// list reads the process list.
func (m *match) list(t *stream) {
	for {
		rest := t.text[m.end:]
		switch {
		case hasPrefix(rest, listOwn):
			v, n := amount(rest[len(listOwn):])
			if n == 0 {
				return
			}
			// A message may be cut here; the size has its unit already.
			after := rest[len(listOwn)+n:]
			k := common(after, listEnd)
			if k < len(listEnd) && k < len(after) {
				return
			}
			m.end += len(listOwn) + n + k
			if v < noSize {
				m.set("this_process_bytes", v)
			}
		case hasPrefix(rest, listEntry):
			pid, n := integer(rest[len(listEntry):])
			after := rest[len(listEntry)+n:]
			if n == 0 || !hasPrefix(after, listHas) {
				return
			}
			v, k := amount(after[len(listHas):])
			if k == 0 || !hasPrefix(after[len(listHas)+k:], listEnd) {
				return
			}
			m.end += len(listEntry) + n + len(listHas) + k + len(listEnd)
			if m.holes++; len(m.processes) < mostProcesses && v < noSize {
				m.processes = append(m.processes, Process{pid, bytesOf(v)})
			}
		default:
			return
		}
	}
}

// common is how many bytes s and p have in common at their beginning.
func common(s []byte, p string) int {
	n := 0
	for n < len(s) && n < len(p) && s[n] == p[n] {
		n++
	}
	return n
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

func copyMap[V any](in map[string]V) map[string]V {
	out := make(map[string]V, len(in))
	for k, v := range in {
		out[k] = v
	}
	return out
}

// squeezed is s in lower case without white space. Bytes of other encodings
// than UTF-8 stay as they are.
func squeezed(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case isSpace(c):
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}
