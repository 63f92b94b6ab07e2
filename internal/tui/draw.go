package tui

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
)

// draw fills the canvas with what the state says.
func (m *Model) draw() {
	switch {
	case m.width < 1 || m.height < 1:
		return
	case m.tiny():
		m.drawTiny()
		return
	case m.page == help:
		m.drawHelp()
	case m.page == oneProcess:
		m.drawProcess()
	default:
		m.drawOverview()
	}
	if m.wantKill != nil {
		m.drawKill()
	}
}

func (m *Model) drawOverview() {
	l := m.layout()
	m.drawHeader(l.header)
	m.drawVerdict(l.verdict)
	m.drawHost(l.host)
	m.drawDevices(l)
	m.drawCharts(l.charts)
	m.drawRows(l)
	m.drawPlay(l.play)
	m.drawFooter(l.footer)
}

// drawTiny shows a letter or a word for each GPU.
func (m *Model) drawTiny() {
	mark, role, text := m.headline()
	m.canvas.Text(0, 0, 1, string(mark), role)
	m.canvas.Text(2, 0, m.width-2, text, role)
	for i, d := range m.devices {
		shown, load := looks[m.remarkOn(d).Kind], m.loadOf(d)
		x := m.canvas.Text(0, i+1, m.width, string(shown.mark)+" "+strings.TrimPrefix(m.called(d), "GPU ")+" ", shown.role)
		memory := words.Unknown
		if load.Known {
			memory = words.Percent(series.Of(load.Used/load.Total)) + " % full"
		}
		m.canvas.Text(x, i+1, m.width-x, busyWord(d)+" "+memory, canvas.Plain)
	}
}

// busyWord is how busy a device is, or why that is not known.
func busyWord(d device) string {
	if d.Status != series.OK {
		return d.Status.String()
	}
	return words.PercentOf(watch.BusyOf(d.Device))
}

func (m *Model) drawHeader(r canvas.Rect) {
	c := m.canvas
	right, role := m.pace()
	w := c.Measure(right)
	c.Right(r.X, r.Y, r.W, right, role)
	room := r.W - w - 2
	x := r.X + c.Text(r.X, r.Y, room, "⊖ plimsoll top", canvas.Brand)
	if m.any {
		name, what := m.host.name, m.machine(m.host)
		if m.several() {
			name, what = fmt.Sprintf("%d hosts", len(m.hosts)), cards(m.devices)
		}
		x += c.Text(x, r.Y, room-x, "  "+name, canvas.Strong)
		c.Text(x, r.Y, room-x, what, canvas.Dim)
	}
}

// machine says what GPUs a host has and by which driver.
func (m *Model) machine(h *host) string {
	var own []device
	for _, d := range m.devices {
		if d.host == h {
			own = append(own, d)
		}
	}
	s := cards(own)
	if h.now.Host.Driver != "" {
		s += "  driver " + h.now.Host.Driver
	}
	if h.now.Host.CUDA != "" {
		s += "  CUDA " + h.now.Host.CUDA
	}
	return s
}

// cards says what GPUs devices are.
func cards(devices []device) string {
	var names []string
	counts := map[string]int{}
	for _, d := range devices {
		if d.Parent != "" || d.Index < 0 {
			continue
		}
		if counts[d.Name]++; counts[d.Name] == 1 {
			names = append(names, d.Name)
		}
	}
	s := ""
	for _, name := range names {
		short := strings.TrimPrefix(name, "NVIDIA ")
		if short == "" {
			short = "GPU"
		}
		s += fmt.Sprintf("  %d × %s", counts[name], short)
	}
	return s
}

// pace says whether the screen is live, and of when it is.
func (m *Model) pace() (string, canvas.Role) {
	when := ""
	if m.any {
		when = "  " + m.latest().now.Wall.Format("15:04:05")
	}
	switch {
	case m.quiet > 0:
		return "◌ no sample for " + words.About(m.quiet) + when, canvas.Alarm
	case m.ended:
		return "● the end" + when, canvas.Warn
	case m.paused, m.speed == 0:
		return "⏸ stands still" + when, canvas.Warn
	case m.player() != nil:
		return fmt.Sprintf("▶ ×%g", m.speed) + when, canvas.Good
	case !m.any:
		return "◌", canvas.Dim
	}
	return "● live" + when, canvas.Good
}

func (m *Model) drawVerdict(r canvas.Rect) {
	mark, role, text := m.headline()
	m.canvas.Text(r.X, r.Y, 1, string(mark), role)
	m.paragraph(canvas.Rect{X: r.X + 2, Y: r.Y, W: r.W - 2, H: r.H}, text, role)
}

// paragraph writes s over the lines of r, broken at blanks; what does not fit is
// cut at the end of the last line.
func (m *Model) paragraph(r canvas.Rect, s string, role canvas.Role) {
	for i := range r.H {
		line := s
		if i < r.H-1 && m.canvas.Measure(s) > r.W {
			line = m.head(s, r.W)
		}
		m.canvas.Text(r.X, r.Y+i, r.W, line, role)
		if s = strings.TrimSpace(strings.TrimPrefix(s, line)); s == "" {
			return
		}
	}
}

