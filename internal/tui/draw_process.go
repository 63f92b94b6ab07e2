package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// drawProcess shows one process from near by: what it is, how it has done, and
// whom it belongs to.
func (m *Model) drawProcess() {
	r := m.canvas.Bounds()
	header, r := r.Top(1)
	m.drawHeader(header)
	footer, r := r.Bottom(1)
	p, h := m.process()
	if p == nil {
		m.canvas.Text(2, r.Y+1, r.W-4, fmt.Sprintf("process %d is gone", m.pid), canvas.Warn)
		m.drawKeys(footer, "esc", "back")
		return
	}
	title, r := r.Top(2)
	row := table.Row{Process: p}
	n := m.canvas.Text(title.X, title.Y, title.W, fmt.Sprintf("%d  ", p.PID), canvas.Strong)
	m.paragraph(canvas.Rect{X: title.X + n, Y: title.Y, W: title.W - n, H: 2}, words.OrUnknown(table.Command(&row)), canvas.Plain)
	left, right := r, canvas.Rect{}
	if r.W >= 100 {
		left, right = r.Left(r.W * 2 / 5)
	} else if r.H > 20 {
		left, right = r.Top(r.H / 2)
	}
	m.drawFacts(left, p, h)
	m.drawProcessCharts(right, p, h)
	m.drawKeys(footer, "esc", "back", "↑↓", "next process", "K", "kill", "space", "pause", "q", "quit")
}

func (m *Model) drawKeys(r canvas.Rect, keys ...string) {
	if m.message != "" {
		m.canvas.Text(r.X, r.Y, r.W, m.message, canvas.Warn)
		return
	}
	x := r.X
	for i := 0; i+1 < len(keys) && x < r.W; i += 2 {
		x += m.canvas.Text(x, r.Y, r.W-x, keys[i], canvas.Key) + 1
		x += m.canvas.Text(x, r.Y, r.W-x, keys[i+1], canvas.Dim) + 2
	}
}

// factName is how wide the names of facts are.
const factName = 16

// drawFacts lists what is known of a process, its place in the tree below.
func (m *Model) drawFacts(r canvas.Rect, p *series.Process, h *host) {
	in := m.canvas.Box(r, "process", canvas.Faint, canvas.Dim)
	y := in.Y
	for _, f := range m.factsAbout(p, h) {
		if y >= in.Y+in.H {
			return
		}
		m.canvas.Text(in.X+1, y, factName, f.Name, canvas.Dim)
		m.canvas.Text(in.X+factName+2, y, in.W-factName-3, words.OrUnknown(f.Value), canvas.Plain)
		y++
	}
	if y++; y >= in.Y+in.H {
		return
	}
	m.canvas.Text(in.X+1, y, in.W-2, "family", canvas.Head)
	for i, row := range h.family(p) {
		line := canvas.Rect{X: in.X + 1, Y: y + 1 + i, W: in.W - 2, H: 1}
		if line.Y >= in.Y+in.H {
			return
		}
		role := canvas.Dim
		if row.PID == p.PID {
			role = canvas.Strong
		}
		n := m.canvas.Text(line.X, line.Y, line.W, fmt.Sprintf("%-8d%-4s%4s %% %8s  ", row.PID, row.State, words.OrUnknown(words.Percent(row.CPU)), words.OrUnknown(words.Size(row.Values.Get(series.Resident)))), role)
		line.X, line.W = line.X+n, line.W-n
		m.drawCommand(line, &row, table.Command(&row), role)
	}
}

// family is a process with its ancestors and all that descend from the topmost of
// them that was sampled.
func (h *host) family(p *series.Process) []table.Row {
	rows := table.Tree(table.Rows(&h.now, h.rateBase()))
	at := 0
	for i := range rows {
		if rows[i].PID == p.PID {
			at = i
		}
	}
	begin := at
	for begin > 0 && rows[begin].Depth > 0 {
		begin--
	}
	end := begin + 1
	for end < len(rows) && rows[end].Depth > 0 {
		end++
	}
	return rows[begin:end]
}

func (m *Model) factsAbout(p *series.Process, h *host) []Fact {
	var facts []Fact
	if m.several() {
		facts = append(facts, Fact{"host", h.name})
	}
	state := p.State
	if p.Wait != "" {
		state += ", waits in " + p.Wait
	}
	rank := ""
	if p.Rank >= 0 {
		rank = fmt.Sprint(p.Rank)
		if p.WorldSize > 0 {
			rank += fmt.Sprintf(" of %d", p.WorldSize)
		}
	}
	v := p.Values
	facts = append(facts, []Fact{
		{"status", p.Status.String()},
		{"user", p.User},
		{"state", state},
		{"parent", fmt.Sprint(p.Parent)},
		{"job", p.Job},
		{"container", p.Container},
		{"rank", rank},
		{"CUDA devices", p.Visible},
		{"threads", strings.TrimSuffix(words.Whole(v.Get(series.Threads), 1, ""), " ")},
		{"CPU time", duration(v.Get(series.CPUTime))},
		{"CPU wait", duration(v.Get(series.CPUWait))},
		{"RSS", words.Size(v.Get(series.Resident))},
		{"shared", words.Size(v.Get(series.SharedMemory))},
		{"major faults", strings.TrimSuffix(words.Whole(v.Get(series.MajorFaults), 1, ""), " ")},
		{"disk read", words.Size(v.Get(series.BytesRead))},
		{"disk written", words.Size(v.Get(series.BytesWritten))},
	}...)
	for _, u := range p.Uses {
		label := words.Unknown
		if i := m.deviceIndex(deviceID{h.name, u.Device}); i >= 0 {
			label = m.devices[i].label
		}
		facts = append(facts, Fact{"on GPU " + label, fmt.Sprintf("%s  busy %s  %s", words.OrUnknown(words.Size(u.Values.Get(series.UseMemory))), words.PercentOf(u.Values.Get(series.UseBusy)), useKinds[u.Kind])})
	}
	if m.factsOf == p.PID {
		facts = append(facts, m.facts...)
	}
	return facts
}

