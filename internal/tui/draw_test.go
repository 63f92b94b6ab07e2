package tui

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/series"
)

// press sends keys by their names, as a terminal would.
func press(m *Model, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		key := tea.Key{Text: k, Code: []rune(k)[0]}
		for name, code := range map[string]rune{
			"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
			"right": tea.KeyRight, "end": tea.KeyEnd, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "space": tea.KeySpace,
		} {
			if k == name {
				key = tea.Key{Code: code}
			}
		}
		_, cmd = m.Update(tea.KeyPressMsg(key))
	}
	return cmd
}

// screen is what a person would see, line by line.
func screen(m *Model) string {
	m.View()
	return strings.Join(m.canvas.Lines(), "\n")
}

func TestScreens(t *testing.T) {
	many := scene{"sixteen", []act{trains, starves, grows, hot, trains, trains, cut, free, trains, trains, starves, trains, hangs, trains, trains, free}, 9_000}
	for _, c := range []struct {
		name          string
		scene         scene
		width, height int
		change        func(*Options)
		keys          []string
	}{
		{name: "1x1", width: 1, height: 1},
		{name: "20x4", width: 20, height: 4},
		{name: "40x10", width: 40, height: 10},
		{name: "80x24", width: 80, height: 24},
		{name: "120x40", width: 120, height: 40},
		{name: "250x60", width: 250, height: 60},
		{name: "80x24-ascii", width: 80, height: 24, change: func(o *Options) { o.ASCII = true }},
		{name: "120x40-ascii", width: 120, height: 40, change: func(o *Options) { o.ASCII = true }},
		{name: "80x24-sixteen", width: 80, height: 24, scene: many},
		{name: "200x50-sixteen", width: 200, height: 50, scene: many},
		{name: "120x40-tree", width: 120, height: 40, keys: []string{"t"}},
		{name: "120x40-gpu", width: 120, height: 40, keys: []string{"tab", "down", "down", "a"}},
		{name: "120x40-filter", width: 120, height: 40, keys: []string{"/", "u", "s", "e", "r", "=", "b", "o", "b"}},
		{name: "120x40-filter-wrong", width: 120, height: 40, keys: []string{"/", "m", "e", "m", "o", "r", "y", ">", "4", "G", "B"}},
		{name: "120x40-process", width: 120, height: 40, keys: []string{"enter"}},
		{name: "80x24-process", width: 80, height: 24, keys: []string{"down", "enter"}},
		{name: "120x40-help", width: 120, height: 40, keys: []string{"?"}},
		{name: "250x60-help", width: 250, height: 60, keys: []string{"?"}},
		{name: "80x24-kill", width: 80, height: 24, keys: []string{"K", "k"}, change: func(o *Options) { o.Kill = func(int, uint64, Signal) error { return nil } }},
		{name: "80x24-no-gpu", width: 80, height: 24, scene: scene{name: "bare"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.scene.name == "" {
				c.scene = wholeScene
			}
			seconds := 115.0
			if c.scene.processes > 1000 {
				seconds = 8
			}
			m := played(t, c.scene, c.width, c.height, seconds, c.change)
			press(m, c.keys...)
			compare(t, c.name, screen(m)+"\n")
		})
	}
}

// compare compares with a golden; PLIMSOLL_UPDATE=1 writes it anew.
func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if os.Getenv("PLIMSOLL_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; make golden writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the screen changed (want -, got +):\n%s", diff)
	}
}

// hosts are scenes that are played together: two that are alike in all but their
// names, one that tells of no GPU and one that is silent after half of the time.
func playedHosts(t testing.TB, width, height int, seconds float64) *Model {
	t.Helper()
	m, err := New(t.Context(), Options{Feed: &script{}, Mouse: true})
	if err != nil {
		t.Fatal(err)
	}
	m.Update(Size{Width: width, Height: height})
	m.judging = true // once, at the end
	for at := 0.0; at <= seconds; at++ {
		for i, sc := range []scene{{"node-a", []act{trains, starves}, 3}, {"node-b", []act{trains, starves, free}, 3}, {name: "node-c"}, {"node-d", []act{trains}, 0}} {
			if sc.name == "node-d" && at > seconds/2 {
				continue
			}
			s := sc.at(at + 0.1*float64(i))
			if sc.name == "node-c" {
				s = series.Sample{Wall: s.Wall, Since: s.Since, Host: series.Host{Name: sc.name}, Problems: []series.Problem{{Source: "ssh", Status: series.Failed, What: "ssh: connection refused"}}}
			}
			m.Update(sampled{s, nil})
		}
	}
	m.judgeNow()
	return m
}

func TestScreensOfHosts(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		keys          []string
	}{
		{name: "20x4-hosts", width: 20, height: 4},
		{name: "40x10-hosts", width: 40, height: 10},
		{name: "80x24-hosts", width: 80, height: 24},
		{name: "80x24-hosts-last", width: 80, height: 24, keys: []string{"tab", "G"}},
		{name: "200x50-hosts", width: 200, height: 50},
		{name: "200x50-hosts-gpu", width: 200, height: 50, keys: []string{"tab", "down", "down", "a", "tab", "t"}},
		{name: "120x40-hosts-process", width: 120, height: 40, keys: []string{"down", "enter"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := playedHosts(t, c.width, c.height, 60)
			press(m, c.keys...)
			compare(t, c.name, screen(m)+"\n")
		})
	}
}

