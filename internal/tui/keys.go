package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A binding is what a key does.
type binding struct {
	keys  []string // the first is the one that help and the last line name
	short string   // for the last line; "" keeps it off there
	help  string
	// player is set for keys that only a recording has.
	player bool
	do     func(m *Model) tea.Cmd
}

// bindings are all keys of the overview and of one process.
func bindings() []binding {
	return []binding{
		{keys: []string{"q", "ctrl+c"}, short: "quit", help: "leave", do: func(*Model) tea.Cmd { return tea.Quit }},
		{keys: []string{"?", "f1", "h"}, short: "help", help: "this page", do: func(m *Model) tea.Cmd { return m.turn(help) }},
		{keys: []string{"enter"}, short: "look into", help: "look into the chosen process", do: (*Model).lookInto},
		{keys: []string{"/", "f4"}, short: "filter", help: "filter: " + table.FilterSyntax, do: func(m *Model) tea.Cmd { m.typing = true; return nil }},
		{keys: []string{"s", "f6"}, short: "sort", help: "sort by the next column", do: func(m *Model) tea.Cmd { return m.sortNext(1) }},
		{keys: []string{"S"}, help: "sort by the column before", do: func(m *Model) tea.Cmd { return m.sortNext(-1) }},
		{keys: []string{"r"}, help: "turn the order round", do: func(m *Model) tea.Cmd { m.reverse = !m.reverse; m.arrangeRows(); return nil }},
		{keys: []string{"t", "f5"}, short: "tree", help: "processes as a tree, with launchers and workers", do: func(m *Model) tea.Cmd { m.tree = !m.tree; m.arrangeRows(); return nil }},
		{keys: []string{"tab"}, short: "GPUs", help: "move among the GPUs, or among the processes again", do: func(m *Model) tea.Cmd { m.onDevices = !m.onDevices; return nil }},
		{keys: []string{"a"}, help: "processes of the chosen GPU alone, or of all", do: func(m *Model) tea.Cmd { m.only = !m.only; m.arrangeRows(); return nil }},
		{keys: []string{"K", "f9"}, short: "kill", help: "send the chosen process a signal; asks first", do: (*Model).askKill},
		{keys: []string{"space", "p"}, short: "pause", help: "stand still; samples go on to be taken", do: (*Model).pause},
		{keys: []string{"left"}, help: "one sample back, while it stands still; ten seconds back in a recording", do: func(m *Model) tea.Cmd { return m.step(-1) }},
		{keys: []string{"right"}, help: "one sample on; ten seconds on in a recording", do: func(m *Model) tea.Cmd { return m.step(1) }},
		{keys: []string{"["}, player: true, help: "play a recording half as fast", do: func(m *Model) tea.Cmd { return m.faster(0.5) }},
		{keys: []string{"]"}, player: true, help: "play a recording twice as fast", do: func(m *Model) tea.Cmd { return m.faster(2) }},
		{keys: []string{"0"}, player: true, help: "go to the start of a recording", do: func(m *Model) tea.Cmd { return m.seekShare(0) }},
		{keys: []string{"$"}, player: true, help: "go to the end of a recording", do: func(m *Model) tea.Cmd { return m.seekShare(1) }},
		{keys: []string{"c"}, help: "charts on and off", do: func(m *Model) tea.Cmd { m.charts = !m.charts; return nil }},
		{keys: []string{"+", "="}, help: "charts of a shorter time", do: func(m *Model) tea.Cmd { m.zoom = max(m.zoom-1, 0); return nil }},
		{keys: []string{"-"}, help: "charts of a longer time", do: func(m *Model) tea.Cmd { m.zoom = min(m.zoom+1, len(steps)-1); return nil }},
		{keys: []string{"T"}, help: "next theme: dark, light, contrast, mono", do: (*Model).nextTheme},
		{keys: []string{"m"}, help: "mouse on and off; off lets the terminal select text", do: (*Model).switchMouse},
		{keys: []string{"ctrl+l"}, help: "draw all anew", do: func(m *Model) tea.Cmd { m.repaint = true; return nil }},
		{keys: []string{"ctrl+z"}, help: "go to the background", do: (*Model).suspend},
		{keys: []string{"up", "k"}, help: "the one above", do: func(m *Model) tea.Cmd { return m.move(-1) }},
		{keys: []string{"down", "j"}, help: "the one below", do: func(m *Model) tea.Cmd { return m.move(1) }},
		{keys: []string{"pgup"}, help: "a page up", do: func(m *Model) tea.Cmd { return m.move(-m.pageRows()) }},
		{keys: []string{"pgdown"}, help: "a page down", do: func(m *Model) tea.Cmd { return m.move(m.pageRows()) }},
		{keys: []string{"home", "g"}, help: "the first", do: func(m *Model) tea.Cmd { return m.move(-1 << 30) }},
		{keys: []string{"end", "G"}, help: "the last", do: func(m *Model) tea.Cmd { return m.move(1 << 30) }},
		{keys: []string{"esc"}, help: "back; drops the filter", do: (*Model).back},
	}
}

