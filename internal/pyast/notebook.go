package pyast

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Notebook is the Python of a .ipynb file as one source, cell after cell.
type Notebook struct {
	Source []byte
	cells  []cell
}

type cell struct {
	number int    // from 1, among all cells, as editors count them
	first  int    // its first line in Source, from 1
	start  int    // its first byte in Source
	text   string // as written: magics are not masked
}

// ReadNotebook joins the code cells of a notebook. Lines that are no Python
// (magics, shell commands) become comments of the same length, and cells in
// another language are left out.
func ReadNotebook(raw []byte) (*Notebook, error) {
	var doc struct {
		Cells      []rawCell `json:"cells"`
		Worksheets []struct {
			Cells []rawCell `json:"cells"`
		} `json:"worksheets"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("read the notebook: %w", err)
	}
	for _, w := range doc.Worksheets { // nbformat 3
		doc.Cells = append(doc.Cells, w.Cells...)
	}
	var b strings.Builder
	n := &Notebook{}
	line := 1
	for i, c := range doc.Cells {
		if c.Type != "code" {
			continue
		}
		written := c.text()
		text := maskMagics(written)
		if text == "" {
			continue
		}
		n.cells = append(n.cells, cell{i + 1, line, b.Len(), written})
		b.WriteString(text)
		if !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
		line += strings.Count(text, "\n")
		if !strings.HasSuffix(text, "\n") {
			line++
		}
	}
	n.Source = []byte(b.String())
	return n, nil
}

// Cell tells in which cell a line of Source is, and which line of it.
func (n *Notebook) Cell(line int) (number, cellLine int) {
	for _, c := range n.cells {
		if c.first > line {
			break
		}
		number, cellLine = c.number, line-c.first+1
	}
	return number, cellLine
}

type rawCell struct {
	Type   string          `json:"cell_type"`
	Source json.RawMessage `json:"source"`
	Input  json.RawMessage `json:"input"` // nbformat 3
}

// text is the cell's source, which is a string or a list of lines.
func (c rawCell) text() string {
	raw := c.Source
	if len(raw) == 0 {
		raw = c.Input
	}
	var lines []string
	if json.Unmarshal(raw, &lines) == nil {
		return strings.Join(lines, "")
	}
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		return whole
	}
	return ""
}

// otherLanguages are cell magics after which the cell is not Python.
var otherLanguages = map[string]bool{
	"%%bash": true, "%%sh": true, "%%script": true, "%%html": true, "%%HTML": true, "%%javascript": true,
	"%%js": true, "%%latex": true, "%%markdown": true, "%%perl": true, "%%ruby": true, "%%R": true,
	"%%writefile": true, "%%svg": true, "%%cython": true, "%%sql": true, "%%bigquery": true, "%%cmd": true,
}

// maskMagics turns lines of IPython into comments, or into pass where a block
// needs a statement. "" means that the cell is not Python.
func maskMagics(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		t := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(t, "%%") && otherLanguages[firstWord(t)] {
			return ""
		}
		if !strings.HasPrefix(t, "%") && !strings.HasPrefix(t, "!") && !strings.HasPrefix(t, "?") {
			continue
		}
		indent := line[:len(line)-len(t)]
		rest := strings.TrimRight(t, "\r\n")
		mask := "#" + rest[1:]
		if len(rest) >= 4 && indent != "" {
			mask = "pass" + strings.Repeat(" ", len(rest)-4)
		}
		lines[i] = indent + mask + t[len(rest):]
	}
	return strings.Join(lines, "")
}

func firstWord(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return ""
}
