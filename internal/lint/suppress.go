package lint

import (
	"regexp"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// UnusedIgnore is reported for comments, not for code: Suppress makes its
// findings.
var UnusedIgnore = &Rule{
	Code:     "GPU900",
	Name:     "unused-ignore",
	Severity: Warning,
	Title:    "A comment ignores a finding that is not there",
	Why:      "the comment outlived the mistake, or names no rule; the next mistake on its line would be hidden by it",
	Cost:     "nothing of the GPU's: 0 bytes",
	Misses:   "comments that ignore rules that are not selected; noqa comments, whose other readers have rules of their own",
	Fix:      SafeFix,
	References: []string{
		"https://docs.astral.sh/ruff/rules/unused-noqa/",
	},
	Bad:  "import torch\n\nx = torch.zeros(8)  # plimsoll: ignore[GPU001]  # want: unused-ignore\n",
	Good: "import torch\n\nx = torch.zeros(8)\n",
}

// ignoring is how a comment ignores findings: of its line, of the statement it
// stands in or alone above, or of the whole file. The part in brackets is
// missing where someone forgot it.
var ignoring = regexp.MustCompile(`#[ \t]*plimsoll:[ \t]*(ignore|file-ignore)\b[ \t]*(\[[^\]\n]*\])?`)

// noqa is the same as Flake8 and Ruff write it, with codes only.
var noqa = regexp.MustCompile(`(?i)#[ \t]*noqa:[ \t]*([A-Z]+[0-9]+(?:[ \t]*,?[ \t]*[A-Z]+[0-9]+)*)`)

// An ignore is one such comment.
type ignore struct {
	span        pyast.Span // from its # to its ]
	list        pyast.Span // what is in the brackets
	first, last int        // the lines that it speaks of; 0 for the file
	words       []string   // codes and names
	used        map[string]bool
	ours        bool // unused ones are reported
}

// Suppress drops the findings that comments of the file ignore, and adds one
// for each comment that ignores nothing. all are the rules that there are,
// active those that ran.
func Suppress(f *File, found []Finding, all, active []*Rule) []Finding {
	ignores := ignoresOf(f)
	if len(ignores) == 0 {
		return found
	}
	var out []Finding
	for _, x := range found {
		if !ignored(f, x, ignores) {
			out = append(out, x)
		}
	}
	if !contains(active, UnusedIgnore.Code) {
		return out
	}
	for _, g := range ignores {
		if !g.ours {
			continue
		}
		text, keep := g.complaint(all, active)
		if text == "" {
			continue
		}
		x := Finding{
			Rule: UnusedIgnore, Severity: UnusedIgnore.Severity, File: f, Span: g.span,
			Message: text, Why: UnusedIgnore.Why, Cost: UnusedIgnore.Cost,
		}
		switch {
		case len(keep) > 0:
			x.Fix = &Fix{"keep what is needed", true, []Edit{{g.list.Start, g.list.End, strings.Join(keep, ", ")}}}
		case len(g.words) > 0:
			x.Fix = &Fix{"remove the comment", true, []Edit{f.deleteComment(g.span)}}
		}
		out = append(out, x)
	}
	sortFindings(out)
	return out
}

func contains(rules []*Rule, word string) bool {
	for _, r := range rules {
		if r.Is(word) {
			return true
		}
	}
	return false
}

// Is reports whether a word that a user wrote means the rule: its code or its
// name.
func (r *Rule) Is(word string) bool {
	return strings.EqualFold(word, r.Code) || strings.EqualFold(word, r.Name)
}

func ignoresOf(f *File) []*ignore {
	var out []*ignore
	for _, c := range f.Module.Comments {
		text := f.Module.Text(c)
		if m := ignoring.FindStringSubmatchIndex(text); m != nil {
			g := &ignore{span: pyast.Span{Start: c.Start + m[0], End: c.Start + m[1]}, used: map[string]bool{}, ours: true}
			if m[4] >= 0 {
				g.list = pyast.Span{Start: c.Start + m[4] + 1, End: c.Start + m[5] - 1}
				g.words = wordsOf(f.Module.Text(g.list))
			}
			if text[m[2]:m[3]] == "ignore" {
				g.first, g.last = f.linesOf(c)
			}
			out = append(out, g)
		}
		if m := noqa.FindStringSubmatch(text); m != nil {
			line, _ := f.Module.Position(c.Start)
			out = append(out, &ignore{span: c, first: line, last: line, words: wordsOf(m[1]), used: map[string]bool{}})
		}
	}
	return out
}

func wordsOf(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// linesOf are the lines that a comment speaks of: its own, and the next if it
// stands alone.
func (f *File) linesOf(c pyast.Span) (first, last int) {
	line, _ := f.Module.Position(c.Start)
	start := f.Module.LineSpan(line).Start
	if strings.TrimSpace(string(f.Module.Source[start:c.Start])) != "" {
		return line, line
	}
	next := line + 1
	for next <= f.Module.Lines() && strings.HasPrefix(strings.TrimSpace(f.Module.Text(f.Module.LineSpan(next))), "#") {
		next++ // other comments between it and the code
	}
	return line, next
}

// ignored reports whether a comment ignores x, and notes which word did. A
// comment at any line of what is reported counts, also at the end of the
// statement that it is in; not those within the body of a loop or a function.
func ignored(f *File, x Finding, ignores []*ignore) bool {
	first, _ := f.Module.Position(x.Span.Start)
	last, _ := f.Module.Position(max(x.Span.Start, f.headEnd(x.Span)-1))
	hit := false
	for _, g := range ignores {
		if g.first > 0 && (g.first > last || g.last < first) {
			continue
		}
		for _, w := range g.words {
			if x.Rule.Is(w) {
				g.used[strings.ToLower(w)], hit = true, true
			}
		}
	}
	return hit
}

// headEnd is where the head of the statement that a span begins in ends: the
// statement itself, or what is before its body.
func (f *File) headEnd(s pyast.Span) int {
	end := s.End
	var found pyast.Stmt
	pyast.Walk(f.Module, func(n pyast.Node) bool {
		if at := n.Span(); n != pyast.Node(f.Module) && (s.Start < at.Start || s.Start >= max(at.End, at.Start+1)) {
			return false
		}
		if st, ok := n.(pyast.Stmt); ok {
			found = st
		}
		return true
	})
	if found == nil {
		return end
	}
	head := found.Span().End
	for _, body := range blocks(found) {
		if len(body) > 0 {
			head = min(head, body[0].Span().Start)
		}
	}
	if head < found.Span().End { // its body has lines of its own
		return s.Start + len(strings.TrimRight(string(f.Module.Source[s.Start:max(s.Start, head)]), " \t\r\n"))
	}
	return max(end, head)
}

// complaint says what is wrong with an ignore, or "", and which of its words
// have to stay.
func (g *ignore) complaint(all, active []*Rule) (text string, keep []string) {
	if len(g.words) == 0 {
		return "this comment names no rule: write ignore[CODE], with the rules' codes or names in the brackets", nil
	}
	var unused, unknown []string
	for _, w := range g.words {
		switch {
		case !contains(all, w):
			unknown = append(unknown, w)
		case contains(active, w) && !g.used[strings.ToLower(w)]:
			unused = append(unused, w)
		default: // needed, or its rule did not run
			keep = append(keep, w)
		}
	}
	switch {
	case len(unused) > 0:
		return "nothing here is reported as " + strings.Join(unused, " or "), keep
	case len(unknown) > 0:
		return "there is no rule " + strings.Join(unknown, " or "), keep
	}
	return "", keep
}

// deleteComment removes a comment with the blanks before it, or with its line
// where nothing else is on it.
func (f *File) deleteComment(s pyast.Span) Edit {
	src := f.Module.Source
	line, _ := f.Module.Position(s.Start)
	whole := f.Module.LineSpan(line)
	start := s.Start
	for start > whole.Start && (src[start-1] == ' ' || src[start-1] == '\t') {
		start--
	}
	rest := strings.TrimSpace(string(src[s.End:whole.End]))
	switch {
	case rest != "" && !strings.HasPrefix(rest, "#"):
		return Edit{s.Start, s.End, "#"} // words of the comment follow
	case rest != "" || start > whole.Start:
		return Edit{start, s.End, ""}
	case line < f.Module.Lines():
		return Edit{whole.Start, f.Module.LineSpan(line + 1).Start, ""}
	}
	return Edit{whole.Start, whole.End, ""}
}
