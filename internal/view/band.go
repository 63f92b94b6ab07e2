package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// A Band is what the program did over some states, From <= s < To.
type Band struct {
	Kind string `json:"kind"` // step, phase, module or range
	Row  int    `json:"row"`  // of its kind, from the outermost
	From int    `json:"from"`
	To   int    `json:"to"`
	Name string `json:"name"`
}

const (
	mostBands = 3000 // of one kind; more cannot be told apart
	mostRows  = 3    // of one kind
	mostName  = 200  // bytes of a band's name
)

// Bands are the steps, phases and modules that the tape's marks tell, and the
// named ranges of the file.
func (d *Drawing) Bands() []Band {
	b := &bander{d: d}
	for _, m := range d.Tape.Marks {
		if m.Device == d.Device {
			b.mark(m)
		}
	}
	b.end(&b.phase, d.Tape.Len())
	b.leave(0, d.Tape.Len())
	b.ranges()
	var out []Band
	for _, kind := range []string{"step", "phase", "module", "range"} {
		out = append(out, largest(b.out[kind])...)
	}
	return out
}

// largest keeps the longest bands of a kind, in their order.
func largest(list []Band) []Band {
	if len(list) > mostBands {
		slices.SortFunc(list, func(a, b Band) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
		list = list[:mostBands]
	}
	slices.SortStableFunc(list, func(a, b Band) int { return cmp.Or(a.Row-b.Row, a.From-b.From) })
	return list
}

// backwardModule is the value of a module's mark in the backward pass.
const backwardModule = 1

// A bander turns marks into bands of events, and these into states.
type bander struct {
	d     *Drawing
	out   map[string][]Band
	step  int // where the open step began
	phase Band
	open  []Band  // modules
	value []int64 // of their marks
}

func (b *bander) mark(m tape.Mark) {
	switch m.Kind {
	case tape.MarkStep:
		s := Band{Kind: "step", From: b.step, Name: "step " + strconv.FormatInt(m.Value, 10)}
		b.end(&s, m.Event)
		b.step = m.Event
		b.leave(0, m.Event)
	case tape.MarkPhase:
		b.end(&b.phase, m.Event)
		if tape.Phase(m.Value) != tape.Backward { // modules whose input needs no gradient have no end of their backward
			if i := slices.Index(b.value, backwardModule); i >= 0 {
				b.leave(i, m.Event)
			}
		}
		if p := tape.Phase(m.Value); p != tape.Idle {
			b.phase = Band{Kind: "phase", From: m.Event, Name: p.String()}
		}
	case tape.MarkModuleEnter:
		b.open = append(b.open, Band{Kind: "module", Row: min(len(b.open), mostRows), From: m.Event, Name: m.Name})
		b.value = append(b.value, m.Value)
	case tape.MarkModuleExit:
		for i := len(b.open) - 1; i >= 0; i-- {
			if b.open[i].Name == m.Name {
				b.leave(i, m.Event)
				return
			}
		}
	}
}

// leave ends module i and those inside of it.
func (b *bander) leave(i, event int) {
	for j := len(b.open) - 1; j >= i; j-- {
		if b.open[j].Row < mostRows {
			b.end(&b.open[j], event)
		}
	}
	b.open, b.value = b.open[:i], b.value[:i]
}

// end closes a band and keeps what of it lies in the range.
func (b *bander) end(band *Band, event int) {
	out := *band
	*band = Band{}
	out.From, out.To = max(out.From-b.d.From, 0), min(event-b.d.From, b.d.States())
	if len(out.Name) > mostName {
		out.Name = strings.ToValidUTF8(out.Name[:mostName], "") + "…"
	}
	if out.Kind == "" || out.Name == "" || out.To <= out.From {
		return
	}
	if b.out == nil {
		b.out = map[string][]Band{}
	}
	b.out[out.Kind] = append(b.out[out.Kind], out)
}

// ranges places the named ranges of time beside the events. The outer ones
// come first, those inside of them in the rows below.
func (b *bander) ranges() {
	if len(b.d.Ranges) == 0 || b.d.From == b.d.To || b.d.Tape.Event(b.d.From).Time == 0 {
		return
	}
	list := slices.Clone(b.d.Ranges)
	slices.SortStableFunc(list, func(x, y Range) int { return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(y.To, x.To)) })
	var ends []int64
	for _, r := range list {
		row := 0
		for row < len(ends) && ends[row] > r.From {
			row++
		}
		if row >= mostRows {
			continue
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row] = r.To
		band := Band{Kind: "range", Row: row, From: b.d.eventAt(r.From), Name: r.Name}
		b.end(&band, b.d.eventAt(r.To))
	}
}

// eventAt is the first event at or after a time.
func (d *Drawing) eventAt(time int64) int {
	low, high := d.From, d.To
	for low < high {
		mid := (low + high) / 2
		if d.Tape.Event(mid).Time < time {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
