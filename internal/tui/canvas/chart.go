package canvas

import "math"

// Dots is how many values a column of a chart shows.
func (c *Canvas) Dots() int {
	if c.ASCII {
		return 1
	}
	return 2
}

// braille are the bits of a Braille pattern's dots, left column and right, from
// the bottom up (U+2800 and the bits; Unicode 16, section 21.1).
var braille = [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}

// levels fill a cell from the bottom where only ASCII may be shown.
var levels = [...]rune{'.', ':', '#'}

// Chart fills r with the area under values, which are shares of the height, the
// newest at the right end, Dots for each column. NaN is a gap: nothing was known.
func (c *Canvas) Chart(r Rect, values []float64, shade Shade) {
	if r.Empty() {
		return
	}
	per := c.Dots()
	if extra := len(values) - r.W*per; extra > 0 {
		values = values[extra:]
	}
	first := r.W*per - len(values)
	for i := range r.W {
		left, right := math.NaN(), math.NaN()
		if at := i*per - first; at >= 0 && at < len(values) {
			left = values[at]
		}
		if at := i*per + per - 1 - first; at >= 0 && at < len(values) {
			right = values[at]
		}
		if c.ASCII {
			c.asciiColumn(r, r.X+i, right, shade)
		} else {
			c.brailleColumn(r, r.X+i, left, right, shade)
		}
	}
}

// brailleColumn draws two values beside each other.
func (c *Canvas) brailleColumn(r Rect, x int, left, right float64, shade Shade) {
	var dots [2]int
	for side, v := range [...]float64{left, right} {
		if !math.IsNaN(v) {
			dots[side] = heightOf(v, 4*r.H)
		}
	}
	for row := 0; 4*row < max(dots[0], dots[1]); row++ {
		pattern := rune(0)
		for side, n := range dots {
			for dot := range min(n-4*row, 4) {
				pattern |= braille[side][dot]
			}
		}
		c.Set(x, r.Y+r.H-1-row, 0x2800+pattern, at(shade, row, r.H))
	}
}

func (c *Canvas) asciiColumn(r Rect, x int, v float64, shade Shade) {
	if math.IsNaN(v) {
		return
	}
	parts := heightOf(v, len(levels)*r.H)
	for row := range r.H {
		if n := min(parts-len(levels)*row, len(levels)); n > 0 {
			c.Set(x, r.Y+r.H-1-row, levels[n-1], at(shade, row, r.H))
		}
	}
}

// heightOf is the number of dots for a share; what is there has at least one, and
// zero has one, too, so that it can be told from a gap.
func heightOf(share float64, dots int) int {
	return max(int(math.Round(clamp(share)*float64(dots))), 1)
}

// Level draws a line across r at a share of its height: dashes where nothing is, and
// in its own colour what is there.
func (c *Canvas) Level(r Rect, share float64, role Role) {
	y := r.Y + r.H - 1 - min(int(clamp(share)*float64(r.H)), r.H-1)
	for x := r.X; x < r.X+r.W; x++ {
		if r := c.At(x, y).Rune; r == ' ' {
			c.Set(x, y, c.pick('┄', '-'), role)
		} else if r != 0 {
			c.Set(x, y, r, role)
		}
	}
}
