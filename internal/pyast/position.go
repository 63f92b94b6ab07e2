package pyast

import "sort"

// lineStarts lists the offset of each line's first byte. Only \n ends a line,
// alone or after \r; a lone \r does as well, as in Python.
func lineStarts(src []byte) []int {
	starts := []int{0}
	for i, b := range src {
		if b == '\n' || b == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// Position tells the line and the column of an offset, both from 1; the column
// counts bytes.
func (m *Module) Position(offset int) (line, column int) {
	i := sort.SearchInts(m.lines, offset+1) - 1
	return i + 1, offset - m.lines[i] + 1
}

// Lines is the number of lines.
func (m *Module) Lines() int { return len(m.lines) }

// LineSpan is the range of a line (from 1), without its end.
func (m *Module) LineSpan(line int) Span {
	if line < 1 || line > len(m.lines) {
		return Span{}
	}
	s := Span{m.lines[line-1], len(m.Source)}
	if line < len(m.lines) {
		s.End = m.lines[line]
	}
	for s.End > s.Start && (m.Source[s.End-1] == '\n' || m.Source[s.End-1] == '\r') {
		s.End--
	}
	return s
}

// Text is the source of a span.
func (m *Module) Text(s Span) string {
	if s.Start < 0 || s.End > len(m.Source) || s.Start > s.End {
		return ""
	}
	return string(m.Source[s.Start:s.End])
}