// head is as many words of s as width holds, or all of it if its first word is
// longer.
func (m *Model) head(s string, width int) string {
	end, used := 0, 0
	for i, r := range s {
		if used > width {
			break
		}
		if r == ' ' {
			end = i
		}
		used += m.canvas.Measure(string(r))
	}
	if end == 0 {
		return s
	}
	return s[:end]
}

// drawHost says in one line how the host does, for it is what GPUs wait for.
func (m *Model) drawHost(r canvas.Rect) {
	if r.Empty() || !m.any {
		return
	}
	now := m.host.now.Host.Values
	x := r.X + 2
	if m.several() {
		x += m.canvas.Text(x, r.Y, r.W-x, m.host.name, canvas.Strong) + 3
	}
	rate := m.host.rate
	for _, f := range []Fact{
		{"CPU", ofNumber(rate(series.HostCPUTime), now.Get(series.HostCPUs), "%.1f")},
		{"memory", words.MemoryOf(taken(now), now.Get(series.HostMemoryTotal))},
		{"disk wait", words.PercentOf(rate(series.HostPressureIO))},
		{"read", words.PerSecond(rate(series.HostDiskRead))},
		{"write", words.PerSecond(rate(series.HostDiskWritten))},
		{"/dev/shm", words.MemoryOf(now.Get(series.HostSharedUsed), now.Get(series.HostSharedTotal))},
		{"net in", words.PerSecond(rate(series.HostNetReceived))},
	} {
		if x+len(f.Name)+1+m.canvas.Measure(f.Value) > r.X+r.W {
			break
		}
		x += m.canvas.Text(x, r.Y, r.W, f.Name+" ", canvas.Dim)
		x += m.canvas.Text(x, r.Y, r.W, f.Value, canvas.Plain) + 3
	}
}

// taken is the host's memory that is not available.
func taken(vs series.Values) series.Value {
	total, okTotal := vs.Get(series.HostMemoryTotal).Get()
	available, ok := vs.Get(series.HostMemoryAvailable).Get()
	if !okTotal || !ok {
		return series.Value{}
	}
	return series.Of(total - available)
}

func ofNumber(v, most series.Value, form string) string {
	x, ok := v.Get()
	if !ok {
		return words.Unknown
	}
	s := fmt.Sprintf(form, x)
	if n, ok := most.Get(); ok {
		s += fmt.Sprintf(" of %.0f", n)
	}
	return s
}

// drawPlay shows where in a recording the screen is.
func (m *Model) drawPlay(r canvas.Rect) {
	p := m.player()
	if r.Empty() || p == nil {
		return
	}
	first, last := p.Span()
	at := m.clock()
	text := words.Clock(at-first) + " of " + words.Clock(last-first)
	m.canvas.Text(r.X+2, r.Y, r.W, text, canvas.Strong)
	x := r.X + 2 + m.canvas.Measure(text) + 2
	if last > first && r.X+r.W-2-x > 0 {
		m.canvas.Bar(x, r.Y, r.X+r.W-2-x, canvas.Bar{Share: (at - first).Seconds() / (last - first).Seconds(), Mark: -1, Role: canvas.Brand})
	}
}

// A footKey is a key on the last line.
type footKey struct {
	binding
	place
}

// footKeys are the keys of the last line and where they stand.
func footKeys(player bool) []footKey {
	var out []footKey
	x := 0
	for _, b := range bindings() {
		if b.short == "" || b.player && !player {
			continue
		}
		w := len(b.keys[0]) + 1 + len(b.short)
		out = append(out, footKey{b, place{x, w}})
		x += w + 2
	}
	return out
}

func (m *Model) drawFooter(r canvas.Rect) {
	c := m.canvas
	switch {
	case r.Empty():
	case m.typing:
		x := c.Text(r.X, r.Y, r.W, "filter ", canvas.Key)
		x += c.Text(r.X+x, r.Y, r.W-x, m.filterText, canvas.Strong)
		c.Fill(canvas.Rect{X: r.X + x, Y: r.Y, W: 1, H: 1}, '█', canvas.Key)
		hint, role := "enter keeps it, esc drops it", canvas.Dim
		if m.filterErr != nil {
			hint, role = m.filterErr.Error(), canvas.Bad
		}
		c.Text(r.X+x+3, r.Y, r.W-x-3, hint, role)
	case m.message != "":
		c.Text(r.X, r.Y, r.W, m.message, canvas.Warn)
	default:
		for _, k := range m.foot {
			if k.x+k.w > r.W {
				break
			}
			n := c.Text(r.X+k.x, r.Y, k.w, k.keys[0], canvas.Key)
			c.Text(r.X+k.x+n+1, r.Y, k.w-n-1, k.short, canvas.Dim)
		}
	}
}
