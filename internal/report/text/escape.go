package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainer are our own typographic characters and what stands for them in
// ASCII.
var plainer = map[rune]string{
	'…': "...", '–': "-", '—': "-", '×': "x", '·': "-", '≥': ">=", '≤': "<=", '→': "->",
	'‘': "'", '’': "'", '“': `"`, '”': `"`, 'µ': "u",
}

// escape returns s with everything that does not print as itself spelled
// out: control characters, escape sequences, marks that reverse or hide
// writing, bytes that are no UTF-8. A tab becomes a blank.
func escape(s string, ascii bool) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t':
			b.WriteByte(' ')
		case r == '\n':
			b.WriteString(`\n`)
		case ascii && plainer[r] != "":
			b.WriteString(plainer[r])
		case r < utf8.RuneSelf && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unicode.IsPrint(r) || ascii && r >= utf8.RuneSelf:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII only, which nearly all is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
