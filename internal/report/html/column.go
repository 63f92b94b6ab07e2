package html

import "github.com/plimsoll-dev/plimsoll/internal/report"

// A stripe is a part of the page from edge to edge: sections in one or two
// columns.
type stripe struct {
	Columns [][]report.Section
}

// stripes lays the sections out: wide ones on their own, the others between
// them in two columns of about the same height, each in the shorter one.
func stripes(sections []report.Section) []stripe {
	var out []stripe
	var run []report.Section
	flush := func() {
		if len(run) > 0 {
			out = append(out, twoColumns(run))
			run = nil
		}
	}
	for _, s := range sections {
		if !isWide(s) {
			run = append(run, s)
			continue
		}
		flush()
		out = append(out, stripe{[][]report.Section{{s}}})
	}
	flush()
	return out
}

func twoColumns(run []report.Section) stripe {
	if len(run) == 1 {
		return stripe{[][]report.Section{run}}
	}
	columns := make([][]report.Section, 2)
	heights := [2]int{}
	for _, s := range run {
		at := 0
		if heights[1] < heights[0] {
			at = 1
		}
		columns[at] = append(columns[at], s)
		heights[at] += height(s)
	}
	return stripe{columns}
}

// A card of half the page holds a table of so many columns and letters.
const (
	narrowColumns = 5
	narrowLetters = 62
	cellLetters   = 40 // longer texts are broken
)

func isWide(s report.Section) bool {
	return s.Detail || s.Text != "" || s.Table != nil && (len(s.Table.Columns) > narrowColumns || letters(s.Table) > narrowLetters)
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
