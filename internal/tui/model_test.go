package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
)

func TestKillAsksAndTellsWhichProcess(t *testing.T) {
	type sent struct {
		pid     int
		started uint64
		signal  Signal
	}
	for _, c := range []struct {
		name string
		keys []string
		err  error
		want *sent
		says string
	}{
		{"y sends what is marked", []string{"K", "y"}, nil, &sent{4194000, 4194000, Terminate}, "SIGTERM was sent to 4194000"},
		{"another signal", []string{"K", "k", "enter"}, nil, &sent{4194000, 4194000, Kill}, "SIGKILL was sent"},
		{"any other key sends nothing", []string{"K", "q"}, nil, nil, "nothing was sent"},
		{"the PID is another's now", []string{"K", "i", "y"}, errors.New("process 4194000 has ended, and another has its number"), &sent{4194000, 4194000, Interrupt}, "another has its number"},
		{"one that cannot be seen", []string{"end", "K"}, nil, nil, "cannot be told from another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got *sent
			m := played(t, wholeScene, 120, 40, 5, func(o *Options) {
				o.Kill = func(pid int, started uint64, signal Signal) error {
					got = &sent{pid, started, signal}
					return c.err
				}
			})
			if cmd := press(m, c.keys...); cmd != nil {
				if got != nil {
					t.Fatal("Update sent the signal itself")
				}
				m.Update(cmd())
			}
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Errorf("sent %v, want %v", got, c.want)
			}
			if text := screen(m); !strings.Contains(text, c.says) {
				t.Errorf("the screen does not say %q:\n%s", c.says, text)
			}
		})
	}
}

func TestKillIsRefusedWhereItCannotBe(t *testing.T) {
	m := played(t, wholeScene, 120, 40, 5, nil)
	if cmd := press(m, "K"); cmd != nil || m.wantKill != nil || !strings.Contains(screen(m), "cannot be sent a signal") {
		t.Errorf("without a way to kill, K gives:\n%s", screen(m))
	}
}

// While the screen stands still samples go on to be kept, and the keys go through
// them.
func TestPause(t *testing.T) {
	m := played(t, wholeScene, 120, 40, 10, nil)
	press(m, "space")
	for at := 11.0; at < 20; at++ {
		m.Update(sampled{wholeScene.at(at), nil})
	}
	if got := screen(m); !strings.Contains(got, "stands still") || m.host.now.Since >= 11*time.Second {
		t.Errorf("the screen is at %v:\n%s", m.host.now.Since, got)
	}
	before := m.host.now.Since
	if press(m, "left", "left", "left"); m.host.now.Since >= before {
		t.Errorf("going back from %v leads to %v", before, m.host.now.Since)
	}
	if press(m, "space"); m.host.now.Since != 19*time.Second {
		t.Errorf("going on leads to %v", m.host.now.Since)
	}
}

func TestQuietFeedIsSaid(t *testing.T) {
	m := played(t, wholeScene, 120, 40, 3, nil)
	start := time.Unix(1000, 0)
	if _, cmd := m.Update(quieted{}); cmd == nil || !strings.Contains(screen(m), "no sample for 4 s") {
		t.Error("nobody looks how long it stays quiet")
	}
	m.Update(ticked(start))
	m.Update(ticked(start.Add(time.Second)))
	if got := screen(m); !strings.Contains(got, "no sample for 7 s") {
		t.Errorf("a feed that hangs shows:\n%s", got)
	}
	m.Update(sampled{wholeScene.at(20), nil})
	if got := screen(m); strings.Contains(got, "no sample for") {
		t.Errorf("a feed that goes on shows:\n%s", got)
	}
	if _, cmd := m.Update(ticked(start.Add(5 * time.Second))); cmd != nil {
		t.Error("it ticks while nothing is waited for")
	}
	m.message = "something"
	m.Update(faded("something else"))
	if m.message == "" {
		t.Error("another message took this one away")
	}
	if m.Update(faded("something")); m.message != "" {
		t.Error("a message stays")
	}
}

func TestEndAndFailureOfAFeed(t *testing.T) {
	m := played(t, wholeScene, 120, 40, 3, nil)
	if _, cmd := m.Update(sampled{err: io.EOF}); cmd != nil || !strings.Contains(screen(m), "the end") {
		t.Errorf("the end of a feed shows:\n%s", screen(m))
	}
	if _, cmd := m.Update(sampled{err: errors.New("disk full")}); cmd == nil || m.failed == nil {
		t.Error("a feed that fails does not end the screen")
	}
}

