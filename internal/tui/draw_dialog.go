package tui

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
)

// signs are what the screen shows and what it means, for the page of help.
var signs = []struct {
	sign string
	role canvas.Role
	text string
}{
	{"✓", canvas.Good, "the GPU does useful work"},
	{"▲", canvas.Warn, "it idles for a cause, which is named with what to do"},
	{"?", canvas.Dim, "it idles, and what was seen does not decide why"},
	{"○", canvas.Dim, "nobody uses it"},
	{"!", canvas.Bad, "the driver does not answer for it; its values are old"},
	{"✗", canvas.Bad, "it is lost or cannot be read"},
	{"–", canvas.Dim, "not known, which is not zero"},
	{"▒", canvas.Growth, "what the trend will take in the next ten minutes"},
	{"┃", canvas.Growth, "the load line: memory above it is full within ten minutes"},
}

// drawHelp lists the keys and the signs.
func (m *Model) drawHelp() {
	r := m.canvas.Bounds()
	in := m.canvas.Box(r, "plimsoll top: keys and signs; any key goes back", canvas.Faint, canvas.Brand)
	y := in.Y
	width := in.W - 2
	if in.W >= 130 {
		width = in.W/2 - 2
	}
	for _, b := range bindings() {
		if b.player && m.player() == nil {
			continue
		}
		if y >= in.Y+in.H {
			break
		}
		m.canvas.Text(in.X+1, y, 14, strings.Join(b.keys, " "), canvas.Key)
		m.canvas.Text(in.X+16, y, width-16, b.help, canvas.Plain)
		y++
	}
	x := in.X + 1
	if in.W >= 130 {
		x, y = in.X+in.W/2+1, in.Y
	} else {
		y++
	}
	for _, s := range signs {
		if y >= in.Y+in.H {
			return
		}
		m.canvas.Text(x, y, 2, s.sign, s.role)
		m.canvas.Text(x+3, y, in.X+in.W-x-4, s.text, canvas.Plain)
		y++
	}
}

// drawKill asks before a signal is sent.
func (m *Model) drawKill() {
	k := m.wantKill
	r := m.canvas.Bounds().Centre(64, 10)
	m.canvas.Clear(r)
	in := m.canvas.Box(r, fmt.Sprintf("Send SIG%s to process %d?", k.signal, k.pid), canvas.Warn, canvas.Warn)
	m.paragraph(canvas.Rect{X: in.X + 1, Y: in.Y, W: in.W - 2, H: 2}, k.what, canvas.Strong)
	for i, s := range signals {
		role := canvas.Dim
		mark := "  "
		if s.signal == k.signal {
			role, mark = canvas.Strong, "▶ "
		}
		line := in.Line(3 + i)
		if line.Empty() {
			return
		}
		n := m.canvas.Text(line.X+1, line.Y, line.W-2, mark, role)
		n += m.canvas.Text(line.X+1+n, line.Y, line.W-2-n, s.key, canvas.Key)
		m.canvas.Text(line.X+2+n, line.Y, line.W-3-n, fmt.Sprintf("SIG%-5s %s", s.signal, s.help), role)
	}
	line := in.Line(7)
	n := m.canvas.Text(line.X+1, line.Y, line.W-2, "y", canvas.Key)
	m.canvas.Text(line.X+2+n, line.Y, line.W-3-n, "sends it; any other key does not", canvas.Dim)
}
