package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/lint/rules"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// FuzzLint goes from bytes to findings and fixes: nothing panics, places are in
// the file, what is fixed parses as well as before, and fixing again does
// nothing.
func FuzzLint(f *testing.F) {
	for _, r := range rules.All {
		f.Add([]byte(r.Bad), false)
	}
	f.Add([]byte("import torch\nx = f(  # plimsoll: ignore[GPU001, GPU2\n)  # plimsoll: ignore[]\n"), false)
	f.Add([]byte("\xff\xfei\x00m\x00"), false)
	f.Add([]byte(`{"cells": [{"cell_type": "code", "source": ["import torch\n", "for x in loader:\n", "    total += model(x).loss\n", "!ls\n"]}]}`), true)
	all := append(slices.Clone(rules.All), lint.UnusedIgnore)
	f.Fuzz(func(t *testing.T, raw []byte, notebook bool) {
		if len(raw) > 1<<16 {
			return
		}
		dir := t.TempDir()
		name := filepath.Join(dir, "a.py")
		if notebook {
			name = filepath.Join(dir, "a.ipynb")
		}
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		tree, err := Find([]string{name}, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := &Workspace{Tree: tree, All: all, Rules: all, Workers: 1}
		results, err := w.Check(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		inspect(t, results, nil)
		all := func() func(Finding) bool { return func(Finding) bool { return true } }
		fixed, err := w.Fix(context.Background(), all)
		if err != nil {
			t.Fatal(err)
		}
		inspect(t, fixed.Files, fixed.Problems)
		now, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(fixed.Fixed) == 0 && string(now) != string(raw) {
			t.Error("the file changed, and no fix was made")
		}
		if before, after := broken(raw, notebook), broken(now, notebook); after > before {
			t.Errorf("%d parts did not parse before, %d after", before, after)
		}
		again, err := w.Fix(context.Background(), all)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Fixed) > 0 {
			t.Errorf("fixed again:\n%s", now)
		}
	})
}

func inspect(t *testing.T, results []FileResult, problems []Problem) {
	t.Helper()
	for _, r := range results {
		problems = append(problems, r.Problems...)
		for _, x := range r.Findings {
			if x.Line < 1 || x.Column < 1 || x.EndLine < x.Line || x.EndLine == x.Line && x.EndColumn < x.Column {
				t.Errorf("%s is at %+v", x.Code, x.Range)
			}
		}
	}
	for _, p := range problems {
		if strings.Contains(p.Message, lint.ErrInternal.Error()) || strings.Contains(p.Message, "do not come to an end") {
			t.Error(p)
		}
	}
}

// broken is how many parts of a file do not parse.
func broken(raw []byte, notebook bool) int {
	text, _, err := pyast.Decode(raw)
	if notebook {
		var n *pyast.Notebook
		if n, err = pyast.ReadNotebook(raw); err == nil {
			text = n.Source
		}
	}
	if err != nil {
		return 0
	}
	m, err := pyast.Parse(text)
	if errors.Is(err, pyast.ErrNoCgo) || err != nil {
		return 0
	}
	return len(m.Errors)
}
