package tui

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
)

// A layout is where everything stands on the overview. Rectangles come first, and
// drawing fills them; the mouse asks the same ones.
type layout struct {
	header, verdict, host     canvas.Rect
	deviceHead, devices, why  canvas.Rect
	charts                    canvas.Rect
	head, rows, play, footer  canvas.Rect
	lines                     int  // of a GPU: 2 with the sentence on it, else 1
	headed                    bool // hosts are named above their GPUs
	firstDevice, shownDevices int
}

// tiny reports whether there is room for no more than a word on each GPU.
func (m *Model) tiny() bool { return m.width < 34 || m.height < 6 }

const (
	fewestRows  = 4 // of processes, on a screen that has room for them
	chartHeight = 8
)

// layout computes the rectangles for what is shown now.
func (m *Model) layout() layout {
	var l layout
	w, h := m.width, m.height
	rest := canvas.Rect{X: 0, Y: 0, W: w, H: h}
	l.header, rest = rest.Top(1)
	if h >= 8 {
		l.footer, rest = rest.Bottom(1)
	}
	if m.player() != nil && h >= 12 {
		l.play, rest = rest.Bottom(1)
	}
	l.verdict, rest = rest.Top(1 + flag(h >= 24))
	l.host, rest = rest.Top(flag(h >= 20))
	if h >= 36 {
		_, rest = rest.Top(1)
	}
	l.deviceHead, rest = rest.Top(flag(h >= 10))
	rows := 0
	if h >= 10 {
		rows = 1 + min(fewestRows, max(h/6, 1))
	}
	charts := 0
	if m.charts && h >= 30 && w >= 60 {
		charts = chartHeight + max(h-44, 0)/4
	}
	l.headed = m.several() && h >= 16
	l.lines = 1
	dense := m.devicesHeight(l)
	l.lines = 2
	full := m.devicesHeight(l)
	switch room := rest.H - rows; {
	case w >= 60 && full <= room:
		if full+charts > room {
			charts = 0
		}
		l.devices, rest = rest.Top(full)
	default:
		l.lines = 1
		why := flag(h >= 16)
		if dense+why+charts > room {
			charts = 0
		}
		l.devices, rest = rest.Top(min(dense, max(room-why, 1)))
		l.why, rest = rest.Top(why)
	}
	l.charts, rest = rest.Top(charts)
	if h >= 36 && charts == 0 {
		_, rest = rest.Top(1)
	}
	l.head, l.rows = rest.Top(1)
	l.firstDevice, l.shownDevices = m.seenDevices(l)
	return l
}

// devicesHeight is the lines that all devices take.
func (m *Model) devicesHeight(l layout) int {
	n := 0
	for i := range m.devices {
		n += m.linesOf(l, 0, i)
	}
	return n
}

// linesOf is the lines of a device where first is the first that is seen: with the
// sentence on it, which an instance of a GPU that is cut has not, and with the name
// of its host above the first of each.
func (m *Model) linesOf(l layout, first, i int) int {
	n := l.lines
	if m.devices[i].Parent != "" {
		n = 1
	}
	return n + flag(m.isHeaded(l, first, i))
}

func (m *Model) isHeaded(l layout, first, i int) bool {
	return l.headed && (i == first || m.devices[i].host != m.devices[i-1].host)
}

// seenDevices are those that fit, the chosen one among them.
func (m *Model) seenDevices(l layout) (first, n int) {
	chosen := max(m.deviceIndex(m.device), 0)
	for {
		n = 0
		for room := l.devices.H; first+n < len(m.devices); n++ {
			if room -= m.linesOf(l, first, first+n); room < 0 {
				break
			}
		}
		if first+n > chosen || first+1 >= len(m.devices) {
			return first, n
		}
		first++
	}
}

// A seenDevice is one with the place where it stands, and that of the name of its
// host above it, which is empty for most.
type seenDevice struct {
	device
	heading, rect canvas.Rect
}

