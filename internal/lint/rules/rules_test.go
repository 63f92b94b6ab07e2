package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
)

func TestTable(t *testing.T) {
	codes, names := map[string]bool{}, map[string]bool{}
	for _, r := range All {
		if codes[r.Code] || names[r.Name] {
			t.Errorf("%s %s is there twice", r.Code, r.Name)
		}
		codes[r.Code], names[r.Name] = true, true
	}
}

// TestCases compares with the cases that are not in the repository: a mistake
// is found on its line, and a file without one has no finding of any rule.
func TestCases(t *testing.T) {
	root := os.Getenv("PLIMSOLL_CASES")
	if root == "" {
		t.Skip("PLIMSOLL_CASES names no folder of cases")
	}
	root = filepath.Join(root, "lint")
	raw, err := os.ReadFile(filepath.Join(root, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]struct {
		Rule    string
		Line    int
		Accept  []int    `json:"also_accept_lines"`
		Allowed []string `json:"other_rules_allowed"`
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	var on []*lint.Rule
	for _, r := range All {
		have[r.Name] = true
		if !r.Off {
			on = append(on, r)
		}
	}
	var files []string
	for name := range cases {
		files = append(files, name)
	}
	sort.Strings(files)
	for _, name := range files {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			findings, err := lint.Check(on, lint.Source{Path: name, Text: src})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range findings {
				line, _ := f.File.Module.Position(f.Span.Start)
				mine := f.Rule.Name == c.Rule && (line == c.Line || contains(c.Accept, line))
				found = found || mine
				if !mine {
					report := t.Errorf
					if !strings.Contains(name, ".ok.") {
						report = t.Logf // another mistake in a bad file: look at it
					}
					report("line %d: %s: %s", line, f.Rule.Name, f.Message)
				}
			}
			if c.Line > 0 && !found {
				if !have[c.Rule] {
					t.Skipf("there is no rule %s yet", c.Rule)
				}
				t.Errorf("line %d: %s is not reported", c.Line, c.Rule)
			}
		})
	}
}

func contains(list []int, n int) bool {
	for _, x := range list {
		if x == n {
			return true
		}
	}
	return false
}
