package family

import (
	"strconv"
	"strings"
)

// An Error is a config that cannot be read as a model: which file, which key,
// why, and what the user may try.
type Error struct {
	File string // as the user named it; empty for a name
	Key  string // empty when no single key is to blame
	Msg  string
	Hint string // a command or flag to try, or empty
}

// Error says what is wrong on one line, without the hint.
func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Msg
	case e.Key == "":
		return e.File + ": " + e.Msg
	}
	return e.File + ": " + e.Key + " " + e.Msg
}

// tryCapture is what works for any model.
const tryCapture = "plimsoll capture runs any training script without a GPU and measures it"

// maxQuoted is how many bytes an error quotes of a file that nobody vouches for.
const maxQuoted = 60

// shortened is text of a user's file as an error has room for it.
func shortened(s string) string {
	if len(s) > maxQuoted {
		return strings.ToValidUTF8(s[:maxQuoted], "") + "..."
	}
	return s
}

// quoted is shortened text in quotes.
func quoted(s string) string { return strconv.Quote(shortened(s)) }