func TestFilterIsTyped(t *testing.T) {
	m := played(t, wholeScene, 120, 40, 5, nil)
	press(m, "/")
	for _, r := range "user=bob" {
		press(m, string(r))
	}
	press(m, "enter")
	for i := range m.rows {
		if m.rows[i].User != "bob" {
			t.Errorf("%s passes", m.rows[i].User)
		}
	}
	if len(m.rows) == 0 || m.typing {
		t.Errorf("%d rows, typing %v", len(m.rows), m.typing)
	}
	press(m, "/", "q", "backspace", "backspace", "enter")
	if m.filterText != "user=bo" {
		t.Errorf("the filter is %q", m.filterText)
	}
	press(m, "esc")
	if m.filterText != "" || len(m.rows) < 40 {
		t.Errorf("esc leaves %q and %d rows", m.filterText, len(m.rows))
	}
}

func TestSortByKeyAndMouse(t *testing.T) {
	m := played(t, wholeScene, 120, 40, 5, nil)
	l := m.layout()
	var pid placed
	for _, c := range m.placeColumns(l.head.W) {
		if c.Name == "pid" {
			pid = c
		}
	}
	click := func(x, y int) { m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(pid.x+1, l.head.Y)
	if m.sort.Name != "pid" || m.reverse || m.rows[0].PID < m.rows[1].PID {
		t.Errorf("sorted by %s, reverse %v", m.sort.Name, m.reverse)
	}
	click(pid.x+1, l.head.Y)
	if !m.reverse || m.rows[0].PID > m.rows[1].PID {
		t.Error("a second click does not turn the order round")
	}
	press(m, "s")
	if m.sort.Name != "user" {
		t.Errorf("s after pid sorts by %s", m.sort.Name)
	}
}

func TestMouseChooses(t *testing.T) {
	m := played(t, wholeScene, 120, 40, 5, nil)
	l := m.layout()
	click := func(x, y int) tea.Cmd {
		_, cmd := m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		return cmd
	}
	click(5, l.devices.Y+2*3) // the fourth of two lines each
	if m.device.id != "GPU-3" || !m.onDevices {
		t.Errorf("chosen is %v", m.device)
	}
	click(5, l.rows.Y+2)
	if m.pid != m.rows[2].PID || m.onDevices || m.device.id != m.rows[2].Uses[0].Device {
		t.Errorf("chosen is %d on %v", m.pid, m.device)
	}
	click(5, l.rows.Y+2)
	if m.page != oneProcess {
		t.Error("a second click does not look into the process")
	}
	click(5, 5)
	if m.page != overview {
		t.Error("a click does not go back")
	}
	for range 5 {
		m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	}
	if i := m.rowIndex(); i != 17 || m.top == 0 {
		t.Errorf("the wheel leads to row %d, the first seen is %d", i, m.top)
	}
	click(1, l.footer.Y)
	if _, cmd := m.Update(tea.MouseClickMsg{X: 0, Y: l.footer.Y, Button: tea.MouseLeft}); cmd == nil {
		t.Error("a click on quit does not quit")
	}
}

// The chosen process stays chosen while samples come and go, and its end is said.
func TestChosenProcessStays(t *testing.T) {
	m := played(t, wholeScene, 120, 40, 5, nil)
	press(m, "down", "down", "down")
	pid := m.pid
	m.Update(sampled{wholeScene.at(7), nil})
	if m.pid != pid {
		t.Errorf("%d became %d", pid, m.pid)
	}
	press(m, "enter")
	s := wholeScene.at(8)
	s.Processes = nil
	m.Update(sampled{s, nil})
	if got := screen(m); !strings.Contains(got, fmt.Sprintf("process %d is gone", pid)) {
		t.Errorf("a process that has ended shows:\n%s", got)
	}
}

func TestLookIntoAsksBesideTheScreen(t *testing.T) {
	asked := 0
	m := played(t, wholeScene, 120, 40, 5, func(o *Options) {
		o.Look = func(int, uint64) ([]Fact, error) {
			asked++
			return []Fact{{"OMP_NUM_THREADS", "8"}}, nil
		}
	})
	cmd := press(m, "enter")
	if asked != 0 || cmd == nil {
		t.Fatal("Update read the process itself")
	}
	m.Update(cmd())
	if got := screen(m); !strings.Contains(got, "OMP_NUM_THREADS") {
		t.Errorf("facts are not shown:\n%s", got)
	}
}

// A recording is a Player that a test plays by hand.
type recording struct {
	script
	calls []string
}

func (r *recording) Seek(to time.Duration)             { r.calls = append(r.calls, "seek "+to.String()) }
func (r *recording) SetSpeed(speed float64)            { r.calls = append(r.calls, fmt.Sprint("speed ", speed)) }
func (r *recording) Span() (first, last time.Duration) { return 0, time.Hour }

func TestPlayer(t *testing.T) {
	r := &recording{}
	m := played(t, wholeScene, 120, 40, 30, func(o *Options) { o.Feed = r })
	press(m, "]", "]", "[", "space", "space", "right", "left", "0", "$")
	at := m.host.now.Since
	want := fmt.Sprint([]string{"speed 2", "speed 4", "speed 2", "speed 0", "speed 1", "seek " + (at + 10*time.Second).String(), "seek " + (at - 10*time.Second).String(), "seek 0s", "seek 1h0m0s"})
	if got := fmt.Sprint(r.calls); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := screen(m); !strings.Contains(got, "0:29 of 1:00:00") {
		t.Errorf("the place in the recording is not shown:\n%s", got)
	}
	m.Update(sampled{err: io.EOF})
	if cmd := press(m, "0"); cmd == nil {
		t.Error("a recording that has ended does not go on after a seek")
	}
	m.Update(sampled{wholeScene.at(2), nil})
	if n := len(m.host.window.Samples()); n != 1 || m.host.now.Since != 2*time.Second {
		t.Errorf("after going back there are %d samples, the screen is at %v", n, m.host.now.Since)
	}
}

// A filter that cannot be read is an error before anything is shown.
func TestWrongOptions(t *testing.T) {
	if _, err := New(t.Context(), Options{Feed: &script{}, Filter: "memory>4GB"}); err == nil {
		t.Error("a filter in GB is taken")
	}
}

// A hanging feed hangs nothing: the loop goes on while Next waits.
func TestNextIsCalledBesideUpdate(t *testing.T) {
	m, err := New(t.Context(), Options{Feed: hanging{}, Theme: nil})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Init()
		m.Update(Size{Width: 80, Height: 24})
		press(m, "?", "esc", "s", "t")
		m.View()
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the screen waits for its feed")
	}
}

