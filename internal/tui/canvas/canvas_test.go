package canvas

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

func TestTextIsCutAtItsWidth(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"train.py", 8, "train.py"},
		{"train.py", 7, "train.…"},
		{"train.py", 1, "…"},
		{"train.py", 0, ""},
		{"训练模型", 8, "训练模型"},
		{"训练模型", 7, "训练模…"},
		{"训练模型", 6, "训练…"},
		{"训练", 1, "…"},
		{"e\u0301te\u0301", 3, "ete"},
		{"a\x1b[31mb\x00", 20, "a?[31mb?"},
		{"\u202eevil", 20, "evil"},
		{"👩\u200d👩\u200d👧 x", 20, "👩👩👧 x"},
		{"\U0001f1e9\U0001f1ea", 20, "??"},
		{"bad\xff", 20, "bad\ufffd"},
	} {
		canvas := New(30, 1)
		canvas.Text(0, 0, c.width, c.in, Plain)
		if got := canvas.Lines()[0]; got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// What a terminal is sent must be as wide as what was drawn, or all that stands to
// the right of it moves.
func TestWidthIsWhatTheTerminalTakes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		canvas := New(200, 1)
		canvas.ASCII = rapid.Bool().Draw(t, "ascii")
		used := canvas.Text(0, 0, 200, s, Plain)
		canvas.Text(used, 0, 3, "end", Plain)
		line := canvas.Lines()[0]
		if got := ansi.StringWidth(line); used <= 197 && got != used+3 {
			t.Fatalf("%q was drawn in %d columns; a terminal takes %d for %q", s, used, got-3, line)
		}
	})
}

// Anything may be drawn anywhere.
func TestDrawingOutsideIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(-5, 12)
		canvas := New(rapid.IntRange(0, 8).Draw(t, "width"), rapid.IntRange(0, 4).Draw(t, "height"))
		r := Rect{at.Draw(t, "x"), at.Draw(t, "y"), at.Draw(t, "w"), at.Draw(t, "h")}
		share := rapid.Float64().Draw(t, "share")
		canvas.Text(r.X, r.Y, r.W, "训练 train", Strong)
		canvas.Right(r.X, r.Y, r.W, "12 %", Dim)
		canvas.Bar(max(r.X, 0), max(r.Y, 0), r.W, Bar{Share: share, Growth: share, Mark: share})
		canvas.Unknown(r.X, r.Y, r.W)
		canvas.Chart(r, []float64{share, math.NaN(), 0, 1}, Busy1)
		canvas.Level(r, share, Bad)
		canvas.Box(r, "title", Faint, Strong)
		canvas.Select(r)
		canvas.Clear(r)
		if lines := canvas.Lines(); len(lines) != canvas.Height {
			t.Fatalf("%d lines of %d", len(lines), canvas.Height)
		}
	})
}

func TestChart(t *testing.T) {
	gap := math.NaN()
	for _, c := range []struct {
		name   string
		ascii  bool
		values []float64
		want   []string
	}{
		{"the newest is at the right", false, []float64{1}, []string{"  ⢸", "  ⢸"}},
		{"zero is seen, a gap is not", false, []float64{0, 0, gap, 0}, []string{"", " ⣀⢀"}},
		{"halves", false, []float64{0.5, 0.5, 1, 0.25, 0.75, gap}, []string{" ⡇⡄", "⣿⣧⡇"}},
		{"more than there is room for", false, []float64{1, 1, 0, 0, 0, 0, 0, 0}, []string{"", "⣀⣀⣀"}},
		{"letters", true, []float64{1, 0.5, gap}, []string{"#", "##"}},
	} {
		canvas := New(3, 2)
		canvas.ASCII = c.ascii
		canvas.Chart(canvas.Bounds(), c.values, Busy1)
		if got := canvas.Lines(); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		bar   Bar
		ascii bool
		want  string
	}{
		{Bar{Share: 0.5, Mark: -1}, false, "█████─────"},
		{Bar{Share: 0, Mark: -1}, false, "──────────"},
		{Bar{Share: 0.0001, Mark: -1}, false, "▏─────────"},
		{Bar{Share: 0.55, Growth: 0.2, Mark: 0.9}, false, "█████▌▒▒─┃"},
		{Bar{Share: 7, Mark: 7}, false, "█████████┃"},
		{Bar{Share: 0.55, Growth: 0.2, Mark: 0.9}, true, "######::.|"},
	} {
		canvas := New(10, 1)
		canvas.ASCII = c.ascii
		canvas.Bar(0, 0, 10, c.bar)
		if got := canvas.Lines()[0]; got != c.want {
			t.Errorf("%+v is %q, want %q", c.bar, got, c.want)
		}
	}
}

