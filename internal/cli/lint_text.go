package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/lint/workspace"
	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// A lintStyle is how findings are printed for people.
type lintStyle struct {
	colour  bool
	verbose bool
	width   int
}

func (l *linter) textStyle() lintStyle {
	terminal := l.File == "" || l.File == "-"
	s := lintStyle{colour: terminal && l.stdio.Colour(), verbose: l.Verbose, width: 100}
	if terminal && l.stdio.OutWidth > 0 {
		s.width = max(40, min(l.stdio.OutWidth, 120))
	}
	return s
}

// Colours, as parameters of SGR.
var lintColours = map[string]string{"error": "1;31", "warning": "1;33", "info": "36", "good": "1;32", "bold": "1", "dim": "2"}

func (s lintStyle) paint(colour, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + lintColours[colour] + "m" + text + "\x1b[0m"
}

// writeLintText writes the verdict, then the findings, then what was passed
// over.
func writeLintText(w io.Writer, a *lintAnswer, s lintStyle) error {
	out := &strings.Builder{}
	fmt.Fprintln(out, a.verdict(s))
	told := map[string]bool{} // rules that were explained
	for _, f := range a.Findings {
		s.finding(out, f, s.verbose || !told[f.Code])
		told[f.Code] = true
	}
	if len(a.Passed) > 0 {
		fmt.Fprintf(out, "\npassed over:\n")
		for _, p := range a.Passed {
			fmt.Fprintf(out, "  %s\n", report.Printable(p.String()))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// verdict is the first line.
func (a *lintAnswer) verdict(s lintStyle) string {
	var parts []string
	for _, sev := range []lint.Severity{lint.Error, lint.Warning, lint.Info} {
		if n := a.count(sev); n > 0 {
			word := sev.String()
			text := plural(n, word)
			if sev == lint.Info {
				text = fmt.Sprintf("%d info", n)
			}
			parts = append(parts, s.paint(word, text))
		}
	}
	head := s.paint("good", "no findings")
	where := "in " + plural(a.Files, "file")
	if len(parts) > 0 {
		head = strings.Join(parts, ", ")
		where = fmt.Sprintf("in %d of %s", a.files(), plural(a.Files, "file"))
	}
	var more []string
	if a.fixes {
		n := 0
		for _, f := range a.Fixed {
			n += f.Fixes
		}
		more = append(more, fmt.Sprintf("%s fixed in %s", plural(n, "finding"), plural(len(a.Fixed), "file")))
	} else if safe, unsafe := a.fixable(); safe+unsafe > 0 {
		var how []string
		if safe > 0 {
			how = append(how, fmt.Sprintf("--fix mends %d", safe))
		}
		if unsafe > 0 {
			how = append(how, fmt.Sprintf("--fix --unsafe %d", safe+unsafe))
		}
		more = append(more, strings.Join(how, ", "))
	}
	if n := len(a.Passed); n > 0 {
		more = append(more, fmt.Sprintf("%d passed over", n))
	}
	return strings.Join(append([]string{head + "   " + where}, more...), "; ")
}

func (a *lintAnswer) fixable() (safe, unsafe int) {
	for _, f := range a.Findings {
		switch {
		case f.Fix == nil:
		case f.Fix.Safe:
			safe++
		default:
			unsafe++
		}
	}
	return safe, unsafe
}

// finding prints one: what is wrong and where, the line, then reason, cost and
// remedy.
func (s lintStyle) finding(out *strings.Builder, f workspace.Finding, whole bool) {
	fmt.Fprintf(out, "\n%s: %s: %s %s\n", s.paint("bold", report.Printable(lintPlaceOf(f.File, f.Range))), s.paint(f.Severity, f.Severity),
		report.Printable(f.Message), s.paint("dim", "["+f.Code+" "+f.Name+"]"))
	s.source(out, f)
	if whole {
		s.field(out, "why", f.Why)
		s.field(out, "cost", f.Cost)
	} else if f.Bytes > 0 || f.Share > 0 {
		here, _, _ := strings.Cut(f.Cost, inGeneral)
		s.field(out, "cost", here)
	}
	for _, n := range f.Notes {
		s.field(out, "see", fmt.Sprintf("%s: %s", lintPlaceOf(f.File, n.Range), n.Message))
	}
	if f.Fix != nil {
		how := "--fix"
		if !f.Fix.Safe {
			how = "--fix --unsafe"
		}
		s.field(out, "fix", fmt.Sprintf("%s (%s)", f.Fix.Title, how))
	}
}

// lintPlaceOf is file:line:column, in a notebook file:cell 3:line:column.
func lintPlaceOf(file string, r workspace.Range) string {
	if r.Cell > 0 {
		return fmt.Sprintf("%s:cell %d:%d:%d", file, r.Cell, r.Line, r.Column)
	}
	return fmt.Sprintf("%s:%d:%d", file, r.Line, r.Column)
}

// source prints the line with a mark under what is meant.
func (s lintStyle) source(out *strings.Builder, f workspace.Finding) {
	line := []rune(f.Source)
	from := min(f.Column-1, len(line))
	to := len(line)
	if f.EndLine == f.Line {
		to = min(f.EndColumn-1, len(line))
	}
	shift := 0
	if room := s.width - 10; len(line) > room && from > room/2 {
		shift = min(from-room/4, len(line)-room/2)
	}
	line = line[shift:]
	from, to = max(from-shift, 0), max(to-shift, 0)
	if room := s.width - 10; len(line) > room {
		line = line[:room]
		to = min(to, room)
	}
	number := fmt.Sprint(f.Line)
	fmt.Fprintf(out, "%s %s %s\n", s.paint("dim", number), s.paint("dim", "|"), printableLine(line))
	mark := strings.Repeat(" ", width(line[:min(from, len(line))])) + s.paint(f.Severity, strings.Repeat("^", max(1, width(line[min(from, len(line)):min(max(to, from), len(line))]))))
	fmt.Fprintf(out, "%s %s %s\n", strings.Repeat(" ", len(number)), s.paint("dim", "|"), mark)
}

const tab = "    "

// printableLine spells a line so that it takes width columns.
func printableLine(line []rune) string {
	return strings.TrimRight(report.Printable(strings.ReplaceAll(string(line), "\t", tab)), " ")
}

func width(line []rune) int {
	return utf8.RuneCountInString(report.Printable(strings.ReplaceAll(string(line), "\t", tab)))
}

// field prints a named text, folded.
func (s lintStyle) field(out *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	const indent = 8
	for i, line := range fold(report.Printable(text), s.width-indent) {
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(out, "  %s%s\n", s.paint("dim", fmt.Sprintf("%-6s", name)), line)
	}
}

// fold breaks a text into lines of at most width characters, at blanks.
func fold(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// explainRule prints what there is to know about a rule, or lists all.
func explainRule(stdio IO, o lintOptions) error {
	all := lintRules()
	if strings.EqualFold(o.Explain, "all") {
		return o.write(stdio, func(w io.Writer) error { return writeRules(w, all, o.Format) })
	}
	for _, r := range all {
		if r.Is(o.Explain) {
			return o.write(stdio, func(w io.Writer) error { return writeRules(w, []*lint.Rule{r}, o.Format) })
		}
	}
	return WithHint(fmt.Errorf("there is no rule %q", o.Explain), "plimsoll lint --explain all lists the rules")
}

func writeRules(w io.Writer, list []*lint.Rule, format string) error {
	switch {
	case format == "json":
		return indented(w, ruleDocuments(list))
	case len(list) == 1:
		_, err := io.WriteString(w, lint.Explain(list[0]))
		return err
	}
	out := &strings.Builder{}
	for _, r := range list {
		fmt.Fprintf(out, "%s %-8s %-4s %-34s %s\n", r.Code, r.Severity, cmp.Or(map[bool]string{true: "off"}[r.Off], "on"), r.Name, r.Title)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// A rulesDocument is the JSON of --explain.
type rulesDocument struct {
	Schema string         `json:"schema"` // plimsoll.lint-rules/1
	Rules  []ruleDocument `json:"rules"`
}

type ruleDocument struct {
	Code       string   `json:"code"`
	Name       string   `json:"name"`
	Severity   string   `json:"severity"`
	Default    bool     `json:"default"` // runs unless it is ignored
	Title      string   `json:"title"`
	Why        string   `json:"why"`
	Cost       string   `json:"cost"`
	Misses     string   `json:"misses"`
	Fix        string   `json:"fix"` // none, safe, unsafe
	References []string `json:"references"`
	Bad        string   `json:"bad"`
	Good       string   `json:"good"`
}

func ruleDocuments(list []*lint.Rule) rulesDocument {
	doc := rulesDocument{Schema: "plimsoll.lint-rules/1"}
	for _, r := range list {
		doc.Rules = append(doc.Rules, ruleDocument{
			r.Code, r.Name, r.Severity.String(), !r.Off, r.Title, r.Why, r.Cost, r.Misses, r.Fix.String(), r.References, r.Bad, r.Good,
		})
	}
	return doc
}

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
