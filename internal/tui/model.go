package tui

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A Model is the state of the screen.
type Model struct {
	o      Options
	ctx    context.Context
	failed error // of the feed, which ended the screen

	width, height int
	theme         *canvas.Theme
	profile       colorprofile.Profile
	pen           *canvas.Pen // of the theme, nil until it is needed
	dirty         bool
	// canvas is what is drawn on, painted what the terminal shows; nil before
	// the first frame. repaint sends all of the next one.
	canvas, painted *canvas.Canvas
	changes         []byte
	dots            []float64 // of the chart that is drawn
	foot            []footKey
	repaint         bool
	away            bool     // the terminal is lent to its shell
	painter         *painter // nil in tests, as are those below
	stop            func()   // Terminal.Stop
	send            func(tea.Msg)
	rest            func() error // stops bubbletea's renderer: see Run

	// What came in.
	hosts   []*host // by name
	host    *host   // of the chosen device
	judging bool
	// judgedAt is when the last judging began, by the series.
	judgedAt time.Duration
	ended    bool      // the feed has no more
	waits    bool      // nothing has come for long
	cameAt   time.Time // when the last sample came then, by the ticks
	quiet    time.Duration

	// What of it is shown.
	any      bool // a sample is shown
	paused   bool
	speed    float64
	devices  []device
	rows     []table.Row
	gathered []table.Row // where they are made, before they are sorted
	all      int         // processes on devices before the filter

	// What the user chose.
	page       page
	onDevices  bool // keys move among the devices
	device     deviceID
	chosen     bool // by the user
	pid        int
	pidHost    string // that pid is on
	top        int    // first row that is seen
	only       bool
	sort       *table.Column
	reverse    bool
	tree       bool
	filterText string
	filter     table.Filter
	filterErr  error
	typing     bool
	zoom       int
	charts     bool
	mouse      bool
	wantKill   *killing
	message    string
	fading     string // the message that will go by itself
	facts      []Fact
	factsOf    int
}

// A page is what fills the screen.
type page int

const (
	overview page = iota
	oneProcess
	help
)

// A device is one that is shown.
type device struct {
	*series.Device
	host      *host
	label     string
	processes int
}

// A deviceID tells devices of all hosts apart.
type deviceID struct{ host, id string }

func (d device) key() deviceID { return deviceID{d.host.name, d.ID} }

// called is how sentences call a device, "GPU 0" or "GPU node1/0"; what stands for
// the GPUs of a host that tells of none is called after the host.
func (m *Model) called(d device) string {
	switch {
	case d.Index < 0:
		return "host " + d.host.name
	case m.several():
		return "GPU " + d.host.name + "/" + d.label
	}
	return "GPU " + d.label
}

// steps are the lengths of time that a dot of a chart stands for.
var steps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, time.Minute}

// New returns the screen before its first sample.
func New(ctx context.Context, o Options) (*Model, error) {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Speed <= 0 {
		o.Speed = 1
	}
	m := &Model{
		o: o, ctx: ctx, theme: o.Theme, canvas: canvas.New(0, 0), speed: o.Speed, sort: o.Sort, reverse: o.Reverse, tree: o.Tree,
		charts: true, mouse: o.Mouse, filterText: o.Filter, host: &host{},
	}
	if m.theme == nil {
		m.theme = canvas.Themes[0]
	}
	if m.sort == nil {
		m.sort = table.ColumnNamed("memory")
	}
	m.canvas.ASCII = o.ASCII
	m.foot = footKeys(m.player() != nil)
	var err error
	m.filter, err = table.ParseFilter(o.Filter)
	return m, err
}

type (
	sampled struct {
		series.Sample
		err error
	}
	judged   map[string]map[string]watch.Judgement // by host and device
	ticked   time.Time
	quieted  struct{} // nothing came of the feed for patience
	faded    string   // a message that has stood for long
	signaled struct {
		what string
		err  error
	}
	looked struct {
		pid   int
		facts []Fact
		err   error
	}
)

