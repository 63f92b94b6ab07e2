package text

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// spark prints a line of values with its ends named and its range.
func (p *printer) spark(s *report.Spark) {
	heights, most, span := sizes(s.Values)
	if len(s.Shares) > 0 {
		heights, most, span = s.Shares, 1, report.PercentRange(s.Shares)
	}
	if len(heights) == 0 {
		return
	}
	ends := p.clean(s.First)
	if s.Last != "" && s.Last != s.First {
		ends += " to " + p.clean(s.Last)
	}
	name := p.clean(s.Name)
	room := p.width - 2 - cells(name) - 2 - 2 - cells(span)
	drawn := p.levels(heights, most, min(max(room, 8), 40))
	tail := span
	if ends != "" && cells(ends)+cells(drawn)+2 <= room {
		tail += "  " + ends
	}
	if cells(name)+cells(drawn)+cells(tail)+6 > p.width {
		p.line("  ", p.glyphs.cutEnd(name, p.width-2))
		name = ""
	}
	if name != "" {
		name += "  "
	}
	p.line("  ", name, p.style.paint(cyan, drawn), "  ", tail)
}

// sizes are bytes as heights, the highest of them, and their range in words.
func sizes(values []unit.Bytes) (heights []float64, most float64, span string) {
	if len(values) == 0 {
		return nil, 0, ""
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
		heights = append(heights, float64(v))
	}
	scale := unit.NewColumn(low, high)
	span = scale.Format(high)
	if from := scale.Number(low); from != scale.Number(high) {
		span = from + " to " + scale.Format(high)
	}
	return heights, float64(high), span
}

// levels draws values as heights from zero up to most, the largest of each cell
// when there are more values than cells.
func (p *printer) levels(values []float64, most float64, width int) string {
	width = min(width, len(values))
	var s strings.Builder
	for i := range width {
		v := math.NaN()
		for _, x := range values[i*len(values)/width : (i+1)*len(values)/width] {
			if math.IsNaN(v) || x > v {
				v = x
			}
		}
		s.WriteString(p.level(v, most))
	}
	return s.String()
}

func (p *printer) level(v, most float64) string {
	if math.IsNaN(v) {
		return p.glyphs.hole
	}
	if v <= 0 || most <= 0 {
		return " "
	}
	n := len(p.glyphs.levels)
	return p.glyphs.levels[min(int(min(v/most, 1)*float64(n)), n-1)]
}

// mostTimeline bounds the columns of a timeline: beyond it a reader's eye
// gains nothing.
const mostTimeline = 100

// timeline draws a device's allocated memory, in one line or as an area, and
// its steps under it.
func (p *printer) timeline(t *report.Timeline) {
	if len(t.Events) == 0 || len(t.Allocated) == 0 {
		return
	}
	p.gap()
	first, last := t.Events[0], t.Events[len(t.Events)-1]
	p.title(fmt.Sprintf("Allocated over %s, %s", counted(last-first+1, "event"), t.Name))
	width, head := min(p.width-2, mostTimeline), 0
	values := overEvents(t, width)
	if p.verbose {
		head = areaHead(values)
		width -= head
		values = overEvents(t, width)
		p.area(values)
	} else {
		heights, most, _ := sizes(values)
		p.line("  ", p.style.paint(cyan, p.levels(heights, most, width)))
	}
	if steps := p.steps(t, width, first, last); steps != "" {
		p.line("  ", blanks(head), p.style.paint(dim, steps))
	}
	for _, m := range t.Marks {
		p.paragraph(2, fmt.Sprintf("event %s: %s", report.Grouped(int64(m.Event)), m.Name))
	}
}

// overEvents gives the most memory in each of width stretches of the events,
// since samples are denser where more happens.
func overEvents(t *report.Timeline, width int) []unit.Bytes {
	out := make([]unit.Bytes, width)
	var now unit.Bytes
	next := 0
	first, span := t.Events[0], t.Events[len(t.Events)-1]-t.Events[0]+1
	for i := range out {
		out[i] = now
		end := first + int(int64(span)*int64(i+1)/int64(width))
		for ; next < len(t.Events) && next < len(t.Allocated) && t.Events[next] < end; next++ {
			now = t.Allocated[next]
			out[i] = max(out[i], now)
		}
	}
	return out
}

// steps names the step bands under the line where there is room.
func (p *printer) steps(t *report.Timeline, width, first, last int) string {
	row := []rune(blanks(width))
	any := false
	for _, b := range t.Bands {
		from, to := place(b.From, first, last, width), place(b.To, first, last, width)
		if b.Kind != report.StepBand || to-from < 2 {
			continue
		}
		name := []rune(p.glyphs.cutEnd(" "+p.clean(b.Name), to-from-1))
		if cells(string(name)) != len(name) {
			name = nil
		}
		copy(row[from:to], []rune(p.glyphs.corner))
		copy(row[from+1:to], name)
		for i := from + 1 + len(name); i < to; i++ {
			row[i] = []rune(p.glyphs.rule)[0]
		}
		any = true
	}
	if !any {
		return ""
	}
	return string(row)
}

// place is the column of an event on a row of width columns.
func place(event, first, last, width int) int {
	return min(max(int(int64(event-first)*int64(width)/int64(last-first+1)), 0), width)
}

// counted is a number with its noun, "1 event" or "4,298 events".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return report.Grouped(int64(n)) + " " + noun
}
