package canvas

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
)

// A Theme says how roles look.
type Theme struct {
	Name string
	// Ground and Text are what a picture has behind and for plain text; a
	// terminal keeps its own.
	Ground, Text string
	// Chosen is the ground of a selected line; "" reverses it.
	Chosen string

	looks [roles]look
}

// A look is how one role is shown. "" is the terminal's own colour.
type look struct {
	fg, bg string
	bold   bool
	dim    bool
}

// Themes are all of them, in the order in which a key goes through them.
var Themes = []*Theme{dark(), light(), contrast(), mono()}

func dark() *Theme {
	return &Theme{Name: "dark", Ground: "#11141c", Text: "#d5dbe8", Chosen: "#2a3145", looks: [roles]look{
		Dim: {fg: "#7f8aa3"}, Faint: {fg: "#3a4256"}, Strong: {fg: "#f2f5fb", bold: true}, Brand: {fg: "#ff8c42", bold: true},
		Head: {fg: "#7f8aa3"}, Key: {fg: "#e6c07b"}, Good: {fg: "#7ed491"}, Warn: {fg: "#f2c14e"}, Bad: {fg: "#ff6b6b", bold: true},
		Alarm: {fg: "#11141c", bg: "#ff6b6b", bold: true},
		Busy1: {fg: "#2f8f9d"}, Busy2: {fg: "#3fb8af"}, Busy3: {fg: "#7fe0c8"},
		Memory1: {fg: "#5b6ee1"}, Memory2: {fg: "#7c8cf8"}, Memory3: {fg: "#a9b4ff"},
		Power1: {fg: "#b5713a"}, Power2: {fg: "#e09f3e"}, Power3: {fg: "#ffd479"},
		CPU1: {fg: "#8a5aab"}, CPU2: {fg: "#b57edc"}, CPU3: {fg: "#dcb0f5"}, Growth: {fg: "#ff8c42"},
	}}
}

func light() *Theme {
	return &Theme{Name: "light", Ground: "#fbfbfd", Text: "#20242e", Chosen: "#dde4f5", looks: [roles]look{
		Dim: {fg: "#667085"}, Faint: {fg: "#c5cbd8"}, Strong: {fg: "#0b0d12", bold: true}, Brand: {fg: "#c2500a", bold: true},
		Head: {fg: "#667085"}, Key: {fg: "#8a5a00"}, Good: {fg: "#1a7f37"}, Warn: {fg: "#9a6700"}, Bad: {fg: "#c21f2e", bold: true},
		Alarm: {fg: "#ffffff", bg: "#c21f2e", bold: true},
		Busy1: {fg: "#5cb8b2"}, Busy2: {fg: "#21918c"}, Busy3: {fg: "#0d6b68"},
		Memory1: {fg: "#8f9bf0"}, Memory2: {fg: "#5b6ee1"}, Memory3: {fg: "#3546b8"},
		Power1: {fg: "#e0a458"}, Power2: {fg: "#c17817"}, Power3: {fg: "#8f5206"},
		CPU1: {fg: "#c39bdb"}, CPU2: {fg: "#9457bd"}, CPU3: {fg: "#6a2f94"}, Growth: {fg: "#c2500a"},
	}}
}

// contrast has the terminal's eight bright colours on black alone.
func contrast() *Theme {
	return &Theme{Name: "contrast", Ground: "#000000", Text: "#ffffff", Chosen: "#0000c0", looks: [roles]look{
		Plain: {fg: "#ffffff"}, Dim: {fg: "#e0e0e0"}, Faint: {fg: "#a0a0a0"}, Strong: {fg: "#ffffff", bold: true}, Brand: {fg: "#ffff00", bold: true},
		Head: {fg: "#ffffff", bold: true}, Key: {fg: "#ffff00", bold: true}, Good: {fg: "#00ff00", bold: true}, Warn: {fg: "#ffff00", bold: true},
		Bad: {fg: "#ff6060", bold: true}, Alarm: {fg: "#000000", bg: "#ffff00", bold: true},
		Busy1: {fg: "#00ffff"}, Busy2: {fg: "#00ffff"}, Busy3: {fg: "#00ffff"},
		Memory1: {fg: "#ffffff"}, Memory2: {fg: "#ffffff"}, Memory3: {fg: "#ffffff"},
		Power1: {fg: "#ffff00"}, Power2: {fg: "#ffff00"}, Power3: {fg: "#ffff00"},
		CPU1: {fg: "#ff80ff"}, CPU2: {fg: "#ff80ff"}, CPU3: {fg: "#ff80ff"}, Growth: {fg: "#ffff00"},
	}}
}

// mono has no colour: bold, faint and reversed say what others say by colour.
func mono() *Theme {
	return &Theme{Name: "mono", Ground: "#ffffff", Text: "#000000", looks: [roles]look{
		Dim: {dim: true}, Faint: {dim: true}, Strong: {bold: true}, Brand: {bold: true}, Head: {bold: true}, Key: {bold: true},
		Warn: {bold: true}, Bad: {bold: true}, Alarm: {bold: true},
	}}
}

// ThemeNamed returns the theme of this name, nil where there is none.
func ThemeNamed(name string) *Theme {
	for _, t := range Themes {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Pen is the theme as a terminal that can show the profile's colours is told of it.
// It is made once: a frame must not ask lipgloss cell by cell.
func (t *Theme) Pen(p colorprofile.Profile) *Pen {
	pen := &Pen{}
	for role := range roles {
		for i := range pen.sgr[role] {
			pen.sgr[role][i] = opening(t.style(role, i == 1, p))
		}
	}
	return pen
}

// A Pen are the sequences that turn roles on, plain and selected.
type Pen struct{ sgr [roles][2]string }

func (t *Theme) style(role Role, selected bool, p colorprofile.Profile) lipgloss.Style {
	l := t.looks[role]
	s := lipgloss.NewStyle().Bold(l.bold).Faint(l.dim && !selected)
	shown := func(hex string) color.Color { return p.Convert(lipgloss.Color(hex)) }
	colours := p >= colorprofile.ANSI
	if l.fg != "" && colours {
		s = s.Foreground(shown(l.fg))
	}
	if l.bg != "" && colours {
		s = s.Background(shown(l.bg))
	}
	switch {
	case (t.Chosen == "" || !colours) && (selected || role == Alarm):
		s = s.Reverse(true)
	case selected && l.bg == "":
		s = s.Background(shown(t.Chosen))
	}
	return s
}

// opening is what a style writes before its text.
func opening(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}
