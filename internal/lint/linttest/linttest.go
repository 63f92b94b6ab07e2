// Package linttest is the test that every rule has: its documentation is whole,
// its bad example has the mistake on the lines that say so and its good one has
// none, and its fixes leave a file that parses and is clean.
package linttest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// Run tests a rule with its examples and with what is in testdata: a .py file
// is a project of its own, a folder is a project of several files. The lines
// that must be reported end in "# want: name"; no others may be.
func Run(t *testing.T, r *lint.Rule) {
	t.Helper()
	t.Run("documentation", func(t *testing.T) { document(t, r) })
	t.Run("bad", func(t *testing.T) {
		if !strings.Contains(r.Bad, "# want: "+r.Name) {
			t.Errorf("the bad example marks no line with %q", "# want: "+r.Name)
		}
		expect(t, r, lint.Source{Path: "bad.py", Text: []byte(r.Bad)})
	})
	t.Run("good", func(t *testing.T) { expect(t, r, lint.Source{Path: "good.py", Text: []byte(r.Good)}) })
	if r.Fix != lint.NoFix {
		t.Run("fix", func(t *testing.T) { fix(t, r) })
	}
	corpus(t, r)
	entries, err := os.ReadDir("testdata")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) { expect(t, r, read(t, filepath.Join("testdata", e.Name()))...) })
	}
}

// corpus lists what the rule finds in other people's code: each folder below
// PLIMSOLL_LINT_CORPUS is a project. Nothing fails; read the log (-v).
func corpus(t *testing.T, r *lint.Rule) {
	root := os.Getenv("PLIMSOLL_LINT_CORPUS") //nolint:forbidigo // a test's own switch, read in a helper of tests
	if root == "" {
		return
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run("corpus/"+e.Name(), func(t *testing.T) {
			_, err := lint.Run(t.Context(), []*lint.Rule{r}, read(t, filepath.Join(root, e.Name())), 0, func(file *lint.File, fs []lint.Finding) {
				for _, f := range fs {
					line, _ := file.Module.Position(f.Span.Start)
					text := strings.TrimSpace(file.Module.Text(file.Module.LineSpan(line)))
					t.Logf("%s:%d: %s: %s\n\t%s", file.Path, line, f.Severity, f.Message, text)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func read(t *testing.T, root string) []lint.Source {
	t.Helper()
	var out []lint.Source
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".py" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Base(path)
		if rel, err := filepath.Rel(root, path); err == nil && rel != "." {
			name = filepath.ToSlash(rel)
		}
		out = append(out, lint.Source{Path: name, Text: raw})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func document(t *testing.T, r *lint.Rule) {
	t.Helper()
	if !regexp.MustCompile(`^GPU[01]\d\d$`).MatchString(r.Code) {
		t.Errorf("the code %q is not GPU0xx or GPU1xx", r.Code)
	}
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`).MatchString(r.Name) {
		t.Errorf("the name %q is not words joined by -", r.Name)
	}
	for what, text := range map[string]string{"Title": r.Title, "Why": r.Why, "Cost": r.Cost, "Misses": r.Misses, "Bad": r.Bad, "Good": r.Good} {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s is empty", what)
		}
	}
	if strings.HasSuffix(r.Title, ".") {
		t.Error("the title ends in a full stop")
	}
	if len(r.References) == 0 {
		t.Error("there is no reference")
	}
}

// want marks the lines on which a rule must report.
var want = regexp.MustCompile(`#.*want: ([a-z0-9-]+)`)

func expect(t *testing.T, r *lint.Rule, sources ...lint.Source) {
	t.Helper()
	expected := map[string]map[int]bool{}
	for _, s := range sources {
		expected[s.Path] = map[int]bool{}
		for i, line := range strings.Split(string(s.Text), "\n") {
			if m := want.FindStringSubmatch(line); m != nil && m[1] == r.Name {
				expected[s.Path][i+1] = true
			}
		}
	}
	findings, err := lint.Check([]*lint.Rule{r}, sources...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		line, _ := f.File.Module.Position(f.Span.Start)
		if !expected[f.File.Path][line] {
			t.Errorf("%s:%d: reported, but not wanted: %s", f.File.Path, line, f.Message)
		}
		delete(expected[f.File.Path], line)
		if f.Fix != nil && f.Fix.Safe && r.Fix != lint.SafeFix {
			t.Errorf("%s:%d: a safe fix from a rule that promises none", f.File.Path, line)
		}
	}
	for path, lines := range expected {
		for line := range lines {
			t.Errorf("%s:%d: not reported", path, line)
		}
	}
}

// fix applies all fixes to the bad example, as often as there are any.
func fix(t *testing.T, r *lint.Rule) {
	t.Helper()
	text := []byte(r.Bad)
	for range 10 {
		findings, err := lint.Check([]*lint.Rule{r}, lint.Source{Path: "bad.py", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		var edits []lint.Edit
		for _, f := range findings {
			if f.Fix != nil {
				edits = append(edits, f.Fix.Edits...)
			}
		}
		if len(edits) == 0 {
			if len(findings) > 0 {
				t.Errorf("after the fixes it still says %q in:\n%s", findings[0].Message, text)
			}
			break
		}
		text, _ = lint.Apply(text, edits)
	}
	m, err := pyast.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Errors) > 0 {
		t.Errorf("the fixed file does not parse:\n%s", text)
	}
	for _, c := range comments([]byte(r.Bad)) {
		if !strings.Contains(string(text), c) {
			t.Errorf("the fix lost the comment %q", c)
		}
	}
}

func comments(src []byte) []string {
	m, err := pyast.Parse(src)
	if err != nil {
		return nil
	}
	var out []string
	for _, c := range m.Comments {
		out = append(out, m.Text(c))
	}
	return out
}
