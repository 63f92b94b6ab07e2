package canvas

import "strconv"

// What a terminal is told, by ECMA-48: reset ends all styles (SGR 0), clear empties
// the screen (ED 2).
const (
	reset = "\x1b[m"
	clear = "\x1b[2J"
)

// bridge is how many unchanged cells between changed ones are sent again rather
// than jumped over: a jump takes as many bytes.
const bridge = 6

// AppendChanges appends what turns a terminal that shows before into one that shows
// c: the cells that differ, and all of them where before is nil or of another size.
func (c *Canvas) AppendChanges(b []byte, before *Canvas, pen *Pen) []byte {
	all := before == nil || before.Width != c.Width || before.Height != c.Height
	if all {
		b = append(b, reset+clear...)
	}
	for y := range c.Height {
		line := c.line(y)
		var old []Cell
		if !all {
			old = before.line(y)
		}
		for x := 0; x < len(line); {
			if same(line, old, x) {
				x++
				continue
			}
			from, to := run(line, old, x)
			b = c.appendRun(b, y, from, to, pen)
			x = to
		}
	}
	return b
}

// same reports whether the cell at x is what is there already; old is nil for an
// empty line.
func same(line, old []Cell, x int) bool {
	if old == nil {
		return line[x] == Cell{Rune: ' '}
	}
	return line[x] == old[x]
}

// run is the range of cells from x on that is sent at once. It never begins or ends
// within a wide character.
func run(line, old []Cell, x int) (from, to int) {
	from, to = x, x+1
	for i := x + 1; i < len(line) && i-to < bridge; i++ {
		if !same(line, old, i) {
			to = i + 1
		}
	}
	if line[from].Rune == 0 && from > 0 {
		from--
	}
	if to < len(line) && line[to].Rune == 0 {
		to++
	}
	return from, to
}

// appendRun appends a jump to a cell and the cells from there (CUP, SGR).
func (c *Canvas) appendRun(b []byte, y, from, to int, pen *Pen) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(y+1), 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(from+1), 10)
	b = append(b, 'H')
	last, on := Ink(0), false
	for _, cell := range c.line(y)[from:to] {
		if cell.Rune == 0 {
			continue
		}
		if cell.Ink != last {
			if on {
				b, on = append(b, reset...), false
			}
			if s := pen.sgr[cell.Ink.Role()][cell.Ink>>7]; s != "" {
				b, on = append(b, s...), true
			}
			last = cell.Ink
		}
		if cell.Rune < 0x80 {
			b = append(b, byte(cell.Rune))
		} else {
			b = append(b, string(cell.Rune)...)
		}
	}
	if on {
		b = append(b, reset...)
	}
	return b
}
