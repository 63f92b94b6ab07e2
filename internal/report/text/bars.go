package text

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// bars prints label, size, share and a bar for each part; the smallest are
// summed into one line when the answer is to be short.
func (p *printer) bars(list *report.Bars) {
	rows := list.Bars
	if !p.verbose {
		rows = joinSmall(notZero(rows), shortBars)
	}
	l := p.measureBars(rows, list.Total)
	var most unit.Bytes
	for _, b := range rows {
		most = max(most, b.Bytes)
	}
	for _, b := range rows {
		p.line("  ", p.barLine(b, list.Total, most, l))
	}
	if list.Total > 0 && list.Of != "" {
		total := blanks(l.label+2) + right(l.scale.Format(list.Total), l.size) + " is " + p.clean(list.Of)
		p.line("  ", p.glyphs.cutEnd(total, p.width-2))
	}
}

// barLayout holds the widths of the columns of a bar list.
type barLayout struct {
	label, size, share, bar, note int
	scale                         unit.Column
}

func (p *printer) measureBars(rows []report.Bar, total unit.Bytes) barLayout {
	l := barLayout{}
	sizes := []unit.Bytes{total}
	for _, b := range rows {
		l.label = max(l.label, cells(p.clean(b.Label)))
		l.note = max(l.note, cells(p.clean(b.Note)))
		sizes = append(sizes, b.Bytes)
	}
	l.scale = unit.NewColumn(sizes...)
	for _, b := range sizes {
		l.size = max(l.size, cells(l.scale.Format(b)))
	}
	if total > 0 {
		l.share = len("  >99 %")
	}
	l.label = min(l.label, p.width/3)
	room := p.width - 2 - l.label - 2 - l.size - l.share - 2
	if l.note > 0 {
		l.note = min(l.note+2, max(room-10, 0))
		if l.note < 12 {
			l.note = 0
		}
	}
	l.bar = min(room-l.note, 40)
	if l.bar < 5 {
		l.bar = 0
	}
	return l
}

func (p *printer) barLine(b report.Bar, total, most unit.Bytes, l barLayout) string {
	var s strings.Builder
	s.WriteString(left(p.glyphs.cutEnd(p.clean(b.Label), l.label), l.label))
	s.WriteString("  " + right(l.scale.Format(b.Bytes), l.size))
	if total > 0 {
		s.WriteString(right(report.Percent(float64(b.Bytes)/float64(total)), l.share))
	}
	if l.bar > 0 {
		bar := p.bar(b.Bytes, most, l.bar)
		s.WriteString("  " + p.style.paint(cyan, bar) + blanks(l.bar-cells(bar)))
	}
	if l.note > 0 && b.Note != "" {
		s.WriteString("  " + p.style.paint(dim, p.glyphs.cutEnd(p.clean(b.Note), l.note-2)))
	}
	return s.String()
}

// bar draws b of most in width cells, to an eighth of a cell. What is not
// zero shows at least the thinnest stroke.
func (p *printer) bar(b, most unit.Bytes, width int) string {
	if b <= 0 || most <= 0 {
		return ""
	}
	parts := len(p.glyphs.eighths) - 1
	n := int(float64(b)/float64(most)*float64(width*parts) + 0.5)
	n = min(max(n, 1), width*parts)
	return strings.Repeat(p.glyphs.eighths[parts], n/parts) + p.glyphs.eighths[n%parts]
}

func notZero(rows []report.Bar) []report.Bar {
	var out []report.Bar
	for _, b := range rows {
		if b.Bytes != 0 {
			out = append(out, b)
		}
	}
	return out
}

// joinSmall keeps the n-1 largest bars in their order and sums the others.
func joinSmall(rows []report.Bar, n int) []report.Bar {
	if len(rows) <= n {
		return rows
	}
	kept := make([]bool, len(rows))
	for range n - 1 {
		best := -1
		for i := range rows {
			if !kept[i] && (best < 0 || rows[i].Bytes > rows[best].Bytes) {
				best = i
			}
		}
		kept[best] = true
	}
	var out []report.Bar
	rest := report.Bar{Label: fmt.Sprintf("%d others", len(rows)-n+1)}
	for i, b := range rows {
		if kept[i] {
			out = append(out, b)
		} else {
			rest.Bytes += b.Bytes
		}
	}
	return append(out, rest)
}
