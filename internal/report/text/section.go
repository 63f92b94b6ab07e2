package text

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// section prints a titled group.
func (p *printer) section(s *report.Section) {
	p.gap()
	p.title(s.Title)
	p.paragraph(2, s.Lead)
	p.facts(s.Facts)
	if s.Bars != nil {
		p.bars(s.Bars)
	}
	if s.Table != nil {
		p.table(s.Table)
	}
	if s.Spark != nil {
		p.spark(s.Spark)
	}
	if s.Chart != nil {
		p.chart(s.Chart)
	}
	p.preformatted(s.Text)
}

func (p *printer) title(s string) {
	for _, l := range wrap(p.clean(s), p.width) {
		p.line(p.style.paint(bold, l))
	}
}

// paragraph prints wrapped text with an indent.
func (p *printer) paragraph(indent int, s string) {
	for _, l := range wrap(p.clean(s), p.width-indent) {
		p.line(blanks(indent), l)
	}
}

// facts prints names and values in two columns.
func (p *printer) facts(facts []report.Fact) {
	head := 0
	for _, f := range facts {
		head = max(head, cells(p.clean(f.Name)))
	}
	head = min(head, p.width/2-4)
	for _, f := range facts {
		name := p.glyphs.cutEnd(p.clean(f.Name), head)
		for i, l := range wrap(p.clean(f.Value), p.width-head-4) {
			if i > 0 {
				name = ""
			}
			p.line("  ", p.style.paint(dim, name), blanks(head-cells(name)), "  ", l)
		}
	}
}

// preformatted prints another program's text line by line, long lines folded
// under their own indent.
func (p *printer) preformatted(s string) {
	if s == "" {
		return
	}
	for l := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		l = strings.TrimRight(strings.ReplaceAll(l, "\t", "    "), "\r ")
		text := strings.TrimLeft(l, " ")
		indent := min(len(l)-len(text), p.width/2) + 2
		if text == "" {
			p.line()
		}
		p.paragraph(indent, text)
	}
}

// warnings prints what the answer does not know.
func (p *printer) warnings(list []report.Warning) {
	if len(list) == 0 {
		return
	}
	p.gap()
	for _, w := range list {
		text := w.Message
		if w.Consequence != "" {
			text += "; " + w.Consequence
		}
		if w.Code != "" {
			text += " [" + w.Code + "]"
		}
		p.hanging(len("warning")+2, "warning", yellow, text)
	}
}

// closing prints where the numbers come from and what holds always.
func (p *printer) closing(r *report.Report) {
	if len(r.Provenance) == 0 && len(r.Notes) == 0 {
		return
	}
	p.gap()
	for _, n := range r.Notes {
		p.paragraph(0, n)
	}
	if len(r.Provenance) > 0 {
		parts := make([]string, 0, len(r.Provenance))
		for _, f := range r.Provenance {
			parts = append(parts, strings.TrimSpace(f.Name+" "+f.Value))
		}
		for _, l := range wrap(p.clean(strings.Join(parts, ", ")), p.width) {
			p.line(p.style.paint(dim, l))
		}
	}
}