// seen are the devices that are seen.
func (m *Model) seen(l layout) []seenDevice {
	out := make([]seenDevice, 0, l.shownDevices)
	rest := l.devices
	for i := l.firstDevice; i < l.firstDevice+l.shownDevices; i++ {
		s := seenDevice{device: m.devices[i]}
		lines := m.linesOf(l, l.firstDevice, i)
		if m.isHeaded(l, l.firstDevice, i) {
			s.heading, rest = rest.Top(1)
			lines--
		}
		s.rect, rest = rest.Top(lines)
		out = append(out, s)
	}
	return out
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pageRows is how many processes are seen at once.
func (m *Model) pageRows() int { return max(m.layout().rows.H, 1) }

// follow moves the rows so that the chosen one is seen.
func (m *Model) follow() {
	n := m.pageRows()
	if i := m.rowIndex(); i >= 0 {
		m.top = min(max(m.top, i-n+1), i)
	}
	m.top = max(min(m.top, len(m.rows)-n), 0)
}

// A place is where a column stands in a line.
type place struct{ x, w int }

// A field is a column of devices.
type field struct {
	name string
	head string
	w    int
	// rank says what narrow screens leave out: the highest first.
	rank  int
	right bool
}

// fields of a device's line. Two of them take what is left: the memory's bar, and
// what was busy over time.
var fields = []field{
	{name: "mark", w: 2},
	{name: "label", head: "GPU", w: 3, right: true},
	{name: "spark", head: "busy", w: 12, rank: 7},
	{name: "busy", head: "busy", w: 6, right: true},
	{name: "bar", head: "memory", w: 8, rank: 1},
	{name: "memory", w: 15, rank: 2, right: true},
	{name: "full", head: "full", w: 10, rank: 3, right: true},
	{name: "power", head: "power", w: 10, rank: 4, right: true},
	{name: "temperature", head: "temp", w: 6, rank: 5, right: true},
	{name: "clock", head: "clock", w: 9, rank: 6, right: true},
	{name: "active", head: "SMs", w: 6, rank: 8, right: true},
	{name: "tensor", head: "tensor", w: 6, rank: 9, right: true},
	{name: "received", head: "PCIe in", w: 11, rank: 10, right: true},
	{name: "processes", head: "procs", w: 5, rank: 11, right: true},
}

// gap is between columns.
const gap = 1

const (
	widestBar   = 40
	widestSpark = 60
	leastBar    = 14 // to be reached before a further column is shown
)

// placeFields chooses the columns of devices for a width.
func placeFields(width int) map[string]place {
	shown := map[string]int{}
	left := width
	for rank := 0; rank <= len(fields); rank++ {
		for _, f := range fields {
			need := f.w + gap
			if f.rank != rank {
				continue
			}
			if rank > 2 && left-need < leastBar-8 {
				continue
			}
			if left >= need {
				shown[f.name] = f.w
				left -= need
			}
		}
	}
	if _, ok := shown["bar"]; ok {
		more := min(left, widestBar-shown["bar"])
		shown["bar"] += more
		left -= more
	}
	if _, ok := shown["spark"]; ok {
		shown["spark"] = min(shown["spark"]+left, widestSpark)
	}
	places := map[string]place{}
	x := 0
	for _, f := range fields {
		if w, ok := shown[f.name]; ok {
			places[f.name] = place{x, w}
			x += w + gap
		}
	}
	return places
}

// leastCommand is what the command is to have beside its own least before further
// columns are shown.
const leastCommand = 16

// A placed column of processes.
type placed struct {
	*table.Column
	place
}

// columns are those of processes; of one host it is not said.
func (m *Model) columns() []*table.Column {
	if m.several() {
		return table.Columns
	}
	return slices.DeleteFunc(slices.Clone(table.Columns), func(c *table.Column) bool { return c.Name == "host" })
}

// placeColumns chooses the columns of processes for a width; the command takes
// what is left.
func (m *Model) placeColumns(width int) []placed {
	columns := m.columns()
	shown := map[*table.Column]bool{}
	left := width - 1 // for the mark of what is chosen
	for rank := range len(table.Columns) {
		for _, c := range columns {
			need := c.Width + gap
			if rank > 3 {
				need += leastCommand
			}
			if c.Rank == rank && left >= need {
				shown[c] = true
				left -= c.Width + gap
			}
		}
	}
	var out []placed
	x := 1
	for _, c := range columns {
		if !shown[c] {
			continue
		}
		w := c.Width
		if c.Name == "command" {
			w = width - x
		}
		out = append(out, placed{c, place{x, w}})
		x += w + gap
	}
	return out
}
