package text

import "github.com/plimsoll-dev/plimsoll/internal/report"

// leastText is the narrowest that a text column gets before another one goes.
const leastText = 10

// fit breaks the names of numbers, drops spare columns and narrows texts
// until the row has at most room columns.
func fit(cols []tableColumn, room int) []tableColumn {
	for i := range cols {
		if more := over(cols, room); more > 0 && cols[i].Kind != report.Text {
			cols[i].width = max(cols[i].width-more, cols[i].least)
		}
	}
	for over(cols, room) > 0 && slack(cols) < over(cols, room) {
		drop, spare := -1, 0
		for i, c := range cols {
			if c.Spare >= spare && c.Spare > 0 {
				drop, spare = i, c.Spare
			}
		}
		if drop < 0 {
			break
		}
		cols = append(cols[:drop:drop], cols[drop+1:]...)
	}
	for over(cols, room) > 0 {
		at := giveaway(cols)
		if at < 0 || cols[at].width <= 4 {
			break
		}
		cols[at].width--
	}
	for over(cols, room) > 0 && len(cols) > 1 { // a cut number would be another number
		cols = cols[:len(cols)-1]
	}
	return cols
}

// sparedText is what a spare text keeps while texts that stay are whole.
const sparedText = 16

// giveaway returns the text column that can best give up a column: a spare
// one that is still long, else the widest; -1 when there is no text.
func giveaway(cols []tableColumn) int {
	widest, spare := -1, -1
	for i, c := range cols {
		if c.Kind != report.Text {
			continue
		}
		if widest < 0 || c.width > cols[widest].width {
			widest = i
		}
		if c.Spare > 0 && c.width > sparedText && (spare < 0 || c.width > cols[spare].width) {
			spare = i
		}
	}
	if spare >= 0 {
		return spare
	}
	return widest
}

// over is by how many columns a row is too wide.
func over(cols []tableColumn, room int) int {
	n := -room
	for i, c := range cols {
		n += c.width
		if i > 0 {
			n += 2
		}
	}
	return n
}

// slack is how much the texts can be cut and still be read.
func slack(cols []tableColumn) int {
	n := 0
	for _, c := range cols {
		if c.Kind == report.Text {
			n += max(c.width-leastText, 0)
		}
	}
	return n
}
