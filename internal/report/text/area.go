package text

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// areaRows is the height of the chart that the long answer shows.
const areaRows = 8

// area draws values as a filled chart with the axis at its left: the most at
// the top, half of it in the middle.
func (p *printer) area(values []unit.Bytes) {
	var most unit.Bytes
	for _, v := range values {
		most = max(most, v)
	}
	scale := unit.NewColumn(most)
	labels := map[int]string{areaRows - 1: scale.Format(most), areaRows/2 - 1: scale.Format(most / 2)}
	head := cells(labels[areaRows-1])
	levels := len(p.glyphs.levels)
	for row := areaRows - 1; row >= 0; row-- {
		var s strings.Builder
		for _, v := range values {
			filled := 0.0
			if most > 0 {
				filled = float64(v)/float64(most)*areaRows - float64(row)
			}
			n := min(int(filled*float64(levels)+0.5), levels)
			if n <= 0 {
				s.WriteByte(' ')
			} else {
				s.WriteString(p.glyphs.levels[n-1])
			}
		}
		p.line("  ", p.style.paint(dim, right(labels[row], head)), "  ", p.style.paint(cyan, s.String()))
	}
}

// areaHead is the width of area's axis.
func areaHead(values []unit.Bytes) int {
	var most unit.Bytes
	for _, v := range values {
		most = max(most, v)
	}
	return cells(unit.NewColumn(most).Format(most)) + 2
}
