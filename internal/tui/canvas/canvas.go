// Package canvas is a screen as a grid of cells, and what is drawn on one:
// text, bars, charts of Braille dots, boxes.
//
// A cell holds what it means (a Role), not a colour; a Theme says how a role
// looks, in a terminal (ANSI) and in a picture (SVG) alike. Drawing outside of a
// rectangle is cut, so no size of screen is an error.
//
// It knows nothing of GPUs.
package canvas

// A Cell is one column of one line.
type Cell struct {
	// Rune is what is shown; 0 in the second column of a wide character.
	Rune rune
	Ink  Ink
}

// An Ink is a role, and whether the cell belongs to what is selected.
type Ink uint8

// Selected marks the ink as that of a selected line.
const Selected Ink = 1 << 7

// Role is the ink without the mark of selection.
func (k Ink) Role() Role { return Role(k &^ Selected) }

// A Canvas is a grid of cells.
type Canvas struct {
	Width, Height int
	// ASCII is set where nothing but ASCII may be shown.
	ASCII bool

	cells  []Cell
	glyphs [128]glyph // of runes that were drawn, each at a place that its bits give
}

// New returns an empty canvas.
func New(width, height int) *Canvas {
	c := &Canvas{}
	c.Reset(width, height)
	return c
}

// Reset makes the canvas empty and of this size; it keeps its memory.
func (c *Canvas) Reset(width, height int) {
	c.Width, c.Height = max(width, 0), max(height, 0)
	n := c.Width * c.Height
	if cap(c.cells) < n {
		c.cells = make([]Cell, n)
	}
	c.cells = c.cells[:n]
	for i := range c.cells {
		c.cells[i] = Cell{Rune: ' '}
	}
}

// At returns the cell at x, y; a blank outside of the canvas.
func (c *Canvas) At(x, y int) Cell {
	if x < 0 || y < 0 || x >= c.Width || y >= c.Height {
		return Cell{Rune: ' '}
	}
	return c.cells[y*c.Width+x]
}

// Set shows r, which must be one column wide, at x, y.
func (c *Canvas) Set(x, y int, r rune, role Role) {
	if x >= 0 && y >= 0 && x < c.Width && y < c.Height {
		c.put(x, y, r, role)
	}
}

// put replaces a cell within the canvas. Half a wide character is none: its other
// half becomes a blank.
func (c *Canvas) put(x, y int, r rune, role Role) {
	i := y*c.Width + x
	if c.cells[i].Rune == 0 && x > 0 {
		c.cells[i-1].Rune = ' '
	}
	if x+1 < c.Width && c.cells[i+1].Rune == 0 {
		c.cells[i+1].Rune = ' '
	}
	c.cells[i] = Cell{r, Ink(role)}
}

// Select marks a rectangle as selected.
func (c *Canvas) Select(r Rect) {
	r = r.Within(c.Bounds())
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			c.cells[y*c.Width+x].Ink |= Selected
		}
	}
}

// Clear blanks a rectangle.
func (c *Canvas) Clear(r Rect) {
	r = r.Within(c.Bounds())
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			c.put(x, y, ' ', Plain)
		}
	}
}

// Bounds is the whole canvas.
func (c *Canvas) Bounds() Rect { return Rect{0, 0, c.Width, c.Height} }

// Lines is the canvas as text, blanks at the end of lines left out.
func (c *Canvas) Lines() []string {
	lines := make([]string, c.Height)
	var line []rune
	for y := range lines {
		line = line[:0]
		for _, cell := range c.line(y) {
			if cell.Rune != 0 {
				line = append(line, cell.Rune)
			}
		}
		for len(line) > 0 && line[len(line)-1] == ' ' {
			line = line[:len(line)-1]
		}
		lines[y] = string(line)
	}
	return lines
}

func (c *Canvas) line(y int) []Cell { return c.cells[y*c.Width : (y+1)*c.Width] }