// Init asks for the samples.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.samples(), func() tea.Msg {
		m.rest() //nolint:errcheck // there is no terminal that could not be released
		return nil
	})
}

// samples sends samples as they come, and says when none has come for long. It ends
// with the feed.
func (m *Model) samples() tea.Cmd {
	return func() tea.Msg {
		quiet := time.AfterFunc(m.patience(), func() { m.send(quieted{}) })
		defer quiet.Stop()
		for {
			s, err := m.o.Feed.Next(m.ctx)
			if err != nil {
				return sampled{s, err}
			}
			quiet.Reset(m.patience())
			m.send(sampled{s, nil})
		}
	}
}

// patience is for how long nothing may come of a feed that goes on.
func (m *Model) patience() time.Duration { return 3*m.o.Interval + time.Second }

// tickEvery is how often it is looked for how long a feed has been quiet. While it is
// not, nothing ticks: to wake up costs as much as to draw.
const tickEvery = 2 * time.Second

func tick() tea.Cmd {
	return tea.Tick(tickEvery, func(t time.Time) tea.Msg { return ticked(t) })
}

// Update changes the state by a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	if m.dirty {
		m.follow()
	}
	if text := m.message; text != m.fading && m.send != nil {
		if m.fading = text; text != "" {
			cmd = tea.Batch(cmd, tea.Tick(messageTime, func(time.Time) tea.Msg { return faded(text) }))
		}
	}
	return m, cmd
}

// messageTime is for how long a message stands on the last line.
const messageTime = 6 * time.Second

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case Size:
		m.width, m.height = msg.Width, msg.Height
		m.dirty = true
	case tea.BackgroundColorMsg:
		if m.o.Theme == nil && !msg.IsDark() {
			m.useTheme(canvas.ThemeNamed("light"))
		}
	case tea.ResumeMsg:
		m.painter.enter(m.mouse)
		m.away, m.repaint, m.dirty = false, true, true
	case sampled:
		return m.take(msg)
	case judged:
		m.judging, m.dirty = false, true
		for name, judged := range msg {
			if h := m.hostNamed(name); h != nil {
				h.judged = judged
			}
		}
		m.chooseDevice()
	case ticked:
		return m.hear(time.Time(msg))
	case quieted:
		m.waits = true
		m.beQuiet(m.patience())
		return tick()
	case faded:
		if m.message == string(msg) {
			m.message, m.dirty = "", true
		}
	case signaled:
		m.message, m.dirty = msg.what, true
		if msg.err != nil {
			m.message = msg.err.Error()
		}
	case looked:
		if m.factsOf = msg.pid; msg.err != nil {
			msg.facts = []Fact{{"cannot be read", msg.err.Error()}}
		}
		m.facts, m.dirty = msg.facts, true
	case tea.KeyPressMsg:
		m.dirty = true
		return m.press(msg)
	case tea.MouseMsg:
		m.dirty = true
		return m.point(msg)
	}
	return nil
}

// hear notices for how long a feed has gone quiet. The clock is that of the ticks, so
// that neither the machine's clock nor a recording's plays a part.
func (m *Model) hear(now time.Time) tea.Cmd {
	if !m.waits {
		return nil
	}
	if m.cameAt.IsZero() {
		m.cameAt = now.Add(-tickEvery - m.patience())
	}
	m.beQuiet(now.Sub(m.cameAt))
	return tick()
}

func (m *Model) beQuiet(quiet time.Duration) {
	if m.ended || m.speed == 0 {
		quiet = 0
	}
	if quiet != m.quiet {
		m.quiet, m.dirty = quiet, true
	}
}

