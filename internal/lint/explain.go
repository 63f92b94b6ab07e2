package lint

import (
	"fmt"
	"strings"
)

var fixNames = [...]string{NoFix: "none", SafeFix: "safe", UnsafeFix: "unsafe"}

func (k FixKind) String() string { return fixNames[k] }

var fixWords = [...]string{
	NoFix:     "no: it needs someone who knows the code",
	SafeFix:   "`--fix` makes it; results stay the same",
	UnsafeFix: "`--fix --unsafe` makes it; look at what it changes",
}

// Explain is a rule's documentation in Markdown: its page, and what --explain
// prints.
func Explain(r *Rule) string {
	var b strings.Builder
	on := "on"
	if r.Off {
		on = "off, --select " + r.Code + " runs it"
	}
	fmt.Fprintf(&b, "# %s %s\n\n%s.\n\n", r.Code, r.Name, r.Title)
	fmt.Fprintf(&b, "| severity | by default | fix |\n|---|---|---|\n| %s | %s | %s |\n\n", r.Severity, on, fixWords[r.Fix])
	section := func(head, text string) { fmt.Fprintf(&b, "## %s\n\n%s\n\n", head, text) }
	section("Why", sentence(r.Why))
	section("What it costs", sentence(r.Cost))
	section("The mistake", code(r.Bad))
	section("Done right", code(r.Good))
	section("What it does not see", sentence(r.Misses))
	b.WriteString("## Where it comes from\n\n")
	for _, ref := range r.References {
		fmt.Fprintf(&b, "- %s\n", link(ref))
	}
	fmt.Fprintf(&b, "\nTo leave a finding as it is, write `# plimsoll: ignore[%s]` on its line.\n", r.Code)
	return b.String()
}

// sentence makes a sentence of a text without capital and full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	if c := s[0]; c >= 'a' && c <= 'z' && !strings.ContainsAny(strings.Fields(s)[0], "._(") {
		s = string(c-'a'+'A') + s[1:]
	}
	return s
}

func code(src string) string {
	var lines []string
	for _, l := range strings.Split(strings.TrimRight(src, "\n"), "\n") {
		if i := strings.Index(l, "# want: "); i >= 0 {
			l = l[:i] + "# <- here"
		}
		lines = append(lines, l)
	}
	return "```python\n" + strings.Join(lines, "\n") + "\n```"
}

// link makes a link of "owner/repo#12" and of an address.
func link(ref string) string {
	if strings.HasPrefix(ref, "http") {
		return "<" + ref + ">"
	}
	repo, number, ok := strings.Cut(ref, "#")
	if ok && strings.Count(repo, "/") == 1 && !strings.ContainsAny(ref, " ,") {
		return fmt.Sprintf("[%s](https://github.com/%s/issues/%s)", ref, repo, number)
	}
	return ref
}