// useKinds are what a process does on a device.
var useKinds = map[series.UseKind]string{series.Compute: "computes", series.Graphics: "draws", series.Shared: "shares it (MPS)"}

func duration(v series.Value) string {
	if s, ok := v.Get(); ok {
		return words.About(time.Duration(s * float64(time.Second)))
	}
	return ""
}

// A trace is a number of a process over the kept samples.
type trace struct {
	title string
	shade canvas.Shade
	value func(row *table.Row) series.Value
	text  func(v series.Value) string
	most  float64 // what the height stands for at least
}

var traces = []trace{
	{"GPU memory", canvas.Memory1, func(r *table.Row) series.Value { return r.Memory }, words.Size, 0},
	{"GPU busy", canvas.Busy1, func(r *table.Row) series.Value { return r.Busy }, words.PercentOf, 1},
	{"CPU", canvas.CPU1, func(r *table.Row) series.Value { return r.CPU }, words.PercentOf, 1},
	{"RSS", canvas.Memory1, func(r *table.Row) series.Value { return r.Values.Get(series.Resident) }, words.Size, 0},
	{"disk read", canvas.Power1, func(r *table.Row) series.Value { return r.Read }, words.PerSecond, float64(unit.MiB)},
}

// drawProcessCharts draws a process over the samples that are kept.
func (m *Model) drawProcessCharts(r canvas.Rect, p *series.Process, h *host) {
	n := min(len(traces), r.H/4)
	if n == 0 || r.W < 20 {
		return
	}
	points := h.pointsOf(p)
	for i, t := range traces[:n] {
		y := r.Y + i*r.H/n
		box := canvas.Rect{X: r.X, Y: y, W: r.W, H: r.Y + (i+1)*r.H/n - y}
		in := m.canvas.Box(box, t.title, canvas.Faint, canvas.Dim)
		dots, now, most := m.dotsOf(t, points, in.W*m.canvas.Dots())
		m.canvas.Right(box.X+2, box.Y, box.W-4, " "+words.OrUnknown(t.text(now))+" ", canvas.Strong)
		m.canvas.Chart(in, dots, t.shade)
		m.canvas.Text(box.X+2, box.Y+box.H-1, box.W-4, " top is "+t.text(series.Of(most))+" ", canvas.Faint)
	}
}

// headroom is what a chart without a natural top has above its highest value.
const headroom = 1.25

// A point is a process in one sample.
type point struct {
	at  time.Duration
	row table.Row
}

func (h *host) pointsOf(p *series.Process) []point {
	samples := h.window.Samples()
	var out []point
	for i := range samples {
		if samples[i].Since > h.now.Since {
			break
		}
		alone := func(s *series.Sample) *series.Sample { return &series.Sample{Since: s.Since, Processes: only(s, p)} }
		now := alone(&samples[i])
		if len(now.Processes) == 0 {
			continue
		}
		var before *series.Sample
		if i > 0 {
			before = alone(&samples[i-1])
		}
		out = append(out, point{now.Since, table.Rows(now, before)[0]})
	}
	return out
}

// only is the process p in a sample; none where another had its PID.
func only(s *series.Sample, p *series.Process) []series.Process {
	for i := range s.Processes {
		if q := &s.Processes[i]; q.PID == p.PID && q.Started == p.Started {
			return s.Processes[i : i+1]
		}
	}
	return nil
}

// dotsOf are the values of a trace as shares of the most, one for each second, the
// last value, and the most.
func (m *Model) dotsOf(t trace, points []point, n int) (dots []float64, now series.Value, most float64) {
	dots = make([]float64, n)
	for i := range dots {
		dots[i] = math.NaN()
	}
	most = t.most
	last := int(m.clock() / time.Second)
	previous := -1
	for i := range points {
		v := t.value(&points[i].row)
		now = v
		x, ok := v.Get()
		at := n - 1 - (last - int(points[i].at/time.Second))
		if !ok || at < 0 || at >= n {
			previous = -1
			continue
		}
		most = max(most, x)
		for j := previous + 1; previous >= 0 && j < at; j++ {
			dots[j] = dots[previous]
		}
		dots[at], previous = x, at
	}
	if t.most == 0 {
		most *= headroom
	}
	for i := range dots {
		if most > 0 {
			dots[i] /= most
		}
	}
	return dots, now, most
}
