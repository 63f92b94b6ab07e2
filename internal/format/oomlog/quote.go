package oomlog

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pattern"
)

// Source code and advice have the words of messages, too: a traceback shows the
// line that raises the error, a test compares with it, a warning says what may
// happen. Such a place is no message. It differs from a program that prints its
// exception in quotation marks, as JSON and Python's repr do.

var (
	// codeBefore is what stands before a string of a program: a statement,
	// or a call that takes a text.
	codeBefore = pattern.New(`(?:\b(?:raise|throw|assert|elif|grep|egrep|rg|echo)\b.*|^(?:if|except|case|when|pytest\.raises|with)\b.*|` +
		`\b(?:print|printf|fprintf|println|puts|warn|warning|error|info|debug|critical|exception|fail|assert\w+|match|fullmatch|search|findall|startswith|endswith|contains|includes|find|compile|split|replace|runtime_error|TORCH_CHECK\w*|C10_\w+|CHECK\w*|Error|Exception)!?\(.*|` +
		`(?:\breturn|\bin|[=!]=|<<|\+=?|%|\s=) )[fFrRbBuU]{0,2}$`)
	// raisedBefore is an exception's name with its text, as repr writes it.
	raisedBefore = pattern.New(`(?:^|[^.\w])[\w.]*(?:Error|Exception)\([fFrRbBuU]{0,2}$`)
	makesError   = pattern.New(`\b(?:raise|throw|return|assert\w*|yield)\b`)
	// keyBefore is a key of JSON or of a structured log.
	keyBefore = pattern.New(`(?:["']\s*:\s*|\w=|\\)$`)
	// frameLine is the line of a traceback that the code stands after.
	frameLine = pattern.New(`^File ".+", line \d+|^[\w./\\<>-]+\.py:\d+: in |^[\w./\\<>-]+ in [\w.<>]+\(.*\)$`)
	errorLine = pattern.New(`^(?:E +)?[\w.]+(?:Error|Exception|Warning|Interrupt|Exit)\b|^[A-Z][\w ]*: `)
	// opensBefore ends a line that a string of a program goes on after.
	opensBefore = pattern.New(`[(,+\\]$|["']$`)
	literalLine = pattern.New(`^[fFrRbBuU]{0,2}["'].*["'][),;:]*$`)
	// comment is one beside code.
	comment = pattern.New(`[\w)\]}:;,]\s+(?:#|//) [^#]*$|^(?://|/\*|--|\.\.) |^#+ [^:]*$`)
	// supposed are words before a message that has not come.
	supposed = pattern.New(`(?i)\b(?:(?:may|might|can|could|would|will)(?: \w+)? (?:cause|lead|result|run|get|be|happen|trigger|raise|throw|hit|still|give|see|produce|fail)|if|whenever|in case|unless|avoid\w*|prevent\w*|reduc\w+|risk\w*|likel\w+|potential\w*|possib\w+|chance|handl\w+|fix\w*|resolv\w+|troubleshoot\w*|beware)\b[^.;:!?]{0,60}$`)
	// reference ends the title of an issue and a line of a list of changes.
	reference = pattern.New(`\s(?:#\d{3,6}|\(#\d{1,6}\))\s*$`)
	several   = pattern.New(`^(?i:\s*(?:errors|issues?|problems?|exceptions|crashes|conditions?|situations?|handling)\b)`)
)

// isQuoted reports whether a message is words of source code or of advice.
func (m *Message) isQuoted(before, after string) bool {
	sized := false
	for name := range m.Fields {
		_, fixed := m.Kind.Fixed[name]
		sized = sized || !fixed
	}
	if !sized && (supposed.MatchString(before) || several.MatchString(after) || reference.MatchString(after) || comment.MatchString(before)) {
		return true
	}
	last := ""
	if n := len(m.Before); n > 0 {
		last = strings.TrimSpace(m.Before[n-1])
	}
	first, _, _ := strings.Cut(m.Text, "\n")
	first = strings.TrimSpace(first)
	code, inside := beforeString(before)
	if !inside {
		return false
	}
	if frameLine.MatchString(last) && !errorLine.MatchString(first) {
		return true
	}
	if code == "" {
		return literalLine.MatchString(first) && opensBefore.MatchString(last) && !strings.HasSuffix(last, ":")
	}
	if keyBefore.MatchString(code) || raisedBefore.MatchString(code) && !makesError.MatchString(code) {
		return false
	}
	return codeBefore.MatchString(code)
}

// beforeString is what stands before the string that a text ends in, and
// whether it ends in one.
func beforeString(text string) (code string, inside bool) {
	open, at := byte(0), 0
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '\\' && open != 0:
			continue
		case open == 0 && (c == '"' || c == '`' || c == '\'' && (i == 0 || !isWordByte(text[i-1]) || isStringPrefix(text[:i]))):
			open, at = c, i
		case c == open:
			open = 0
		}
	}
	if open == 0 {
		return "", false
	}
	return strings.TrimLeft(text[:at], " \t>"), true
}

func isWordByte(c byte) bool { return c == '_' || isDigit(c) || isLetter(c|0x20) }

// isStringPrefix reports whether text ends in the letters that a string of
// Python may have before it.
func isStringPrefix(text string) bool {
	n := len(text)
	return n > 0 && strings.IndexByte("fFrRbBuU", text[n-1]) >= 0 && (n == 1 || !isWordByte(text[n-2]))
}

// sides is what stands before and after a message, on its first and on its
// last line.
func (s *stream) sides(at, end int) (before, after string) {
	first, last := s.lineAt(at), s.lineAt(max(end-1, at))
	return s.lines[first].until(at - s.lines[first].start), strings.TrimPrefix(s.lines[last].body, s.lines[last].until(end-s.lines[last].start))
}

// until is the part of a line before its n-th character that is no white space.
func (l line) until(n int) string {
	for i := range len(l.body) {
		if c := l.body[i]; isSpace(c) || c == 0 {
			continue
		}
		if n == 0 {
			return l.body[:i]
		}
		n--
	}
	return l.body
}
