package canvas

import (
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// plainer stand for characters of our own where only ASCII may be shown; 0 leaves
// one out.
var plainer = map[rune]rune{
	'–': '-', '—': '-', '·': '-', '…': '~', '×': 'x', '≥': '>', '≤': '<', '→': '>', '←': '<', '↑': '^', '↓': 'v',
	'°': 0, '✓': '+', '▲': '!', '●': 'o', '○': '.', '⊖': '=', '▶': '>', '⏸': '|', '│': '|', '─': '-', '├': '|', '└': '`',
	'▾': '*', '▴': '^', '╭': '+', '╮': '+', '╰': '+', '╯': '+', '━': '=', '┃': '|', '┄': '.', '▕': '|', '▏': '|',
	'⚠': '!', '✗': 'x', '◌': '?', '█': '#', '▒': ':', '░': '.',
}

// drawable is r as the canvas can show it: marks that combine with a neighbour are
// left out, so that what one cell shows never depends on another; control
// characters and what cannot be printed become '?'.
func (c *Canvas) drawable(r rune) (rune, int) {
	if r >= ' ' && r < 0x7f {
		return r, 1
	}
	if c.ASCII {
		if p, ok := plainer[r]; ok {
			return p, min(int(p), 1)
		}
	}
	g := &c.glyphs[uint32(r)%uint32(len(c.glyphs))]
	if g.of != r || g.of == 0 {
		*g = glyphOf(r)
	}
	if c.ASCII && g.width > 0 {
		return '?', 1
	}
	return g.shown, g.width
}

// A glyph is what a canvas shows of a rune, and in how many columns.
type glyph struct {
	of, shown rune
	width     int
}

// glyphOf finds it out, which takes much longer than to draw it.
func glyphOf(r rune) glyph {
	switch {
	case unicode.In(r, unicode.M, unicode.Cf), isSkinTone(r):
		return glyph{r, 0, 0}
	case !unicode.IsPrint(r), joins(r):
		return glyph{r, '?', 1}
	}
	w := ansi.StringWidth(string(r))
	if w <= 0 || ansi.StringWidth("x"+string(r)+"x") != w+2 {
		return glyph{r, '?', 1}
	}
	return glyph{r, r, w}
}

// isSkinTone reports whether r changes the colour of the picture before it.
func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// joins reports whether r may become one character with its neighbour: letters of
// flags, and vowels and tails of Korean syllables.
func joins(r rune) bool {
	return r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0x1100 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7fb
}

// Text writes s at x, y, cut at the end of width columns with a mark that it goes
// on. It returns how many columns it took.
func (c *Canvas) Text(x, y, width int, s string, role Role) int {
	width = min(width, c.Width-x)
	if width <= 0 || y < 0 || y >= c.Height || x < 0 {
		return 0
	}
	used, mark := 0, -1 // mark is the last place where the mark of a cut fits
	for _, r := range s {
		r, w := c.drawable(r)
		if w == 0 {
			continue
		}
		if used < width {
			mark = used
		}
		if used+w > width {
			if mark < 0 {
				return 0
			}
			m, _ := c.drawable('…')
			for i := mark; i < used; i++ {
				c.put(x+i, y, ' ', role)
			}
			c.put(x+mark, y, m, role)
			return mark + 1
		}
		c.put(x+used, y, r, role)
		if w == 2 {
			c.put(x+used+1, y, ' ', role)
			c.cells[y*c.Width+x+used+1].Rune = 0
		}
		used += w
	}
	return used
}

// Right writes s so that it ends at the end of width columns.
func (c *Canvas) Right(x, y, width int, s string, role Role) {
	w := c.Measure(s)
	if w >= width {
		c.Text(x, y, width, s, role)
		return
	}
	c.Text(x+width-w, y, w, s, role)
}

// Measure is how many columns Text would take for s.
func (c *Canvas) Measure(s string) int {
	n := 0
	for _, r := range s {
		if r >= ' ' && r < 0x7f {
			n++
			continue
		}
		_, w := c.drawable(r)
		n += w
	}
	return n
}

// Fill shows r in all of a rectangle.
func (c *Canvas) Fill(rect Rect, r rune, role Role) {
	rect = rect.Within(c.Bounds())
	r, _ = c.drawable(r)
	for y := rect.Y; y < rect.Y+rect.H; y++ {
		for x := rect.X; x < rect.X+rect.W; x++ {
			c.put(x, y, r, role)
		}
	}
}

// Box draws a frame with a title inside of r and returns what is left within.
func (c *Canvas) Box(r Rect, title string, role, titleRole Role) Rect {
	if r.W < 2 || r.H < 2 {
		return r
	}
	right, bottom := r.X+r.W-1, r.Y+r.H-1
	c.Fill(Rect{r.X + 1, r.Y, r.W - 2, 1}, '─', role)
	c.Fill(Rect{r.X + 1, bottom, r.W - 2, 1}, '─', role)
	c.Fill(Rect{r.X, r.Y + 1, 1, r.H - 2}, '│', role)
	c.Fill(Rect{right, r.Y + 1, 1, r.H - 2}, '│', role)
	for _, corner := range []struct {
		x, y int
		r    rune
	}{{r.X, r.Y, '╭'}, {right, r.Y, '╮'}, {r.X, bottom, '╰'}, {right, bottom, '╯'}} {
		c.Fill(Rect{corner.x, corner.y, 1, 1}, corner.r, role)
	}
	if title != "" && r.W > 6 {
		n := c.Text(r.X+3, r.Y, r.W-6, title, titleRole)
		c.Set(r.X+2, r.Y, ' ', role)
		c.Set(r.X+3+n, r.Y, ' ', role)
	}
	return Rect{r.X + 1, r.Y + 1, r.W - 2, r.H - 2}
}
