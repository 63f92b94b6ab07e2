package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// plainer are our own typographic characters and what stands for them in
// ASCII.
var plainer = map[rune]string{
	'…': "...", '–': "-", '—': "-", '×': "x", '·': "-", '≥': ">=", '≤': "<=", '→': "->",
	'‘': "'", '’': "'", '“': `"`, '”': `"`, 'µ': "u",
}

// escape returns s as it can be printed, in ASCII only when asked.
func escape(s string, ascii bool) string {
	s = report.Printable(s)
	if !ascii {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case plainer[r] != "":
			b.WriteString(plainer[r])
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