// take shows a sample, unless the screen stands still.
func (m *Model) take(s sampled) tea.Cmd {
	switch {
	case errors.Is(s.err, io.EOF):
		m.ended, m.waits, m.dirty = true, false, true
		return nil
	case s.err != nil:
		m.failed = s.err
		return tea.Quit
	}
	h := m.hostOf(&s.Sample)
	h.add(&s.Sample)
	m.waits, m.cameAt, m.quiet = false, time.Time{}, 0
	if !m.paused || !m.any {
		h.show(s.Since)
		m.arrange()
	}
	return m.judge(h)
}

// GPUs are judged after half of the time that is judged, which is two minutes at last;
// where what they do has changed, after an eighth of it; and not more often than each
// five seconds. Judging costs more than drawing, and verdicts do not change while what
// they are of does not.
const (
	judgeLeast = 5 * time.Second
	judgeParts = 2
	newsParts  = 8
)

// judge has the devices judged beside the screen, when it is time; h is the host that
// a sample came of.
func (m *Model) judge(h *host) tea.Cmd {
	now, _ := h.window.Last()
	over := now.Since - h.window.Samples()[0].Since
	since := now.Since - m.judgedAt
	switch {
	case m.judging:
		return nil
	case h.judged == nil, since < 0:
	case since < max(judgeLeast, over/newsParts), since < max(judgeLeast, over/judgeParts) && !h.window.IsNews(h.scene):
		return nil
	}
	m.judging, m.judgedAt = true, now.Since
	for _, h := range m.hosts {
		h.scene = h.window.Scene()
	}
	judge := m.judgement()
	return func() tea.Msg { return judge() }
}

// judgement judges the devices of all hosts as they are now, whenever it is called.
func (m *Model) judgement() func() judged {
	frozen, ids := map[string]watch.Frozen{}, map[string][]string{}
	for _, h := range m.hosts {
		frozen[h.name] = h.window.Freeze()
		now, _ := h.window.Last()
		for i := range now.Devices {
			ids[h.name] = append(ids[h.name], now.Devices[i].ID)
		}
	}
	return func() judged {
		out := judged{}
		for name, f := range frozen {
			out[name] = f.Judge(ids[name])
		}
		return out
	}
}

// showAll makes the screen of the last samples at or before a time.
func (m *Model) showAll(at time.Duration) {
	for _, h := range m.hosts {
		h.show(at)
	}
	m.arrange()
}

// arrange makes the screen of what the hosts show.
func (m *Model) arrange() {
	m.any, m.dirty = true, true
	m.arrangeDevices()
	m.arrangeRows()
}

func (m *Model) arrangeDevices() {
	m.devices = m.devices[:0]
	for _, h := range m.hosts {
		first := len(m.devices)
		labels := table.Labels(h.now.Devices)
		for i := range h.now.Devices {
			d := &h.now.Devices[i]
			if m.o.Shown == nil || m.o.Shown(h.name, d, labels[d.ID]) {
				m.devices = append(m.devices, device{Device: d, host: h, label: labels[d.ID]})
			}
		}
		if len(h.now.Devices) == 0 && m.several() {
			m.devices = append(m.devices, device{Device: noDevice(h), host: h, label: words.Unknown})
		}
		countProcesses(m.devices[first:], h.now.Processes)
	}
	if m.deviceIndex(m.device) < 0 && len(m.devices) > 0 {
		m.chooseGPU(m.devices[0].key())
	}
	if h := m.hostNamed(m.device.host); h != nil {
		m.host = h
	}
}

// countProcesses counts who is on each of the devices of a host.
func countProcesses(devices []device, processes []series.Process) {
	for i := range processes {
		for _, u := range processes[i].Uses {
			if d := slices.IndexFunc(devices, func(d device) bool { return d.ID == u.Device }); d >= 0 {
				devices[d].processes++
			}
		}
	}
}

// chooseGPU chooses a device, and with it the host that the screen tells of.
func (m *Model) chooseGPU(id deviceID) {
	m.device = id
	if h := m.hostNamed(id.host); h != nil {
		m.host = h
	}
}