// Whatever the size, page and theme, each line is as wide as the screen at most,
// and there are no more lines than it has.
func TestAnySize(t *testing.T) {
	sizes := []int{1, 2, 3, 5, 8, 13, 21, 33, 34, 39, 60, 79, 100, 133, 199}
	m := played(t, wholeScene, 80, 24, 20, func(o *Options) { o.Kill = func(int, uint64, Signal) error { return nil } })
	for _, page := range [][]string{{}, {"?"}, {"esc", "enter"}, {"esc", "K"}} {
		press(m, page...)
		for _, w := range sizes {
			for _, h := range sizes[:12] {
				m.theme = canvas.Themes[(w+h)%len(canvas.Themes)]
				m.canvas.ASCII = w%2 == 0
				m.Update(Size{Width: w, Height: h})
				lines := strings.Split(screen(m), "\n")
				if len(lines) > h {
					t.Errorf("%v at %dx%d: %d lines", page, w, h, len(lines))
				}
				for i, line := range lines {
					if got := ansi.StringWidth(line); got > w {
						t.Errorf("%v at %dx%d: line %d is %d wide: %q", page, w, h, i, got, line)
					}
					if m.canvas.ASCII && strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
						t.Errorf("%v at %dx%d: line %d is not ASCII: %q", page, w, h, i, line)
					}
				}
				// The mouse may click anywhere at any size.
				m.Update(tea.MouseClickMsg{X: w - 1, Y: h - 1, Button: tea.MouseLeft})
				m.wantKill = nil
			}
		}
		press(m, "esc")
	}
}

// What is not known is never shown as a number: not of a lost GPU, and not where a
// counter is not supported.
func TestUnknownIsNotZero(t *testing.T) {
	m := played(t, scene{"node", []act{gone, cut}, 0}, 200, 40, 30, nil)
	for _, line := range strings.Split(screen(m), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[1] != "0" || fields[0] != "✗" {
			continue
		}
		rest := strings.Join(fields[2:len(fields)-1], " ") // the last is how many processes there are
		if strings.ContainsAny(rest, "0123456789") {
			t.Errorf("a lost GPU has a number: %q", line)
		}
		if !strings.Contains(rest, "lost") {
			t.Errorf("a lost GPU is not said to be: %q", line)
		}
	}
}

// A GPU that hangs says so and how old its values are, in every size that has a
// line for it.
func TestStuckSaysItsAge(t *testing.T) {
	m := played(t, scene{"node", []act{trains, hangs}, 0}, 80, 24, 30, nil)
	for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 40}, {250, 60}} {
		m.Update(Size{Width: size[0], Height: size[1]})
		if got := screen(m); !strings.Contains(got, "stuck") || !strings.Contains(got, "43 s old") {
			t.Errorf("%v: %s", size, got)
		}
	}
}

// Charts have gaps where nothing was known, and a dot where a value was 0.
func TestHistoryHasGaps(t *testing.T) {
	var h history
	for i, busy := range []float64{0.5, 0, -1, 1} {
		s := series.Sample{Since: time.Duration(i*10) * time.Second, Devices: []series.Device{{ID: "a", Status: series.OK}}}
		if busy >= 0 {
			s.Devices[0].Values.Set(series.Busy, series.Of(busy))
		}
		h.add(&s, nil)
	}
	dots := make([]float64, 31)
	h.line(dots, "a", busyOverTime, 30*time.Second, time.Second, 3*time.Second)
	var got strings.Builder
	for _, v := range dots {
		if math.IsNaN(v) {
			got.WriteByte(' ')
		} else {
			fmt.Fprint(&got, int(v*9))
		}
	}
	if want := "4444      0000                9"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// Samples beyond what is kept push the oldest out, and nothing moves in time.
func TestHistoryIsARing(t *testing.T) {
	var h history
	for i := range 2*kept + 17 {
		s := series.Sample{Since: time.Duration(i) * time.Second, Devices: []series.Device{{ID: "a", Status: series.OK}}}
		s.Devices[0].Values.Set(series.Busy, series.Of(float64(i%10)/10))
		h.add(&s, nil)
	}
	dots := make([]float64, 10)
	end := time.Duration(2*kept+16) * time.Second
	h.line(dots, "a", busyOverTime, end, time.Second, 3*time.Second)
	for i, v := range dots {
		second := 2*kept + 16 - 9 + i
		if want := float64(second%10) / 10; math.Abs(v-want) > 1e-6 {
			t.Errorf("second %d is %v, want %v", second, v, want)
		}
	}
	if len(h.at) != kept || len(h.lines["a"][busyOverTime]) != kept {
		t.Errorf("%d samples are kept", len(h.at))
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {250, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			m := played(b, wholeScene, size[0], size[1], 115, nil)
			b.ReportAllocs()
			for b.Loop() {
				m.dirty = true
				m.View()
			}
		})
	}
}

// BenchmarkSample is what a sample costs the screen beside drawing.
func BenchmarkSample(b *testing.B) {
	for _, processes := range []int{50, 10_000} {
		b.Run(fmt.Sprint(processes), func(b *testing.B) {
			sc := wholeScene
			sc.processes = processes
			m := played(b, sc, 120, 40, 3, nil)
			next := sc.at(10)
			m.judging = true
			b.ReportAllocs()
			for b.Loop() {
				next.Since += time.Second
				m.Update(sampled{next, nil})
			}
		})
	}
}