type hanging struct{}

func (hanging) Next(ctx context.Context) (series.Sample, error) {
	<-ctx.Done()
	return series.Sample{}, ctx.Err()
}

func TestNoSmallColumnIsLost(t *testing.T) {
	m := &Model{hosts: []*host{{name: "a"}, {name: "b"}}}
	for width := 34; width < 300; width++ {
		seen := map[string]bool{}
		end := 0
		for _, c := range m.placeColumns(width) {
			seen[c.Name] = true
			if c.x < end || c.x+c.w > width {
				t.Errorf("at %d %s stands from %d to %d, after %d", width, c.Name, c.x, c.x+c.w, end)
			}
			end = c.x + c.w
		}
		if !seen["pid"] || !seen["memory"] || !seen["command"] {
			t.Errorf("at %d there are %v", width, seen)
		}
		if width >= 200 && len(seen) != len(table.Columns) {
			t.Errorf("at %d not all columns are there: %v", width, seen)
		}
		end = 0
		places := placeFields(width)
		for _, f := range fields {
			if p, ok := places[f.name]; ok {
				if p.x < end || p.x+p.w > width {
					t.Errorf("at %d %s stands from %d to %d", width, f.name, p.x, p.x+p.w)
				}
				end = p.x + p.w
			}
		}
	}
}