// A terminal that is told the changes from any screen to any other shows that one.
func TestChangesLeadFromOneScreenToAnother(t *testing.T) {
	pen := Themes[0].Pen(colorprofile.TrueColor)
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 30).Draw(t, "width"), rapid.IntRange(1, 4).Draw(t, "height")
		screen := vt.NewEmulator(w, h)
		var before *Canvas
		for range rapid.IntRange(1, 5).Draw(t, "frames") {
			next := New(w, h)
			for range rapid.IntRange(0, 6).Draw(t, "texts") {
				text := rapid.SampledFrom([]string{"train.py", "训练", "a训b", "⣿⣷⣶", " ", "97 %", "██▌"}).Draw(t, "text")
				next.Text(rapid.IntRange(0, w).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y"), 30, text, Role(rapid.IntRange(0, int(roles)-1).Draw(t, "role")))
			}
			screen.Write(next.AppendChanges(nil, before, pen)) //nolint:errcheck // an emulator in memory
			for y, line := range next.Lines() {
				var shown strings.Builder
				for x := range w {
					if cell := screen.CellAt(x, y); cell != nil {
						shown.WriteString(cell.Content)
					}
				}
				if got := strings.TrimRight(shown.String(), " "); got != line {
					t.Fatalf("line %d shows %q, want %q", y, got, line)
				}
			}
			before = next
		}
	})
}

func TestNothingIsSentWhereNothingChanged(t *testing.T) {
	a, b := New(80, 24), New(80, 24)
	for _, c := range []*Canvas{a, b} {
		c.Text(3, 3, 40, "GPU 训练", Strong)
	}
	pen := Themes[0].Pen(colorprofile.TrueColor)
	if got := b.AppendChanges(nil, a, pen); len(got) > 0 {
		t.Errorf("%q is sent", got)
	}
	b.Text(7, 3, 1, "x", Strong)
	if got := b.AppendChanges(nil, a, pen); len(got) > 60 {
		t.Errorf("%d bytes are sent for one cell: %q", len(got), got)
	}
}

// What a terminal cannot show is not sent to it, and all that matters is marked
// without colours, too.
func TestPensKeepToTheirProfile(t *testing.T) {
	for _, theme := range Themes {
		for profile, wrong := range map[colorprofile.Profile]string{
			colorprofile.ASCII: "[34]8;[25]|;[349][0-7]m|\\[[349][0-7]m", colorprofile.ANSI: "[34]8;[25]", colorprofile.ANSI256: "[34]8;2",
		} {
			pen := theme.Pen(profile)
			for role := range roles {
				for _, s := range pen.sgr[role] {
					if regexp.MustCompile(wrong).MatchString(s) {
						t.Errorf("%s: role %d is %q with %v", theme.Name, role, s, profile)
					}
				}
				if pen.sgr[role][1] == pen.sgr[role][0] && role != Alarm {
					t.Errorf("%s: selected role %d looks as not selected with %v", theme.Name, role, profile)
				}
			}
			if pen.sgr[Alarm][0] == "" || pen.sgr[Bad][0] == "" {
				t.Errorf("%s: what is bad is not marked with %v", theme.Name, profile)
			}
		}
	}
}

func TestThemesAreWhole(t *testing.T) {
	for _, theme := range Themes {
		if ThemeNamed(theme.Name) != theme {
			t.Errorf("%s is not found by its name", theme.Name)
		}
		for role := range roles {
			l := theme.looks[role]
			if role != Plain && theme.Name != "mono" && l.fg == "" {
				t.Errorf("%s: role %d has no colour", theme.Name, role)
			}
			for _, hex := range []string{l.fg, l.bg} {
				if hex != "" && contrastOf(t, hex, theme.Ground) < 0 {
					t.Errorf("%s: %q is no colour", theme.Name, hex)
				}
			}
		}
	}
}

// Text must be readable: 4.5 is what WCAG 2.2 asks of it (1.4.3), 7 of what is to
// have high contrast (1.4.6).
func TestTextStandsOut(t *testing.T) {
	for _, theme := range Themes {
		want := 4.5
		if theme.Name == "contrast" {
			want = 7
		}
		for _, role := range []Role{Plain, Dim, Strong, Brand, Head, Key, Good, Warn, Bad, Alarm} {
			fg, bg := theme.colours(Ink(role))
			if bg == "" {
				bg = theme.Ground
			}
			if got := contrastOf(t, fg, bg); got < want {
				t.Errorf("%s: role %d has contrast %.1f, want %.1f", theme.Name, role, got, want)
			}
		}
	}
}

// contrastOf is the contrast ratio of WCAG 2.2.
func contrastOf(t *testing.T, a, b string) float64 {
	t.Helper()
	luminance := func(hex string) float64 {
		r, g, bl, _ := lipgloss.Color(hex).RGBA()
		sum := 0.0
		for i, v := range []uint32{r, g, bl} {
			c := float64(v) / 0xffff
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += c * []float64{0.2126, 0.7152, 0.0722}[i]
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestSVGIsWellFormed(t *testing.T) {
	canvas := New(20, 3)
	canvas.Text(0, 0, 20, `<&"> 训练 ⊖`, Brand)
	canvas.Bar(0, 1, 20, Bar{Share: 0.3, Growth: 0.3, Mark: 0.8, Over: Growth})
	canvas.Chart(Rect{0, 2, 20, 1}, []float64{0.1, 0.5, 1}, Busy1)
	canvas.Select(Rect{0, 0, 20, 1})
	for _, theme := range Themes {
		var out bytes.Buffer
		if err := canvas.SVG(&out, theme); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&out)
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", theme.Name, err)
			}
		}
	}
}
