package html

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// functions are what the templates call.
var functions = template.FuncMap{
	"columns":  columns,
	"bars":     bars,
	"gauge":    gauge,
	"spark":    spark,
	"overtime": overTime,
	"grouped":  func(n int) string { return report.Grouped(int64(n)) },
	"words":    func(e report.Exactness) string { return strings.ReplaceAll(string(e), "-", " ") },
	"exact":    exact,
	"stripes":  stripes,
}

// exact is a size in bytes for a title: "1,073,741,824 bytes".
func exact(b unit.Bytes) string { return report.Grouped(int64(b)) + " bytes" }

// percentOf is the width of b in whole, in percent with two decimals.
func percentOf(b, whole unit.Bytes) string {
	if whole <= 0 || b <= 0 {
		return "0"
	}
	return strconv.FormatFloat(min(float64(b)/float64(whole)*100, 100), 'f', 2, 64)
}

// A grid is a table ready to print.
type grid struct {
	Head []head
	Rows [][]cell
}

type head struct {
	Name    string
	Numeric bool
	// Grows is true for the one column that takes the space left over.
	Grows bool
}

type cell struct {
	Text, Title, Answer string
	Numeric, Path       bool
}

func columns(t *report.Table) grid {
	g := grid{}
	scales := make([]unit.Column, len(t.Columns))
	for i, c := range t.Columns {
		var sizes []unit.Bytes
		for _, r := range t.Rows {
			if i < len(r) {
				sizes = append(sizes, r[i].Bytes)
			}
		}
		scales[i] = unit.NewColumn(sizes...)
		g.Head = append(g.Head, headOf(c, scales[i]))
	}
	for i := len(g.Head) - 1; i >= 0; i-- {
		if !g.Head[i].Numeric {
			g.Head[i].Grows = true
			break
		}
	}
	for _, r := range t.Rows {
		var row []cell
		for i, c := range t.Columns {
			value := report.Cell{}
			if i < len(r) {
				value = r[i]
			}
			row = append(row, cellOf(c, value, scales[i]))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func headOf(c report.Column, scale unit.Column) head {
	name := c.Name
	switch {
	case c.Kind == report.Size:
		name = strings.TrimSpace(name + " " + scale.Unit())
	case c.Kind == report.Share && c.Of != "":
		name = strings.TrimSpace(name + " % " + c.Of)
	}
	return head{Name: name, Numeric: c.Kind != report.Text}
}

func cellOf(c report.Column, v report.Cell, scale unit.Column) cell {
	out := cell{Numeric: c.Kind != report.Text, Path: c.Elide == report.CutStart}
	if v.Answer != report.Neutral {
		out.Answer = v.Answer.String()
	}
	switch {
	case !v.Known:
		out.Text, out.Title = "–", "not known"
	case c.Kind == report.Size:
		out.Text, out.Title = scale.Number(v.Bytes), exact(v.Bytes)
	case c.Kind == report.Count:
		out.Text = report.Grouped(v.Number)
	case c.Kind == report.Share:
		out.Text = report.Percent(v.Share)
	default:
		out.Text = v.Text
	}
	return out
}

// A barRow is one bar ready to print.
type barRow struct {
	Label, Size, Title, Share, Width, Note, Key string
}

func bars(list *report.Bars) []barRow {
	sizes := []unit.Bytes{list.Total}
	var most unit.Bytes
	for _, b := range list.Bars {
		sizes = append(sizes, b.Bytes)
		most = max(most, b.Bytes)
	}
	scale := unit.NewColumn(sizes...)
	var rows []barRow
	for _, b := range list.Bars {
		if b.Bytes == 0 {
			continue
		}
		row := barRow{
			Label: b.Label, Size: scale.Format(b.Bytes), Title: exact(b.Bytes),
			Width: percentOf(b.Bytes, most), Note: b.Note, Key: colorKey(b.Key, b.Label),
		}
		if list.Total > 0 {
			row.Share = report.Percent(float64(b.Bytes) / float64(list.Total))
		}
		rows = append(rows, row)
	}
	return rows
}

// A gaugeBar is the need against the capacity, in percent of the longer.
type gaugeBar struct {
	Sure, Unsure, Limit, Text string
	Over                      bool
}

func gauge(g report.Gauge) *gaugeBar {
	if g.Capacity <= 0 {
		return nil
	}
	low, high := g.Need, max(g.High, g.Need)
	if g.Low > 0 {
		low = min(g.Low, g.Need)
	}
	whole := max(high, g.Capacity)
	return &gaugeBar{
		Sure: percentOf(low, whole), Unsure: percentOf(high-low, whole), Limit: percentOf(g.Capacity, whole),
		Text: report.Percent(float64(g.Need)/float64(g.Capacity)) + " of " + g.Capacity.String(),
		Over: high > g.Capacity,
	}
}

// A sparkLine is a row of columns: heights in percent and titles.
type sparkLine struct {
	Points []sparkPoint
	Range  string
}

type sparkPoint struct{ X, Y, Width, Height, Title string }

func spark(s *report.Spark) sparkLine {
	if len(s.Shares) > 0 {
		return sparkShares(s.Shares)
	}
	var low, most unit.Bytes
	for i, v := range s.Values {
		if i == 0 || v < low {
			low = v
		}
		most = max(most, v)
	}
	out := sparkLine{Range: most.String()}
	if low != most {
		scale := unit.NewColumn(most)
		out.Range = scale.Number(low) + " to " + scale.Format(most)
	}
	n := len(s.Values)
	for i, v := range s.Values {
		h := 0.0
		if most > 0 {
			h = float64(max(v, 0)) / float64(most)
		}
		out.Points = append(out.Points, sparkColumn(i, n, h, v.String()))
	}
	return out
}

// sparkShares draws shares; one that is not known has no column.
func sparkShares(shares []float64) sparkLine {
	out := sparkLine{Range: report.PercentRange(shares)}
	for i, v := range shares {
		if !math.IsNaN(v) {
			out.Points = append(out.Points, sparkColumn(i, len(shares), min(max(v, 0), 1), report.Percent(v)))
		}
	}
	return out
}

// sparkColumn is column i of n, of a height from 0 to 1.
func sparkColumn(i, n int, height float64, value string) sparkPoint {
	h := height * 100
	return sparkPoint{
		X: fmt.Sprintf("%.2f", float64(i)/float64(n)*100), Width: fmt.Sprintf("%.2f", 100/float64(n)*0.8),
		Y: fmt.Sprintf("%.2f", 100-h), Height: fmt.Sprintf("%.2f", h), Title: fmt.Sprintf("%d: %s", i+1, value),
	}
}