// press does what a key stands for.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.Key().Keystroke()
	if t := k.Key().Text; t != "" && t != " " {
		name = t
	}
	m.message = ""
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.typing:
		m.typeFilter(name, k.Key().Text)
		return nil
	case m.wantKill != nil:
		return m.answerKill(name)
	case m.page == help:
		return m.turn(overview)
	}
	for _, b := range bindings() {
		if slices.Contains(b.keys, name) && (!b.player || m.player() != nil) {
			return b.do(m)
		}
	}
	return nil
}

func (m *Model) turn(p page) tea.Cmd {
	m.page = p
	return nil
}

// back leaves what was entered last.
func (m *Model) back() tea.Cmd {
	switch {
	case m.page != overview:
		m.page = overview
	case m.filterText != "":
		m.setFilter("")
	default:
		m.only, m.onDevices = false, false
		m.arrangeRows()
	}
	return nil
}

func (m *Model) lookInto() tea.Cmd {
	p, _ := m.process()
	if p == nil {
		return nil
	}
	m.page, m.facts, m.factsOf = oneProcess, nil, 0
	if m.o.Look == nil || p.Status != series.OK {
		return nil
	}
	pid, started := p.PID, p.Started
	return func() tea.Msg {
		facts, err := m.o.Look(pid, started)
		return looked{pid, facts, err}
	}
}

// typeFilter takes a key while a filter is typed. What is typed holds at once,
// as far as it can be read.
func (m *Model) typeFilter(name, text string) {
	switch name {
	case "enter":
		m.typing = false
	case "esc":
		m.typing = false
		m.setFilter("")
	case "backspace", "ctrl+h":
		if r := []rune(m.filterText); len(r) > 0 {
			m.setFilter(string(r[:len(r)-1]))
		}
	case "ctrl+u":
		m.setFilter("")
	default:
		if len(m.filterText) < mostFilter {
			m.setFilter(m.filterText + text)
		}
	}
}

// mostFilter is longer than any filter that a person types.
const mostFilter = 500

func (m *Model) setFilter(text string) {
	m.filterText = text
	f, err := table.ParseFilter(text)
	if m.filterErr = err; err == nil {
		m.filter = f
	}
	m.arrangeRows()
}

func (m *Model) sortNext(by int) tea.Cmd {
	columns := m.columns()
	i, n := slices.Index(columns, m.sort), len(columns)
	return m.sortBy(columns[(i+by+n)%n])
}

// sortBy sorts by a column; by the same again turns the order round.
func (m *Model) sortBy(c *table.Column) tea.Cmd {
	m.reverse = c == m.sort && !m.reverse
	m.sort = c
	m.message = "sorted by " + c.Name
	m.arrangeRows()
	return nil
}

func (m *Model) switchMouse() tea.Cmd {
	m.mouse = !m.mouse
	m.message = "the mouse is the terminal's"
	s := mouseOff
	if m.mouse {
		s, m.message = mouseOn, "the mouse is on"
	}
	if m.painter != nil {
		m.painter.send([]byte(s))
	}
	return nil
}

func (m *Model) suspend() tea.Cmd {
	if m.stop == nil {
		return nil
	}
	m.painter.send([]byte(away))
	m.away = true
	return func() tea.Msg {
		m.stop()
		return tea.ResumeMsg{}
	}
}

func (m *Model) nextTheme() tea.Cmd {
	i := slices.Index(canvas.Themes, m.theme)
	m.useTheme(canvas.Themes[(i+1)%len(canvas.Themes)])
	m.message = "theme " + m.theme.Name
	return nil
}

// move chooses another process, or GPU.
func (m *Model) move(by int) tea.Cmd {
	if m.onDevices && m.page == overview {
		if i := m.deviceIndex(m.device); i >= 0 {
			m.chosen = true
			m.chooseGPU(m.devices[min(max(i+by, 0), len(m.devices)-1)].key())
		}
		if m.only {
			m.arrangeRows()
		}
		return nil
	}
	if len(m.rows) == 0 {
		return nil
	}
	i := max(m.rowIndex(), 0)
	row := &m.rows[min(max(i+by, 0), len(m.rows)-1)]
	m.choose(row)
	if m.page == oneProcess {
		return m.lookInto()
	}
	return nil
}

