package text

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// chart prints the lines of a chart under each other.
func (p *printer) chart(c *report.Chart) {
	widest := 0
	for _, l := range c.Lines {
		widest = max(widest, cells(p.clean(l.Name)))
	}
	for _, l := range c.Lines {
		name := p.clean(l.Name)
		p.spark(&report.Spark{Name: name + blanks(widest-cells(name)), Shares: l.Shares, First: c.First, Last: c.Last})
	}
	var bands []string
	for _, b := range c.Bands {
		bands = append(bands, fmt.Sprintf("%s until %s of the time", b.Name, report.Percent(b.To)))
	}
	p.paragraph(2, strings.Join(bands, ", "))
}
