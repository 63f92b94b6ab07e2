package tui

import (
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func (m *Model) drawDevices(l layout) {
	places := placeFields(l.devices.W)
	m.drawDeviceHead(l, places)
	for _, s := range m.seen(l) {
		m.drawHeading(s.heading, s.host)
		m.drawDevice(s.rect, s.device, places)
		if m.onDevices && s.key() == m.device {
			m.canvas.Select(s.rect)
		}
	}
	if i := m.deviceIndex(m.device); i >= 0 && !l.why.Empty() {
		d := m.devices[i]
		x := 2 + m.canvas.Text(2, l.why.Y, l.why.W, m.called(d)+": ", canvas.Dim)
		m.drawRemark(canvas.Rect{X: x, Y: l.why.Y, W: l.why.W - x, H: 1}, m.remarkOn(d))
	}
}

// drawHeading names a host above its GPUs, and says how it does.
func (m *Model) drawHeading(r canvas.Rect, h *host) {
	if r.Empty() {
		return
	}
	x := r.X + m.canvas.Text(r.X, r.Y, r.W, h.name, canvas.Brand)
	for _, f := range m.heading(h) {
		role := canvas.Plain
		switch f.Name {
		case "":
			role = canvas.Dim
		case quietFact:
			role = canvas.Alarm
		}
		name := f.Name
		if name != "" {
			name += " "
		}
		if x += 3; x+m.canvas.Measure(name+f.Value) > r.X+r.W {
			return
		}
		x += m.canvas.Text(x, r.Y, r.W, name, canvas.Dim)
		x += m.canvas.Text(x, r.Y, r.W, f.Value, role)
	}
}

func (m *Model) drawDeviceHead(l layout, places map[string]place) {
	if l.deviceHead.Empty() {
		return
	}
	_, spark := places["spark"]
	for _, f := range fields {
		p, ok := places[f.name]
		if !ok || f.head == "" || f.name == "busy" && spark {
			continue
		}
		if f.right {
			m.canvas.Right(p.x, l.deviceHead.Y, p.w, f.head, canvas.Head)
		} else {
			m.canvas.Text(p.x, l.deviceHead.Y, p.w, f.head, canvas.Head)
		}
	}
	if hidden := len(m.devices) - l.shownDevices; hidden > 0 {
		m.canvas.Right(0, l.deviceHead.Y, l.deviceHead.W, fmt.Sprintf("%d more", hidden), canvas.Warn)
	}
}

// drawDevice draws the numbers of a device and, where there is a second line, what
// is to say of it.
func (m *Model) drawDevice(r canvas.Rect, d device, places map[string]place) {
	load := m.loadOf(d)
	remark := m.remarkOn(d)
	for _, f := range fields {
		p, ok := places[f.name]
		if !ok {
			continue
		}
		switch f.name {
		case "mark":
			m.canvas.Text(r.X, r.Y, 1, string(looks[remark.Kind].mark), looks[remark.Kind].role)
		case "label":
			role := canvas.Strong
			switch {
			case d.key() == m.device:
				role = canvas.Brand
			case d.Parent != "":
				role = canvas.Plain
			}
			m.canvas.Right(r.X+p.x, r.Y, p.w, d.label, role)
		case "spark":
			// One row of dots stays free, so that GPUs do not grow together.
			m.drawOverTime(canvas.Rect{X: r.X + p.x, Y: r.Y, W: p.w, H: r.H}, d.host, d.ID, busyOverTime, canvas.Busy1, 1-1/float64(4*r.H))
		case "bar":
			m.drawLoad(r.X+p.x, r.Y, p.w, load)
		default:
			text, role := m.cell(f.name, d, load)
			m.canvas.Right(r.X+p.x, r.Y, p.w, text, role)
		}
	}
	if r.H > 1 {
		x := places["label"].x + places["label"].w + 1
		if p, ok := places["spark"]; ok {
			x = p.x + p.w + 1
		}
		m.drawRemark(canvas.Rect{X: r.X + x, Y: r.Y + 1, W: r.W - x, H: 1}, remark)
	}
}

// drawRemark writes a remark in one line: the sentence, then what more there is.
func (m *Model) drawRemark(r canvas.Rect, k watch.Remark) {
	n := m.canvas.Text(r.X, r.Y, r.W, k.Text, looks[k.Kind].role)
	if k.More != "" && n < r.W-12 {
		m.canvas.Text(r.X+n+2, r.Y, r.W-n-2, k.More, canvas.Dim)
	}
}

// cell is one number of a device.
func (m *Model) cell(name string, d device, load watch.Load) (string, canvas.Role) {
	vs := d.Values
	role := canvas.Plain
	if d.Status != series.OK {
		role = canvas.Dim // the values are old, if there are any
	}
	switch name {
	case "busy":
		if d.Status != series.OK {
			return busyWord(d), canvas.Alarm
		}
		return orFaint(busyWord(d), canvas.Strong)
	case "memory":
		return orFaint(words.MemoryOf(vs.Get(series.MemoryUsed), vs.Get(series.MemoryTotal)), role)
	case "full":
		return m.fullIn(d, load)
	case "power":
		return orFaint(words.OfMost(vs.Get(series.Power), vs.Get(series.PowerLimit), "W"), role)
	case "temperature":
		t, limit := vs.Get(series.Temperature), vs.Get(series.TemperatureLimit)
		if t.Status == series.OK && limit.Status == series.OK && t.V >= limit.V && role == canvas.Plain {
			role = canvas.Bad
		}
		return orFaint(words.Whole(t, 1, "°C"), role)
	case "clock":
		return orFaint(words.Whole(vs.Get(series.ClockSM), 1e6, "MHz"), role)
	case "active":
		return orFaint(words.PercentOf(vs.Get(series.SMActive)), role)
	case "tensor":
		return orFaint(words.PercentOf(vs.Get(series.TensorActive)), role)
	case "received":
		return orFaint(words.PerSecond(vs.Get(series.PCIeReceived)), role)
	}
	return fmt.Sprint(d.processes), role
}

// orFaint draws what is not known as such.
func orFaint(s string, role canvas.Role) (string, canvas.Role) {
	if s == words.Unknown {
		return s, canvas.Faint
	}
	return s, role
}

// fullIn is when memory is full by its trend, or how old the values are.
func (m *Model) fullIn(d device, load watch.Load) (string, canvas.Role) {
	switch {
	case d.Status == series.Stuck && d.StaleFor > 0:
		return words.About(d.StaleFor) + " old", canvas.Alarm
	case load.Fills && load.Over():
		return "in " + words.About(load.Full.After), canvas.Bad
	case load.Fills:
		return "in " + words.About(load.Full.After), canvas.Growth
	}
	return "", canvas.Plain
}

// nearlyFull is the share of memory above which the bar warns; the library that
// computes then has little left for its workspaces.
const nearlyFull = 0.95

// drawLoad draws memory with its load line: what is used, what the trend will take
// within watch.Horizon, and where memory may stand now to have room for that.
func (m *Model) drawLoad(x, y, width int, load watch.Load) {
	if !load.Known {
		m.canvas.Unknown(x, y, width)
		return
	}
	b := canvas.Bar{Share: load.Used / load.Total, Growth: load.Growth / load.Total, Mark: -1, Role: canvas.Memory2, Over: canvas.Growth}
	switch {
	case load.Over():
		b.Role, b.Over = canvas.Bad, canvas.Strong
	case load.Used/load.Capacity >= nearlyFull:
		b.Role = canvas.Warn
	}
	if load.Lined {
		b.Mark = load.Line / load.Total
	}
	m.canvas.Bar(x, y, width, b)
}

// drawOverTime draws a metric of a device up to what is shown; all of it takes a
// share of the height.
func (m *Model) drawOverTime(r canvas.Rect, h *host, id string, k metric, shade canvas.Shade, height float64) {
	n := r.W * m.canvas.Dots()
	m.dots = slices.Grow(m.dots[:0], n)[:n]
	dots := m.dots
	h.history.line(dots, id, k, m.clock(), steps[m.zoom], m.hold())
	for i := range dots {
		dots[i] *= height
	}
	m.canvas.Chart(r, dots, shade)
}

// hold is how long a value stands when no sample comes: longer than the longest
// that samples are apart.
func (m *Model) hold() time.Duration { return 3 * m.o.Interval }

// drawCharts draws the last minutes of the chosen GPU beside each other.
func (m *Model) drawCharts(r canvas.Rect) {
	i := m.deviceIndex(m.device)
	if r.Empty() || i < 0 {
		return
	}
	d := m.devices[i]
	load := m.loadOf(d)
	vs := d.Values
	charts := []struct {
		title, value string
		id           string
		metric       metric
		shade        canvas.Shade
	}{
		{m.called(d) + " busy", busyWord(d), d.ID, busyOverTime, canvas.Busy1},
		{"memory", words.MemoryOf(vs.Get(series.MemoryUsed), vs.Get(series.MemoryTotal)), d.ID, memoryOverTime, canvas.Memory1},
		{"power", words.OfMost(vs.Get(series.Power), vs.Get(series.PowerLimit), "W"), d.ID, powerOverTime, canvas.Power1},
		{"host CPU", words.PercentOf(m.hostShare()), "", cpuOverTime, canvas.CPU1},
	}
	n := min(max(r.W/36, 1), len(charts))
	for i, chart := range charts[:n] {
		x := r.X + i*r.W/n
		box := canvas.Rect{X: x, Y: r.Y, W: r.X + (i+1)*r.W/n - x, H: r.H}
		in := m.canvas.Box(box, chart.title, canvas.Faint, canvas.Dim)
		m.canvas.Right(box.X+2, box.Y, box.W-4, " "+chart.value+" ", canvas.Strong)
		m.drawOverTime(in, d.host, chart.id, chart.metric, chart.shade, 1)
		if chart.metric == memoryOverTime && load.Lined {
			m.canvas.Level(in, load.Line/load.Total, canvas.Growth)
			m.canvas.Right(box.X+2, box.Y+box.H-1, box.W-4, " load line "+unit.Bytes(load.Line).String()+" ", canvas.Growth)
		}
		over := time.Duration(in.W*m.canvas.Dots()) * steps[m.zoom]
		m.canvas.Text(box.X+2, box.Y+box.H-1, box.W-4, " last "+words.About(over)+" ", canvas.Faint)
	}
}

// hostShare is the share of the host's processors that work.
func (m *Model) hostShare() series.Value {
	if v := hostCPU(&m.host.now, &m.host.before); v == v && m.host.rateBase() != nil {
		return series.Of(float64(v))
	}
	return series.Value{}
}