// choose chooses a process, and with it the GPU that it is on.
func (m *Model) choose(row *table.Row) {
	m.pid, m.pidHost = row.PID, row.Host
	if len(row.Uses) == 0 || m.only {
		return
	}
	if id := (deviceID{row.Host, row.Uses[0].Device}); m.deviceIndex(id) >= 0 {
		m.chosen = true
		m.chooseGPU(id)
	}
}

func (m *Model) player() Player {
	p, _ := m.o.Feed.(Player)
	return p
}

// pause stops what is shown; a recording stops itself.
func (m *Model) pause() tea.Cmd {
	if p := m.player(); p != nil {
		if m.speed == 0 {
			m.speed = 1
		} else {
			m.speed = 0
		}
		p.SetSpeed(m.speed)
		return nil
	}
	if m.paused = !m.paused; !m.paused && m.any {
		m.showAll(math.MaxInt64)
	}
	return nil
}

// jump is how far one press moves in a recording.
const jump = 10 * time.Second

// step goes to another sample: of those that are kept, or of a recording.
func (m *Model) step(by int) tea.Cmd {
	if !m.any {
		return nil
	}
	if p := m.player(); p != nil {
		return m.seek(p, m.clock()+time.Duration(by)*jump)
	}
	samples := m.host.window.Samples()
	if !m.paused || len(samples) == 0 {
		m.message = "space stands still; then left and right go through the last samples"
		return nil
	}
	i := slices.IndexFunc(samples, func(s series.Sample) bool { return s.Since >= m.host.now.Since })
	if i < 0 {
		i = len(samples) - 1
	}
	m.showAll(samples[min(max(i+by, 0), len(samples)-1)].Since)
	return nil
}

func (m *Model) seekShare(of float64) tea.Cmd {
	p := m.player()
	first, last := p.Span()
	return m.seek(p, first+time.Duration(of*float64(last-first)))
}

// seek moves a recording, which then goes on even where it had ended.
func (m *Model) seek(p Player, to time.Duration) tea.Cmd {
	first, last := p.Span()
	p.Seek(min(max(to, first), last))
	if m.ended {
		m.ended = false
		return m.samples()
	}
	return nil
}

// The bounds of a recording's speed.
const (
	slowest = 1.0 / 16
	fastest = 4096
)

func (m *Model) faster(times float64) tea.Cmd {
	if m.speed == 0 {
		m.speed = 1
	}
	m.speed = min(max(m.speed*times, slowest), fastest)
	m.player().SetSpeed(m.speed)
	return nil
}

// A killing is a question whether a signal is to be sent.
type killing struct {
	pid     int
	started uint64
	what    string
	signal  Signal
}

// signals are those that the question offers, by key.
var signals = []struct {
	key    string
	signal Signal
	help   string
}{
	{"i", Interrupt, "as Ctrl-C: Python cleans up"},
	{"t", Terminate, "asks it to end"},
	{"k", Kill, "ends it at once; nothing is saved"},
}

func (m *Model) askKill() tea.Cmd {
	p, _ := m.process()
	switch {
	case p == nil:
		m.message = "no process is chosen"
	case m.o.Kill == nil:
		m.message = "processes of a recording or of another machine cannot be sent a signal from here"
	case p.Status != series.OK || p.Started == 0:
		m.message = fmt.Sprintf("process %d is not one that can be seen here, so it cannot be told from another of that number", p.PID)
	default:
		row := table.Row{Process: p}
		m.wantKill = &killing{p.PID, p.Started, strings.TrimSpace(p.User + ": " + table.Command(&row)), Terminate}
	}
	return nil
}

// answerKill takes the answer to the question.
func (m *Model) answerKill(name string) tea.Cmd {
	k := m.wantKill
	for _, s := range signals {
		if name == s.key {
			k.signal = s.signal
			return nil
		}
	}
	m.wantKill = nil
	if name != "y" && name != "enter" {
		m.message = "nothing was sent"
		return nil
	}
	return func() tea.Msg {
		err := m.o.Kill(k.pid, k.started, k.signal)
		return signaled{fmt.Sprintf("SIG%s was sent to %d", k.signal, k.pid), err}
	}
}
