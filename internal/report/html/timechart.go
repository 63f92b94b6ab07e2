package html

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// A timeChart is a chart as a drawing of 1000 by 100 units, y downwards.
type timeChart struct {
	Lines []timeLine
	Bands []timeBand
}

type timeLine struct {
	Name, Range string
	Color       int
	Paths       []string // points of unbroken pieces
}

type timeBand struct {
	Name, X, Width string
	Odd            bool
}

const (
	chartWidth  = 1000
	chartHeight = 100
	colors      = 12 // of style.css
)

func overTime(c *report.Chart) timeChart {
	var out timeChart
	for i, l := range c.Lines {
		out.Lines = append(out.Lines, timeLine{l.Name, report.PercentRange(l.Shares), i % colors, steps(l.Shares)})
	}
	for i, b := range c.Bands {
		from, to := unitShare(b.From), unitShare(b.To)
		out.Bands = append(out.Bands, timeBand{b.Name, coordinate(from * chartWidth), coordinate(max(to-from, 0) * chartWidth), i%2 == 1})
	}
	return out
}

// steps draws each value as a level line; what is not known is a hole.
func steps(shares []float64) []string {
	var paths []string
	var points []string
	for i, v := range shares {
		if math.IsNaN(v) {
			if points != nil {
				paths, points = append(paths, strings.Join(points, " ")), nil
			}
			continue
		}
		y := coordinate(chartHeight * (1 - unitShare(v)))
		for _, at := range []int{i, i + 1} {
			points = append(points, coordinate(chartWidth*float64(at)/float64(len(shares)))+","+y)
		}
	}
	if points != nil {
		paths = append(paths, strings.Join(points, " "))
	}
	return paths
}

func unitShare(v float64) float64 { return min(max(v, 0), 1) }

func coordinate(v float64) string { return fmt.Sprintf("%.1f", v) }
