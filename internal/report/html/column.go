package html

import "github.com/plimsoll-dev/plimsoll/internal/report"

// A stripe is a part of the page from edge to edge: sections in one or two
// columns.
type stripe struct {
	Columns [][]report.Section
}

// stripes lays the sections out: wide ones on their own, the others between
// them in two columns of about the same height. A narrow section that would
// stand alone waits above a wide one for the next.
func stripes(sections []report.Section) []stripe {
	var out []stripe
	open := -1 // the stripe that takes narrow sections
	for _, s := range sections {
		switch {
		case isWide(s):
			if open >= 0 && len(out[open].Columns) > 1 {
				open = -1
			}
			out = append(out, stripe{[][]report.Section{{s}}})
		case open < 0:
			open = len(out)
			out = append(out, stripe{[][]report.Section{{s}}})
		default:
			out[open].add(s)
		}
	}
	return out
}

// add puts a section into the shorter of two columns.
func (p *stripe) add(s report.Section) {
	if len(p.Columns) == 1 {
		p.Columns = append(p.Columns, nil)
	}
	at := 0
	if tall(p.Columns[1]) < tall(p.Columns[0]) {
		at = 1
	}
	p.Columns[at] = append(p.Columns[at], s)
}

func tall(column []report.Section) int {
	n := 0
	for _, s := range column {
		n += height(s)
	}
	return n
}

// A card of half the page holds a table of so many columns and letters.
const (
	narrowColumns = 5
	narrowLetters = 62
	cellLetters   = 40 // longer texts are broken
)

func isWide(s report.Section) bool {
	return s.Chart != nil || s.Detail || s.Text != "" || s.Table != nil && (len(s.Table.Columns) > narrowColumns || letters(s.Table) > narrowLetters)
}

// letters estimates the width of a table by the longest text of each column.
func letters(t *report.Table) int {
	sum := 0
	for i, c := range t.Columns {
		longest := len(c.Name)
		for _, r := range t.Rows {
			if i < len(r) {
				longest = max(longest, min(len(r[i].Text), cellLetters))
			}
		}
		sum += longest + 2
	}
	return sum
}

// height estimates a section's height in lines; frame and title count as
// three.
func height(s report.Section) int {
	n := 3 + len(s.Facts)
	if s.Bars != nil {
		n += len(s.Bars.Bars) + 1
	}
	if s.Table != nil {
		n += len(s.Table.Rows) + 1
	}
	if s.Spark != nil {
		n += 5
	}
	return n
}
