package canvas

// eighths fill a cell from the left; the last is full.
var eighths = [...]rune{'▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'}

// A Bar is a share of something, drawn from left to right.
type Bar struct {
	Share float64 // 0 to 1
	// Growth is what will be added; 0 where nothing is known.
	Growth float64
	// Mark is where a line is drawn, 0 to 1; negative without one.
	Mark float64
	Role Role
	// Over is the role of the mark.
	Over Role
}

// Bar draws b in one line at x, y.
func (c *Canvas) Bar(x, y, width int, b Bar) {
	width = min(width, c.Width-x)
	if width <= 0 {
		return
	}
	c.Fill(Rect{x, y, width, 1}, c.pick('─', '.'), Faint)
	grown := int(clamp(b.Share+b.Growth)*float64(width) + 0.5)
	if b.Growth > 0 {
		c.Fill(Rect{x, y, grown, 1}, c.pick('▒', ':'), Growth)
	}
	parts := int(clamp(b.Share)*float64(width*len(eighths)) + 0.5)
	if parts == 0 && b.Share > 0 {
		parts = 1 // what is there is seen
	}
	full := parts / len(eighths)
	c.Fill(Rect{x, y, full, 1}, '█', b.Role)
	if rest := parts % len(eighths); rest > 0 && full < width {
		switch {
		case !c.ASCII:
			c.Set(x+full, y, eighths[rest-1], b.Role)
		case rest >= len(eighths)/2 || full == 0:
			c.Set(x+full, y, '#', b.Role)
		}
	}
	if b.Mark >= 0 {
		at := min(int(clamp(b.Mark)*float64(width)), width-1)
		c.Set(x+at, y, c.pick('┃', '|'), b.Over)
	}
}

// Unknown draws a bar of which nothing is known.
func (c *Canvas) Unknown(x, y, width int) {
	for i := range min(width, c.Width-x) {
		if i%2 == 0 {
			c.Set(x+i, y, c.pick('·', '?'), Faint)
		}
	}
}

// pick is the character for this canvas.
func (c *Canvas) pick(unicode, ascii rune) rune {
	if c.ASCII {
		return ascii
	}
	return unicode
}

func clamp(v float64) float64 { return min(max(v, 0), 1) }