// chooseDevice chooses the GPU that calls for a look most, for as long as the user
// has chosen none: of those that have something to show over time.
func (m *Model) chooseDevice() {
	if m.chosen {
		return
	}
	for _, kind := range []watch.Kind{watch.Filling, watch.Idles} {
		for _, d := range m.devices {
			if m.remarkOn(d).Kind == kind {
				m.chooseGPU(d.key())
				return
			}
		}
	}
}

func (m *Model) deviceIndex(id deviceID) int {
	return slices.IndexFunc(m.devices, func(d device) bool { return d.ID == id.id && d.host.name == id.host })
}

// arrangeRows makes the rows anew, after a sample or a wish of the user.
func (m *Model) arrangeRows() {
	m.dirty = true
	if !m.any {
		return
	}
	rows := m.gathered[:0]
	for _, h := range m.hosts {
		rows = table.AppendRows(rows, &h.now, h.rateBase())
	}
	m.gathered = rows
	on := 0
	rows = slices.DeleteFunc(rows, func(r table.Row) bool {
		if len(r.Uses) > 0 {
			on++
		}
		return len(r.Uses) > 0 && !m.usesShown(&r)
	})
	m.all = on
	rows = table.Sorted(m.rows[:0], table.Keep(rows, m.filter, m.tree), m.sort, m.reverse)
	if m.tree {
		rows = table.Tree(rows)
	}
	m.rows = rows
	if m.rowIndex() < 0 && len(rows) > 0 && m.page != oneProcess {
		m.pid, m.pidHost = rows[0].PID, rows[0].Host
	}
}

// usesShown reports whether a process is on a device that is shown, or on the
// chosen one where only that is wanted.
func (m *Model) usesShown(r *table.Row) bool {
	return slices.ContainsFunc(r.Uses, func(u series.Use) bool {
		id := deviceID{r.Host, u.Device}
		if m.only {
			return id == m.device
		}
		return m.deviceIndex(id) >= 0
	})
}

// isChosen reports whether a row is the chosen process.
func (m *Model) isChosen(r *table.Row) bool { return r.PID == m.pid && r.Host == m.pidHost }

func (m *Model) rowIndex() int {
	return slices.IndexFunc(m.rows, func(r table.Row) bool { return m.isChosen(&r) })
}

// process is the chosen process as it is now, and its host; nil where it is gone.
func (m *Model) process() (*series.Process, *host) {
	h := m.hostNamed(m.pidHost)
	if h == nil {
		return nil, nil
	}
	for i := range h.now.Processes {
		if h.now.Processes[i].PID == m.pid {
			return &h.now.Processes[i], h
		}
	}
	return nil, h
}

// View draws the screen if something has changed, and hands the painter what
// changed. What bubbletea is told to show is nothing: see Run.
func (m *Model) View() tea.View {
	if !m.dirty || m.away || m.painter != nil && !m.painter.idle() {
		return tea.View{}
	}
	m.dirty = false
	m.canvas.Reset(m.width, m.height)
	m.draw()
	if m.painter == nil {
		return tea.View{}
	}
	if m.pen == nil {
		m.pen = m.theme.Pen(m.profile)
	}
	before := m.painted
	if m.repaint {
		before, m.repaint = nil, false
	}
	m.changes = m.canvas.AppendChanges(append(m.changes[:0], beginFrame...), before, m.pen)
	if len(m.changes) > len(beginFrame) {
		m.painter.send(append(slices.Clip(m.changes), endFrame...)) // a copy
	}
	if m.painted == nil {
		m.painted = &canvas.Canvas{ASCII: m.o.ASCII}
	}
	m.canvas, m.painted = m.painted, m.canvas
	return tea.View{}
}

// useTheme changes the colours of all that is seen.
func (m *Model) useTheme(t *canvas.Theme) {
	m.theme, m.pen, m.repaint, m.dirty = t, nil, true, true
}
