package text

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// unknown stands for a value that is not known; it is not zero.
const unknown = "-"

// table prints aligned columns under their names. When they do not fit, the
// spare columns go, then texts are cut.
func (p *printer) table(t *report.Table) {
	if len(t.Rows) == 0 {
		p.line("  none")
		return
	}
	rows, more := t.Rows, t.More
	if !p.verbose && len(rows) > shortRows {
		rows, more = rows[:shortRows], more+len(rows)-shortRows
	}
	cols := make([]tableColumn, len(t.Columns))
	for i, c := range t.Columns {
		cols[i] = p.column(c, i, rows)
	}
	cols = fit(cols, p.width-2)
	p.names(cols)
	for r := range rows {
		var s strings.Builder
		for i, c := range cols {
			if i > 0 {
				s.WriteString("  ")
			}
			s.WriteString(p.cell(c, r, rows))
		}
		p.line("  ", s.String())
	}
	if more > 0 {
		p.line("  ", p.style.paint(dim, fmt.Sprintf("%s more", report.Grouped(int64(more)))))
	}
}

// names prints the columns' names, in as many lines as the longest needs.
func (p *printer) names(cols []tableColumn) {
	lines := 0
	heads := make([][]string, len(cols))
	for i, c := range cols {
		heads[i] = []string{p.glyphs.cutEnd(c.name, c.width)}
		if c.Kind != report.Text {
			heads[i] = wrap(c.name, max(c.width, 1))
		}
		lines = max(lines, len(heads[i]))
	}
	for l := range lines {
		var s strings.Builder
		for i, c := range cols {
			text := ""
			if at := l - lines + len(heads[i]); at >= 0 { // they stand on the rows
				text = heads[i][at]
			}
			if i > 0 {
				s.WriteString("  ")
			}
			pad := blanks(c.width - cells(text))
			if c.Kind == report.Text {
				s.WriteString(p.style.paint(dim, text) + pad)
			} else {
				s.WriteString(pad + p.style.paint(dim, text))
			}
		}
		p.line("  ", s.String())
	}
}

// A tableColumn is a column ready to print.
type tableColumn struct {
	report.Column
	index int
	name  string
	cells []string // by row
	width int
	least int // the width that the values and each word of the name need
}

func (p *printer) column(c report.Column, index int, rows [][]report.Cell) tableColumn {
	var sizes []unit.Bytes
	for _, r := range rows {
		if index < len(r) {
			sizes = append(sizes, r[index].Bytes)
		}
	}
	scale := unit.NewColumn(sizes...)
	name := p.clean(c.Name)
	switch {
	case c.Kind == report.Size:
		name = strings.TrimSpace(name + " " + scale.Unit())
	case c.Kind == report.Share && c.Of != "":
		name = strings.TrimSpace(name + " % " + p.clean(c.Of))
	}
	col := tableColumn{Column: c, index: index, name: name, width: cells(name)}
	for _, word := range words(name) {
		col.least = max(col.least, cells(word))
	}
	for _, r := range rows {
		text := unknown
		if index < len(r) && r[index].Known {
			text = p.value(c.Kind, r[index], scale)
		}
		col.cells = append(col.cells, text)
	}
	for _, s := range col.cells {
		col.width, col.least = max(col.width, cells(s)), max(col.least, cells(s))
	}
	return col
}

func (p *printer) value(k report.Kind, c report.Cell, scale unit.Column) string {
	switch k {
	case report.Size:
		return scale.Number(c.Bytes)
	case report.Count:
		return report.Grouped(c.Number)
	case report.Share:
		return report.Percent(c.Share)
	default:
		return p.clean(c.Text)
	}
}

// cell returns the text of a column in row r.
func (p *printer) cell(c tableColumn, r int, rows [][]report.Cell) string {
	text := c.cells[r]
	switch c.Elide {
	case report.CutStart:
		text = p.glyphs.cutStart(text, c.width)
	case report.CutMiddle:
		text = p.glyphs.cutMiddle(text, c.width)
	default:
		text = p.glyphs.cutEnd(text, c.width)
	}
	pad := blanks(c.width - cells(text))
	sgr := ""
	if c.index < len(rows[r]) && rows[r][c.index].Answer != report.Neutral {
		sgr = answerColors[rows[r][c.index].Answer]
	}
	if c.Kind == report.Text {
		return p.style.paint(sgr, text) + pad
	}
	return pad + p.style.paint(sgr, text)
}
