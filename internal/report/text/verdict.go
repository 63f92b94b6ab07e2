package text

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// answerColors are the colours of the answers.
var answerColors = map[report.Answer]string{
	report.OK: green, report.Maybe: yellow, report.No: red, report.Neutral: bold,
}

// leastHead is the width of the column of "why" and "try".
const leastHead = 4

// verdict prints the three things that a reader came for.
func (p *printer) verdict(r *report.Report) {
	word := p.clean(r.Verdict.Word)
	head := max(cells(word), leastHead) + 3
	if head > p.width/2 {
		p.line(p.style.paint(answerColors[r.Verdict.Answer], word))
		word, head = "", leastHead+3
	}
	p.hanging(head, word, answerColors[r.Verdict.Answer], r.Verdict.Sentence)
	p.gauge(head, r.Verdict.Gauge)
	p.hanging(head, "", "", r.Verdict.Method)
	p.hanging(head, "why", bold, r.Reason)
	for i, remedy := range r.Remedies {
		label := ""
		if i == 0 {
			label = "try"
		}
		p.remedy(head, label, remedy)
	}
	p.hanging(head, "for", dim, r.Subject)
}

// hanging prints a label and a text that hangs in the column after it. With
// neither it prints nothing.
func (p *printer) hanging(head int, label, sgr, text string) {
	if text == "" && (label == "" || !isAnswer(sgr)) {
		return
	}
	lines := wrap(p.clean(text), p.width-head)
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		at := blanks(head)
		if i == 0 {
			at = p.style.paint(sgr, label) + blanks(head-cells(label))
		}
		p.line(at, l)
	}
}

// isAnswer reports whether a colour is that of a verdict, which stands alone
// when it has no sentence.
func isAnswer(sgr string) bool { return sgr == red || sgr == green || sgr == yellow }

// remedy prints an action, its effect in bytes and what else it does.
func (p *printer) remedy(head int, label string, r report.Remedy) {
	var effects []string
	if r.Need > 0 {
		effects = append(effects, "needs "+r.Need.String())
	}
	if r.Saves > 0 {
		effects = append(effects, "saves "+r.Saves.String())
	}
	if r.Exactness != "" {
		effects = append(effects, strings.ReplaceAll(string(r.Exactness), "-", " "))
	}
	if r.Cost != "" {
		effects = append(effects, r.Cost)
	}
	text := r.Action
	if len(effects) > 0 {
		text += "   (" + strings.Join(effects, ", ") + ")"
	}
	p.hanging(head, label, bold, text)
}

// gauge draws the need against the capacity: what is sure, what is not, what
// is free, and the capacity inside the bar when the need passes it.
func (p *printer) gauge(head int, g report.Gauge) {
	if g.Capacity <= 0 {
		return
	}
	high := max(g.High, g.Need)
	low := g.Need
	if g.Low > 0 {
		low = min(g.Low, g.Need)
	}
	text := report.Percent(float64(g.Need)/float64(g.Capacity)) + " of " + g.Capacity.String()
	width := min(p.width-head-cells(text)-2, 40)
	if width < 8 {
		p.line(blanks(head), text)
		return
	}
	cell := func(b, whole unit.Bytes) int { return int(float64(b) / float64(whole) * float64(width)) }
	whole := max(high, g.Capacity)
	sure, unsure := cell(low, whole), cell(high, whole)
	row := make([]string, width)
	for i := range row {
		switch {
		case i < sure:
			row[i] = p.glyphs.eighths[len(p.glyphs.eighths)-1]
		case i < unsure:
			row[i] = p.glyphs.shade
		default:
			row[i] = p.glyphs.rest
		}
	}
	if high > g.Capacity {
		row[min(cell(g.Capacity, whole), width-1)] = p.glyphs.limit
	}
	p.line(blanks(head), strings.Join(row, ""), "  ", text)
}
