// Package text prints a report for a terminal or a file: verdict first,
// reason second, remedy third, then what lies behind them.
//
// Every string of the report is hostile until escaped: file names in stacks
// come from the user's machine, error texts from any program. Nothing that
// moves a cursor, sets a colour or reverses writing passes.
//
// It fits the given width at 40 columns and up; below that it prints as for
// 40.
package text

import (
	"bytes"
	"io"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

const (
	defaultWidth = 80
	leastWidth   = 40
)

// shortRows and shortBars bound what the short answer shows of one table or
// bar list, so that the answer fits a screen.
const (
	shortRows = 6
	shortBars = 9
)

// Render prints r.
func Render(w io.Writer, r *report.Report, o report.Options) error {
	p := newPrinter(o)
	p.verdict(r)
	for i := range r.Sections {
		if r.Sections[i].Detail && !o.Verbose {
			continue
		}
		p.section(&r.Sections[i])
	}
	for i := range r.Timelines {
		p.timeline(&r.Timelines[i])
	}
	p.warnings(r.Warnings)
	p.closing(r)
	_, err := w.Write(p.out.Bytes())
	return err
}

// A printer collects the lines of one report.
type printer struct {
	out     bytes.Buffer
	width   int
	verbose bool
	glyphs  glyphs
	style   style
}

func newPrinter(o report.Options) *printer {
	p := &printer{width: o.Width, verbose: o.Verbose, glyphs: unicodeGlyphs}
	if p.width <= 0 {
		p.width = defaultWidth
	}
	p.width = max(p.width, leastWidth)
	if o.ASCII {
		p.glyphs = asciiGlyphs
	}
	if o.Color {
		p.style = ansiStyle
	}
	return p
}

// line writes one line without trailing blanks.
func (p *printer) line(parts ...string) {
	start := p.out.Len()
	for _, s := range parts {
		p.out.WriteString(s)
	}
	trimmed := bytes.TrimRight(p.out.Bytes()[start:], " ")
	p.out.Truncate(start + len(trimmed))
	p.out.WriteByte('\n')
}

// gap separates two groups by one empty line, none at the top.
func (p *printer) gap() {
	if p.out.Len() > 0 && !bytes.HasSuffix(p.out.Bytes(), []byte("\n\n")) {
		p.out.WriteByte('\n')
	}
}

// clean makes a string of the report safe to print on one line.
func (p *printer) clean(s string) string { return escape(s, p.glyphs.ascii) }
