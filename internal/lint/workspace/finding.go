package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// A Finding is one mistake at its place, as programs read it. Lines and
// columns count from 1, columns in characters; the end is exclusive. In a
// notebook they are of the cell.
type Finding struct {
	Code      string  `json:"code"`
	Name      string  `json:"name"`
	Severity  string  `json:"severity"`
	File      string  `json:"file"`
	Range             // line, column, end_line, end_column
	Message   string  `json:"message"`
	Why       string  `json:"why"`
	Cost      string  `json:"cost"`
	Of        string  `json:"cost_of,omitempty"`    // what the cost is a multiple of
	Bytes     int64   `json:"cost_bytes,omitempty"` // of that, where it is known
	Share     float64 `json:"cost_share,omitempty"` // of the time, at most, where a recording tells
	ShareOf   string  `json:"cost_cause,omitempty"` // the cause of idling that this is the share of
	Source    string  `json:"source"`               // the line of Range
	Notes     []Note  `json:"notes,omitempty"`
	Fix       *Fix    `json:"fix,omitempty"`
	Signature string  `json:"signature"` // stays when lines move
}

// A Range is a part of a file.
type Range struct {
	Cell      int `json:"cell,omitempty"` // of a notebook, from 1
	Line      int `json:"line"`
	Column    int `json:"column"`
	EndLine   int `json:"end_line"`
	EndColumn int `json:"end_column"`
}

// A Note is another place that matters.
type Note struct {
	Range
	Message string `json:"message"`
}

// A Fix is edits that belong together.
type Fix struct {
	Title string `json:"title"`
	Safe  bool   `json:"safe"`
	Edits []Edit `json:"edits"`
}

// An Edit replaces a part of a file by Text.
type Edit struct {
	Range
	Text string `json:"text"`
}

// sourceMax bounds the line that is kept with a finding.
const sourceMax = 400

// describe makes a Finding for programs. file is the path that users know.
func describe(file string, x lint.Finding) Finding {
	out := Finding{
		Code: x.Rule.Code, Name: x.Rule.Name, Severity: x.Severity.String(), File: file,
		Range: rangeOf(x.File, x.Span), Message: x.Message, Why: x.Why, Cost: x.Cost, Of: string(x.Of),
	}
	m := x.File.Module
	line, _ := m.Position(x.Span.Start)
	out.Source = cut(m.Text(m.LineSpan(line)))
	for _, n := range x.Notes {
		out.Notes = append(out.Notes, Note{rangeOf(x.File, n.Span), n.Text})
	}
	if x.Fix != nil {
		f := &Fix{Title: x.Fix.Title, Safe: x.Fix.Safe, Edits: []Edit{}}
		for _, e := range x.Fix.Edits {
			f.Edits = append(f.Edits, Edit{rangeOf(x.File, pyast.Span{Start: e.Start, End: e.End}), e.Text})
		}
		out.Fix = f
	}
	out.Signature = signature(x, out.Source)
	return out
}

func cut(line string) string {
	if len(line) <= sourceMax {
		return line
	}
	end := sourceMax
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end]
}

func rangeOf(f *lint.File, s pyast.Span) Range {
	size := len(f.Module.Source)
	s.Start, s.End = min(max(s.Start, 0), size), min(max(s.End, 0), size)
	r := Range{}
	r.Line, r.Column = position(f.Module, s.Start)
	r.EndLine, r.EndColumn = position(f.Module, max(s.Start, s.End))
	if f.Notebook != nil {
		first := r.Line
		r.Cell, r.Line = f.Notebook.Cell(first)
		r.EndLine = r.Line + r.EndLine - first
	}
	return r
}

// position is a line and a column in characters.
func position(m *pyast.Module, at int) (line, column int) {
	line, column = m.Position(at)
	return line, utf8.RuneCount(m.Source[at-column+1:at]) + 1
}

// signature names a finding by its rule, its function and its line's words, so
// that it is known again where lines were added above it.
func signature(x lint.Finding, line string) string {
	function := ""
	for _, fn := range x.File.Funcs { // inner ones come later
		if fn.Node.Span().Has(x.Span) {
			function = fn.Name
		}
	}
	sum := sha256.Sum256([]byte(x.Rule.Code + "\x00" + function + "\x00" + strings.Join(strings.Fields(line), " ")))
	return hex.EncodeToString(sum[:8])
}

// SeverityOf is a severity by its word.
func SeverityOf(word string) (lint.Severity, bool) {
	for _, s := range []lint.Severity{lint.Info, lint.Warning, lint.Error} {
		if s.String() == word {
			return s, true
		}
	}
	return 0, false
}
