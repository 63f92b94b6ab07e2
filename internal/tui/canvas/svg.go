package canvas

import (
	"bufio"
	"fmt"
	"html"
	"io"
)

// What a cell measures in a picture, and the size of its letters, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	fontSize   = 14
	margin     = 18
)

// SVG writes the canvas as a picture. Blocks and dots are drawn, not written, so
// that no font decides how they meet.
func (c *Canvas) SVG(w io.Writer, t *Theme) error {
	b := bufio.NewWriter(w)
	width, height := float64(c.Width)*cellWidth+2*margin, float64(c.Height)*cellHeight+2*margin
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="'DejaVu Sans Mono', 'JetBrains Mono', Menlo, Consolas, monospace" font-size="%d">`+"\n",
		width, height, width, height, fontSize)
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" rx="10" fill="%s"/>`+"\n", t.Ground)
	for y := range c.Height {
		c.svgLine(b, t, y)
	}
	b.WriteString("</svg>\n") //nolint:errcheck // told by Flush
	return b.Flush()
}

// svgLine draws the grounds of a line, then its drawings, then its text in runs of
// one ink.
func (c *Canvas) svgLine(b *bufio.Writer, t *Theme, y int) {
	line := c.line(y)
	for x := 0; x < len(line); {
		end := x + 1
		for end < len(line) && line[end].Ink == line[x].Ink {
			end++
		}
		fg, bg := t.colours(line[x].Ink)
		left, top := margin+float64(x)*cellWidth, margin+float64(y)*cellHeight
		if bg != "" {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, float64(end-x)*cellWidth, cellHeight, bg)
		}
		text, blank, dots := "", true, ""
		for i, cell := range line[x:end] {
			switch {
			case cell.Rune == 0:
				continue
			case cell.Rune > 0x2800 && cell.Rune <= 0x28ff:
				dots += svgDots(cell.Rune, left+float64(i)*cellWidth, top)
				text += " "
			case svgShape(b, cell.Rune, left+float64(i)*cellWidth, top, fg):
				text += " "
			default:
				text += string(cell.Rune)
				blank = blank && cell.Rune == ' '
			}
		}
		if dots != "" {
			fmt.Fprintf(b, `<path d="%s" stroke="%s" stroke-width="3" stroke-linecap="round"/>`+"\n", dots, fg)
		}
		if !blank {
			weight := ""
			if t.looks[line[x].Ink.Role()].bold {
				weight = ` font-weight="bold"`
			}
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" xml:space="preserve">%s</text>`+"\n",
				left, top+cellHeight*0.74, fg, weight, float64(end-x)*cellWidth, html.EscapeString(text))
		}
		x = end
	}
}

// colours of an ink in a picture; bg is "" for the picture's own ground.
func (t *Theme) colours(k Ink) (fg, bg string) {
	l := t.looks[k.Role()]
	fg, bg = l.fg, l.bg
	if fg == "" {
		fg = t.Text
	}
	if k&Selected != 0 && bg == "" {
		bg = t.Chosen
		if bg == "" {
			return t.Ground, t.Text
		}
	}
	return fg, bg
}

// svgDots are the dots of a Braille pattern as lines of no length, whose round ends
// are seen.
func svgDots(r rune, x, y float64) string {
	out := ""
	for side := range braille {
		for row, bit := range braille[side] {
			if (r-0x2800)&bit != 0 {
				out += fmt.Sprintf("M%.1f %.1fh0", x+cellWidth*(0.26+0.5*float64(side)), y+cellHeight*(0.875-0.25*float64(row)))
			}
		}
	}
	return out
}

// svgShape draws a character that is a drawing, and reports whether it was one.
func svgShape(b *bufio.Writer, r rune, x, y float64, fill string) bool {
	switch {
	case r >= '█' && r <= '▏':
		// U+2588 is full; the following seven are seven eighths and less.
		fmt.Fprintf(b, `<rect x="%.2f" y="%.1f" width="%.2f" height="%d" fill="%s"/>`+"\n", x, y+4, cellWidth*float64('▏'-r+1)/8+0.05, cellHeight-8, fill)
	case r == '▒':
		fmt.Fprintf(b, `<rect x="%.2f" y="%.1f" width="%.2f" height="%d" fill="%s" fill-opacity="0.45"/>`+"\n", x, y+4, cellWidth+0.05, cellHeight-8, fill)
	case r == '┃':
		fmt.Fprintf(b, `<rect x="%.2f" y="%.1f" width="2.4" height="%d" fill="%s"/>`+"\n", x+cellWidth/2-1.2, y+1, cellHeight-2, fill)
	case r == '─':
		fmt.Fprintf(b, `<rect x="%.2f" y="%.1f" width="%.2f" height="1.2" fill="%s"/>`+"\n", x, y+cellHeight/2-0.6, cellWidth+0.05, fill)
	default:
		return false
	}
	return true
}