// Two hosts have processes and GPUs of the same numbers. What is said of one is never
// said of the other.
func TestHostsAreToldApart(t *testing.T) {
	m := playedHosts(t, 200, 50, 20)
	byHost := map[string]map[int]float64{}
	for i := range m.rows {
		r := &m.rows[i]
		if byHost[r.Host] == nil {
			byHost[r.Host] = map[int]float64{}
		}
		if _, twice := byHost[r.Host][r.PID]; twice {
			t.Errorf("%s has process %d twice", r.Host, r.PID)
		}
		cpu, _ := r.CPU.Get()
		byHost[r.Host][r.PID] = cpu
	}
	if len(byHost["node-a"]) == 0 || len(byHost["node-b"]) < len(byHost["node-a"]) {
		t.Fatalf("rows %v", byHost)
	}
	for pid, cpu := range byHost["node-a"] {
		if other := byHost["node-b"][pid]; cpu <= 0 && pid != 77 || other-cpu > 1e-9 || cpu-other > 1e-9 {
			t.Errorf("process %d takes %v and %v of a processor on hosts that do the same", pid, cpu, other)
		}
	}
	// Choosing a process chooses its host and its GPU.
	for i := range m.rows {
		m.choose(&m.rows[i])
		if len(m.rows[i].Uses) > 0 && (m.device != deviceID{m.rows[i].Host, m.rows[i].Uses[0].Device} || m.host.name != m.rows[i].Host) {
			t.Errorf("row %d of %s chooses %v of %s", i, m.rows[i].Host, m.device, m.host.name)
		}
		if at := m.rowIndex(); at != i {
			t.Errorf("row %d is found as %d", i, at)
		}
		if p, h := m.process(); p != m.rows[i].Process || h != m.host && len(m.rows[i].Uses) > 0 {
			t.Errorf("row %d is another's process", i)
		}
	}
	press(m, "tab", "g", "a")
	for i := range m.rows {
		if m.rows[i].Host != "node-a" && len(m.rows[i].Uses) > 0 {
			t.Errorf("process %d of %s is on a GPU of node-a", m.rows[i].PID, m.rows[i].Host)
		}
	}
	press(m, "a", "/", "h", "o", "s", "t", "=", "n", "o", "d", "e", "-", "b", "enter")
	if len(m.rows) != len(byHost["node-b"]) {
		t.Errorf("%d rows pass host=node-b, want %d", len(m.rows), len(byHost["node-b"]))
	}
	press(m, "esc")
	m.sortBy(table.ColumnNamed("host"))
	for i := 1; i < len(m.rows); i++ {
		if m.rows[i-1].Host > m.rows[i].Host {
			t.Errorf("row %d of %s stands before one of %s", i-1, m.rows[i-1].Host, m.rows[i].Host)
		}
	}
}

// A host that is silent while others go on is said to be, and a recording that is
// wound back forgets what is of the future.
func TestHostsHaveTheirOwnTime(t *testing.T) {
	m := playedHosts(t, 120, 40, 60)
	if got := screen(m); !strings.Contains(got, "no sample for 30 s") || strings.Count(got, "no sample for") != 1 {
		t.Errorf("a host that is silent:\n%s", got)
	}
	back := scene{"node-b", []act{trains}, 0}.at(5)
	m.Update(sampled{back, nil})
	if len(m.hosts) != 1 || m.host.name != "node-b" || m.clock() != 5*time.Second {
		t.Errorf("after going back there are %d hosts, %s at %v", len(m.hosts), m.host.name, m.clock())
	}
	m.Update(sampled{scene{"node-a", []act{trains}, 0}.at(5), nil})
	if len(m.hosts) != 2 || m.hosts[0].name != "node-a" {
		t.Errorf("then %d hosts", len(m.hosts))
	}
}

// Wherever the screen is clicked, whatever its size, the device that is chosen is the
// one that is drawn there.
func TestMouseAmongHosts(t *testing.T) {
	for height := 16; height < 60; height += 3 {
		m := playedHosts(t, 100, height, 5)
		for _, s := range m.seen(m.layout()) {
			m.Update(tea.MouseClickMsg{X: 5, Y: s.rect.Y, Button: tea.MouseLeft})
			if m.device != s.key() {
				t.Errorf("at height %d a click on %v chooses %v", height, s.key(), m.device)
			}
		}
		press(m, "tab", "tab")
		for range 10 {
			press(m, "down")
			l := m.layout()
			if i := m.deviceIndex(m.device); i < l.firstDevice || i >= l.firstDevice+l.shownDevices {
				t.Errorf("at height %d the chosen GPU %d is not among %d from %d", height, i, l.shownDevices, l.firstDevice)
			}
		}
	}
}
