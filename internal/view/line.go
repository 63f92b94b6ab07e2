package view

import (
	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// Lines gives each stack the line of the user's program that it belongs to, as
// attribute.PlaceOf names it, and numbers the lines.
type Lines struct {
	tape  *tape.Tape
	sites []uint32 // by site: number of the line plus one, 0 when not looked at yet
	index map[string]uint32
	names []string
}

// NoLine is the name of the line of blocks without a stack.
const NoLine = "no stack"

func newLines(t *tape.Tape) *Lines {
	l := &Lines{tape: t, sites: make([]uint32, t.Sites()+1), index: map[string]uint32{}}
	l.number(NoLine)
	l.sites[0] = 1
	return l
}

func (l *Lines) number(name string) uint32 {
	n, ok := l.index[name]
	if !ok {
		n = uint32(len(l.names))
		l.index[name] = n
		l.names = append(l.names, name)
	}
	return n
}

// Of returns the number of a stack's line.
func (l *Lines) Of(s tape.SiteID) int {
	if int(s) >= len(l.sites) { // interned since
		return 0
	}
	if l.sites[s] == 0 {
		l.sites[s] = l.number(attribute.PlaceOf(l.tape.Site(s)).String()) + 1
	}
	return int(l.sites[s] - 1)
}

// Name returns the name of a line, "train.py:41 forward".
func (l *Lines) Name(line int) string { return l.names[line] }

// Len is the number of lines so far.
func (l *Lines) Len() int { return len(l.names) }
