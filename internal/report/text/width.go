package text

import (
	"strings"
	"unicode"
)

// wide are the blocks whose characters take two columns.
//
// Source: Unicode 16 EastAsianWidth.txt, the ranges of W and F that have
// letters or pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0x33ff, Stride: 1}, {Lo: 0x3400, Hi: 0x4dbf, Stride: 1},
		{Lo: 0x4e00, Hi: 0x9fff, Stride: 1}, {Lo: 0xa000, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// cells returns the columns that an escaped string takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	default:
		return 1
	}
}

// left pads s on the right to n columns.
func left(s string, n int) string { return s + blanks(n-cells(s)) }

// right pads s on the left to n columns.
func right(s string, n int) string { return blanks(n-cells(s)) + s }

func blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

// cutEnd shortens s to n columns, keeping its beginning.
func (g glyphs) cutEnd(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	room := n - cells(g.ellipsis)
	if room < 0 {
		return ""
	}
	for i, r := range s {
		if room -= runeCells(r); room < 0 {
			return s[:i] + g.ellipsis
		}
	}
	return s
}

// cutStart shortens s to n columns, keeping its end, where the file and the
// line of a path stand.
func (g glyphs) cutStart(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	room := n - cells(g.ellipsis)
	if room < 0 {
		return ""
	}
	runes := []rune(s)
	i := len(runes)
	for i > 0 && room-runeCells(runes[i-1]) >= 0 {
		i--
		room -= runeCells(runes[i])
	}
	return g.ellipsis + string(runes[i:])
}

// cutMiddle shortens s to n columns, keeping a third of them for its start
// and the rest for its end.
func (g glyphs) cutMiddle(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	room := n/3 - cells(g.ellipsis)
	if room <= 0 {
		return g.cutStart(s, n)
	}
	i, runes := 0, []rune(s)
	for i < len(runes) && room-runeCells(runes[i]) >= 0 {
		room -= runeCells(runes[i])
		i++
	}
	start := string(runes[:i])
	return start + g.cutStart(string(runes[i:]), n-cells(start))
}

// wrap breaks s into lines of at most n columns, at blanks where it can and
// never between a number and its unit.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range words(s) {
		for cells(word) > n {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := headOf(word, n)
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case cells(line)+1+cells(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// units are what stays with the number before it.
var units = map[string]bool{"B": true, "KiB": true, "MiB": true, "GiB": true, "TiB": true, "%": true, "s": true, "ms": true}

// words splits s at blanks, numbers with their units kept together.
func words(s string) []string {
	var out []string
	for _, word := range strings.Fields(s) {
		last := len(out) - 1
		if last >= 0 && units[strings.TrimRight(word, ".,;:)")] && endsInDigit(out[last]) {
			out[last] += " " + word
			continue
		}
		out = append(out, word)
	}
	return out
}

func endsInDigit(s string) bool { return s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// headOf returns as much of s as n columns hold, at least one character.
func headOf(s string, n int) string {
	for i, r := range s {
		if n -= runeCells(r); n < 0 && i > 0 {
			return s[:i]
		}
	}
	return s
}
