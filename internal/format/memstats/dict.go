package memstats

import (
	"strconv"
	"strings"
)

// Bounds of a dictionary, whatever the text holds.
const (
	mostValues  = 4096
	longestKey  = 128
	deepestDict = 8
)

// A dictReader reads a dictionary as Python or JSON write it: quoted keys,
// a colon or the comma of a pair, and an integer or a dictionary inside.
type dictReader struct {
	data []byte
	at   int
	path []string
	s    *Stats
}

// readDict reads the dictionary that begins at a place. Dictionaries inside of
// dictionaries give names with dots.
func readDict(data []byte, at int) (s *Stats, end int, whole bool) {
	r := &dictReader{data: data, at: at, s: &Stats{Source: Dictionary, Device: -1, Offset: int64(at), Values: map[string]int64{}, Unit: 1}}
	depth := 0
	for r.at < len(data) {
		switch c := data[r.at]; c {
		case '{', '[', '(':
			depth++
			r.at++
		case '}', ']', ')':
			depth--
			r.at++
			if n := len(r.path); n > 0 && c == '}' {
				r.path = r.path[:n-1]
			}
			if depth <= 0 {
				return r.s, r.at, true
			}
		case '"', '\'':
			if !r.pair(&depth) {
				return r.s, r.at, false
			}
		case ' ', '\t', '\r', '\n', ',', '\\':
			r.at++
		default:
			if depth > 0 && r.word() {
				continue
			}
			return r.s, r.at, len(r.s.Values) > 0 && depth == 0
		}
		if depth > deepestDict*2 || len(r.s.Values) > mostValues {
			return r.s, r.at, false
		}
	}
	return r.s, r.at, false
}

// word skips a name or a number between keys, such as OrderedDict.
func (r *dictReader) word() bool {
	n := r.at
	for n < len(r.data) && n-r.at < longestKey && (r.data[n] == '_' || r.data[n] == '.' || r.data[n] == '-' || r.data[n] >= '0' && r.data[n] <= '9' || r.data[n]|0x20 >= 'a' && r.data[n]|0x20 <= 'z') {
		n++
	}
	if n == r.at {
		return false
	}
	r.at = n
	return true
}

// pair reads a key and, if one follows, its number. It reports false when the
// text ends in it.
func (r *dictReader) pair(depth *int) bool {
	quote := r.data[r.at]
	begin := r.at + 1
	n := begin
	for n < len(r.data) && n-begin < longestKey && r.data[n] != quote && r.data[n] != '\n' {
		n++
	}
	if n >= len(r.data) {
		return false
	}
	if r.data[n] != quote {
		r.at = n
		return true
	}
	key := string(r.data[begin:n])
	r.at = r.blanks(n + 1)
	if r.at >= len(r.data) {
		return false
	}
	if c := r.data[r.at]; c != ':' && c != ',' {
		return true
	}
	r.at = r.blanks(r.at + 1)
	if r.at >= len(r.data) {
		return false
	}
	if r.data[r.at] == '{' {
		if len(r.path) < deepestDict {
			r.path = append(r.path, key)
		}
		*depth++
		r.at++
		return true
	}
	digits := r.at
	for digits < len(r.data) && (r.data[digits] == '-' || r.data[digits] >= '0' && r.data[digits] <= '9') {
		digits++
	}
	if digits == len(r.data) {
		return false // it may go on
	}
	if v, err := strconv.ParseInt(string(r.data[r.at:digits]), 10, 64); err == nil {
		r.s.Values[strings.Join(append(append([]string{}, r.path...), key), ".")] = v
		r.at = digits
	}
	return true
}

func (r *dictReader) blanks(at int) int {
	for at < len(r.data) && (r.data[at] == ' ' || r.data[at] == '\t' || r.data[at] == '\r' || r.data[at] == '\n') {
		at++
	}
	return at
}
