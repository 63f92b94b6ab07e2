package lint

import (
	"sort"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// Replace puts text in a node's place.
func Replace(n pyast.Node, text string) Edit { return Edit{n.Span().Start, n.Span().End, text} }

// After puts text behind a node.
func After(n pyast.Node, text string) Edit { return Edit{n.Span().End, n.Span().End, text} }

// SetArg gives a call a keyword argument: it replaces the value where the
// keyword is there, else adds it at the end.
func (f *File) SetArg(c *pyast.Call, name, value string) Edit {
	for _, k := range c.Keywords {
		if k.Name == name {
			return Replace(k.Value, value)
		}
	}
	at := c.ArgSpan.End - 1
	end := c.ArgSpan.Start + 1
	for _, a := range c.Args {
		end = max(end, a.Span().End)
	}
	for _, k := range c.Keywords {
		end = max(end, k.Span().End)
	}
	if end == c.ArgSpan.Start+1 && strings.TrimSpace(string(f.Module.Source[end:at])) == "" {
		return Edit{at, at, name + "=" + value}
	}
	// Behind the last argument; a comma after it stays where it is, behind ours.
	return Edit{end, end, ", " + name + "=" + value}
}

// DeleteStmt removes a statement with its line; the only statement of a block
// becomes pass.
func (f *File) DeleteStmt(s pyast.Stmt) Edit {
	if only(s) {
		return Replace(s, "pass")
	}
	line, _ := f.Module.Position(s.Span().Start)
	last, _ := f.Module.Position(s.Span().End)
	start, end := f.Module.LineSpan(line).Start, f.Module.LineSpan(last).End
	src := f.Module.Source
	before, after := string(src[start:s.Span().Start]), strings.TrimSpace(string(src[s.Span().End:end]))
	if strings.TrimSpace(before) != "" || after != "" {
		return Edit{s.Span().Start, s.Span().End, "pass"} // it shares its line
	}
	if last < f.Module.Lines() {
		end = f.Module.LineSpan(last + 1).Start
	}
	return Edit{start, end, ""}
}

// only reports whether a statement is alone in its block.
func only(s pyast.Stmt) bool {
	alone := true
	for _, body := range blocks(s.Parent()) {
		if inBody(body, s) && len(body) > 1 {
			alone = false
		}
	}
	return alone
}

// blocks are a statement's blocks.
func blocks(n pyast.Node) [][]pyast.Stmt {
	switch n := n.(type) {
	case *pyast.Module:
		return [][]pyast.Stmt{n.Body}
	case *pyast.FuncDef:
		return [][]pyast.Stmt{n.Body}
	case *pyast.ClassDef:
		return [][]pyast.Stmt{n.Body}
	case *pyast.For:
		return [][]pyast.Stmt{n.Body, n.Else}
	case *pyast.While:
		return [][]pyast.Stmt{n.Body, n.Else}
	case *pyast.If:
		return [][]pyast.Stmt{n.Body, n.Else}
	case *pyast.With:
		return [][]pyast.Stmt{n.Body}
	case *pyast.Try:
		return [][]pyast.Stmt{n.Body, n.Else, n.Finally}
	case *pyast.Handler:
		return [][]pyast.Stmt{n.Body}
	case *pyast.Case:
		return [][]pyast.Stmt{n.Body}
	}
	return nil
}

// Indent is the white space before a statement's line.
func (f *File) Indent(s pyast.Stmt) string {
	line, _ := f.Module.Position(s.Span().Start)
	text := f.Module.Text(f.Module.LineSpan(line))
	return text[:len(text)-len(strings.TrimLeft(text, " \t"))]
}

// newline is how the file ends its lines.
func (f *File) newline() string {
	if strings.Contains(string(f.Module.Source[:min(len(f.Module.Source), 4096)]), "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// InsertAfter adds a statement on a line of its own after s.
func (f *File) InsertAfter(s pyast.Stmt, text string) Edit {
	last, _ := f.Module.Position(s.Span().End)
	end := f.Module.LineSpan(last).End
	return Edit{end, end, f.newline() + f.Indent(s) + text}
}

// InsertBefore adds a statement, or a decorator, on a line of its own before s.
func (f *File) InsertBefore(s pyast.Stmt, text string) Edit {
	line, _ := f.Module.Position(s.Span().Start)
	start := f.Module.LineSpan(line).Start
	return Edit{start, start, f.Indent(s) + text + f.newline()}
}

// Apply makes edits; of edits that overlap the first in the source is made. It
// returns the text and how many edits were made.
func Apply(src []byte, edits []Edit) ([]byte, int) {
	sorted := append([]Edit(nil), edits...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Start < sorted[j].Start })
	var out []byte
	at, made := 0, 0
	for i, e := range sorted {
		if e.Start < at || e.End > len(src) || e.End < e.Start || i > 0 && e == sorted[i-1] {
			continue
		}
		out = append(out, src[at:e.Start]...)
		out = append(out, e.Text...)
		at = e.End
		made++
	}
	return append(out, src[at:]...), made
}
