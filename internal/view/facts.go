package view

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Share is what one line holds at a moment.
type Share struct {
	Line   string     `json:"line"`
	Bytes  unit.Bytes `json:"bytes"`
	Blocks int        `json:"blocks"`
}

// Live calls f with the blocks in use in a state.
func (d *Drawing) Live(state int, f func(id tape.BlockID, b tape.Block)) {
	event := d.From + state - 1 // the last event that counts
	in := func(id tape.BlockID) bool {
		b := d.Tape.Block(id)
		if b.Device == d.Device && b.Alloc <= event && (b.Free < 0 || b.Free > event) {
			f(id, b)
		}
		return b.Alloc <= event
	}
	for _, id := range d.Earlier {
		in(id)
	}
	for id := d.First; id < d.Last && in(id); id++ {
	}
}

// ByLine returns what the lines hold in a state, the largest first.
func (d *Drawing) ByLine(state int) []Share {
	shares := map[int]*Share{}
	d.Live(state, func(_ tape.BlockID, b tape.Block) {
		line := d.Lines.Of(b.Site)
		s := shares[line]
		if s == nil {
			s = &Share{Line: d.Lines.Name(line)}
			shares[line] = s
		}
		s.Bytes += d.Size(b.Bytes)
		s.Blocks++
	})
	var out []Share
	for _, s := range shares {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Share) int {
		switch {
		case a.Bytes != b.Bytes:
			return int(max(min(b.Bytes-a.Bytes, 1), -1))
		case a.Line < b.Line:
			return -1
		}
		return 1
	})
	return out
}

// Event is the event of a state, -1 for the state before the first event of
// the recording.
func (d *Drawing) Event(state int) int { return d.From + state - 1 }

// TimeOf is when a state began, in microseconds after the first event of the
// range; 0 when unknown.
func (d *Drawing) TimeOf(state int) int64 {
	if state <= 0 || d.From == d.To {
		return 0
	}
	first, at := d.Tape.Event(d.From).Time, d.Tape.Event(d.From+state-1).Time
	if first == 0 || at == 0 {
		return 0
	}
	return at - first
}
