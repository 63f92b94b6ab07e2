package tui

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
)

func (m *Model) drawRows(l layout) {
	columns := m.placeColumns(l.head.W)
	m.drawRowsHead(l.head, columns)
	if len(m.rows) == 0 && !l.rows.Empty() && m.any {
		m.canvas.Text(2, l.rows.Y, l.rows.W-2, m.noRows(), canvas.Dim)
	}
	for i := range l.rows.H {
		if m.top+i >= len(m.rows) {
			return
		}
		line := l.rows.Line(i)
		m.drawRow(line, &m.rows[m.top+i], columns)
		if m.isChosen(&m.rows[m.top+i]) && !m.onDevices {
			m.canvas.Select(line)
		}
	}
}

// noRows says why there are no processes.
func (m *Model) noRows() string {
	switch {
	case m.filterText != "":
		return fmt.Sprintf("none of the %d processes on GPUs passes the filter %s", m.all, m.filterText)
	case m.only:
		return "no process is on this GPU; a shows those of all"
	}
	return "no process is on a GPU"
}

func (m *Model) drawRowsHead(r canvas.Rect, columns []placed) {
	if r.Empty() {
		return
	}
	for _, c := range columns {
		head, role := c.Head, canvas.Head
		if c.Column == m.sort {
			role = canvas.Key
			if m.reverse {
				head += "▴"
			} else {
				head += "▾"
			}
		}
		if c.Right {
			m.canvas.Right(r.X+c.x, r.Y, c.w, head, role)
		} else {
			m.canvas.Text(r.X+c.x, r.Y, c.w, head, role)
		}
	}
	state := ""
	if len(m.rows) > m.pageRows() {
		state = fmt.Sprintf(" %d–%d of %d", m.top+1, min(m.top+m.pageRows(), len(m.rows)), len(m.rows))
	}
	if m.filterText != "" && !m.typing {
		state = " filter " + m.filterText + state
	}
	if m.canvas.Measure(state) < r.W/2 {
		m.canvas.Right(r.X, r.Y, r.W, state, canvas.Warn)
	}
}

// drawRow draws one process. What is on no GPU stands back.
func (m *Model) drawRow(r canvas.Rect, row *table.Row, columns []placed) {
	role := canvas.Plain
	if len(row.Uses) == 0 {
		role = canvas.Dim
	}
	for _, c := range columns {
		text, role := c.Text(row), m.roleOf(c.Column, row, role)
		switch {
		case c.Name == "command":
			m.drawCommand(canvas.Rect{X: r.X + c.x, Y: r.Y, W: r.W - c.x, H: 1}, row, text, role)
		case text == "" && (c.Number == nil || c.Name == "workers" || len(row.Uses) == 0 && (c.Name == "memory" || c.Name == "busy")):
			// a word that is not there, or a number that it cannot have
		case text == "":
			m.canvas.Right(r.X+c.x, r.Y, c.w, words.Unknown, canvas.Faint)
		case c.Right:
			m.canvas.Right(r.X+c.x, r.Y, c.w, text, role)
		default:
			m.canvas.Text(r.X+c.x, r.Y, c.w, text, role)
		}
	}
}

func (m *Model) roleOf(c *table.Column, row *table.Row, role canvas.Role) canvas.Role {
	switch {
	case c.Name == "state" && (row.State == "D" || row.State == "Z"):
		return canvas.Warn
	case c.Name == "memory" && len(row.Uses) > 0:
		return canvas.Strong
	case c.Name == "command" && row.Status != series.OK:
		return canvas.Warn
	}
	return role
}

// drawCommand draws a command line, in a tree below its parent's.
func (m *Model) drawCommand(r canvas.Rect, row *table.Row, text string, role canvas.Role) {
	indent := ""
	if row.Depth > 0 {
		indent = strings.Repeat("  ", min(row.Depth, 20)-1) + "└ "
	}
	n := m.canvas.Text(r.X, r.Y, r.W, indent, canvas.Faint)
	m.canvas.Text(r.X+n, r.Y, r.W-n, words.OrUnknown(text), role)
}
