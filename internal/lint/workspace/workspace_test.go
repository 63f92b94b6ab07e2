package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/lint/rules"
)

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir, cache string) *Workspace {
	t.Helper()
	found, err := Find([]string{dir}, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := append(slices.Clone(rules.All), lint.UnusedIgnore)
	return &Workspace{Tree: found, All: all, Rules: all, Cache: cache, Version: "test"}
}

func check(t *testing.T, w *Workspace) []string {
	t.Helper()
	results, err := w.Check(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range results {
		for _, f := range r.Findings {
			out = append(out, filepath.Base(f.File)+" "+f.Code)
		}
		for _, p := range r.Problems {
			out = append(out, filepath.Base(p.File)+" problem "+p.Message)
		}
	}
	return out
}

const (
	loop = `import torch
from helper import step
def train(model, loader, optimizer, criterion):
    total = 0.0
    for x, y in loader:
        loss = step(model, x, y, criterion)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss
`
	graph  = "import torch\ndef step(model, x, y, criterion):\n    return criterion(model(x), y)\n"
	number = "import torch\ndef step(model, x, y, criterion):\n    return criterion(model(x), y).item()\n"
)

// TestFactsDoNotGoStale: what is found in a file changes with a file that it
// imports, also where only the other one changed, and with a file that appears.
func TestFactsDoNotGoStale(t *testing.T) {
	dir := tree(t, map[string]string{"train.py": loop, "helper.py": graph, "alone.py": "import torch\n"})
	cache := filepath.Join(t.TempDir(), "c.json")
	if got := check(t, open(t, dir, cache)); !slices.Equal(got, []string{"train.py GPU001"}) {
		t.Fatalf("at first: %v", got)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// That a cache is used shows where it lies.
	raw, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cache, []byte(strings.ReplaceAll(string(raw), `"code":"GPU001"`, `"code":"CACHED"`)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := check(t, open(t, dir, cache)); !slices.Equal(got, []string{"train.py CACHED"}) {
		t.Errorf("nothing changed: %v", got)
	}
	write("alone.py", "import torch\nx = 1\n")
	if got := check(t, open(t, dir, cache)); !slices.Equal(got, []string{"train.py CACHED"}) {
		t.Errorf("a file that nothing joins with it changed: %v", got)
	}
	write("helper.py", number)
	if got := check(t, open(t, dir, cache)); got != nil {
		t.Errorf("the helper changed: %v", got)
	}
	write("helper.py", graph)
	if got := check(t, open(t, dir, cache)); !slices.Equal(got, []string{"train.py GPU001"}) {
		t.Errorf("the helper changed back: %v", got)
	}
	w := open(t, dir, cache)
	w.Version = "next"
	if got := check(t, w); !slices.Equal(got, []string{"train.py GPU001"}) {
		t.Errorf("another version: %v", got)
	}
	if err := os.WriteFile(cache, []byte(`{"key": 3`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := check(t, open(t, dir, cache)); !slices.Equal(got, []string{"train.py GPU001"}) {
		t.Errorf("a broken cache: %v", got)
	}
	// One workspace over several checks, as watch and the language server do,
	// with a file that begins to import another.
	write("alone.py", "import torch\n")
	w = open(t, dir, "")
	if got := check(t, w); !slices.Equal(got, []string{"train.py GPU001"}) {
		t.Errorf("before: %v", got)
	}
	write("alone.py", loop)
	if got := check(t, w); !slices.Equal(got, []string{"alone.py GPU001", "train.py GPU001"}) {
		t.Errorf("after: %v", got)
	}
	write("helper.py", number)
	if got := check(t, w); got != nil {
		t.Errorf("at last: %v", got)
	}
}

func TestComponents(t *testing.T) {
	names := []string{"a.py", "b.py", "pkg/__init__.py", "pkg/m.py", "pkg/n.py", "ns/x.py", "c.py", "d.py", "d/__init__.py", "e.py"}
	imports := make([][]string, len(names))
	imports[0] = []string{".b.f"}       // a part of a module
	imports[3] = []string{".pkg.n"}     // a module
	imports[6] = []string{".ns"}        // a package without __init__.py
	imports[9] = []string{".gone.away"} // nothing that is there
	of := components(names, imports)
	for _, pair := range []struct {
		i, j int
		want bool
	}{{0, 1, true}, {3, 4, true}, {2, 3, true}, {6, 5, true}, {7, 8, true}, {0, 2, false}, {9, 0, false}, {5, 0, false}} {
		if got := of[pair.i] == of[pair.j]; got != pair.want {
			t.Errorf("%s and %s: together %v", names[pair.i], names[pair.j], got)
		}
	}
}

func TestBadInput(t *testing.T) {
	deep := strings.Repeat("(", 100000) + strings.Repeat(")", 100000)
	blocks := ""
	for i := range 700 {
		blocks += strings.Repeat(" ", i) + "if model(x):\n"
	}
	dir := tree(t, map[string]string{
		"good.py": loop, "helper.py": graph,
		"binary.py":      "torch\x00\x01\x02",
		"generated.py":   strings.Repeat("x = torch.zeros(1)\n", 50<<20/19),
		"deep.py":        "import torch\nx = " + deep + "\n",
		"blocks.py":      blocks,
		"latin.py":       "import torch\nx = 'caf\xe9'\n",
		"utf16.py":       "\xff\xfei\x00m\x00p\x00o\x00r\x00t\x00 \x00t\x00o\x00r\x00c\x00h\x00\n\x00",
		"python2.py":     "import torch\nprint 'x'\n",
		"half.py":        "import torch\ndef f(:\n    x = (\n",
		"empty.py":       "",
		"empty.ipynb":    "",
		"nocells.ipynb":  `{"cells": [], "torch": 1}`,
		"nocode.ipynb":   `{"cells": [{"cell_type": "markdown", "source": "torch"}]}`,
		"elf.py":         "\x7fELF\x00\x00",
		"nojson.ipynb":   `{"cells": [torch`,
		"closed/x.py":    "import torch\n",
		"venv/lib/x.py":  "import torch\n",
		"env/pyvenv.cfg": "", "env/x.py": "import torch\n",
	})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink("loop.py", filepath.Join(dir, "loop.py")))
	must(os.Symlink(".", filepath.Join(dir, "self")))
	must(os.Symlink("nowhere.py", filepath.Join(dir, "broken.py")))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe.py"), 0o644))
	must(os.Chmod(filepath.Join(dir, "closed"), 0))
	t.Cleanup(func() { must(os.Chmod(filepath.Join(dir, "closed"), 0o755)) })

	w := open(t, dir, "")
	got := check(t, w)
	for _, p := range w.Tree.Problems {
		got = append(got, filepath.Base(p.File)+" found "+p.Message)
	}
	for _, want := range []string{
		"good.py GPU001",
		"binary.py problem not text", "generated.py problem too large: more than 4 MiB", "half.py problem", "elf.py problem not text", "nojson.ipynb problem",
		"loop.py found too many levels of symbolic links", "self found a link to a folder", "broken.py found no such file", "pipe.py found no file that can be read twice",
	} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("no %q", want)
		}
	}
	for _, s := range got {
		for _, quiet := range []string{"latin.py", "utf16.py", "python2.py", "empty.py", "nocells", "nocode", "x.py"} {
			if strings.HasPrefix(s, quiet) {
				t.Errorf("said %q", s)
			}
		}
		if strings.Contains(s, lint.ErrInternal.Error()) {
			t.Error(s)
		}
	}
	t.Log(strings.Join(got, "\n"))
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"tests", "pkg/tests/a.py", true}, {"tests", "pkg/mytests/a.py", false}, {"*_test.py", "pkg/a_test.py", true},
		{"pkg/tests", "pkg/tests/a.py", true}, {"pkg/tests/", "pkg/tests/a.py", true}, {"./pkg/*.py", "pkg/a.py", true},
		{"pkg/tests", "other/pkg/tests/a.py", false}, {"a/b/c/d", "a/b", false}, {"[", "a", false},
	} {
		if got := Matches([]string{tt.pattern}, tt.name); got != tt.want {
			t.Errorf("%s matches %s: %v", tt.pattern, tt.name, got)
		}
	}
}

// TestFixThatCannotBeWritten: what could not be written is still found, and the
// other files are fixed.
func TestFixThatCannotBeWritten(t *testing.T) {
	const mistake = "def train(model, loader, criterion, optimizer):\n    total = 0\n    for x, y in loader:\n        loss = criterion(model(x.cuda()), y.cuda())\n" +
		"        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n        total += loss\n    return total\n"
	dir := tree(t, map[string]string{"kept.py": mistake, "mended.py": mistake})
	if err := os.Chmod(filepath.Join(dir, "kept.py"), 0o444); err != nil {
		t.Fatal(err)
	}
	fixed, err := open(t, dir, "").Fix(context.Background(), func() func(Finding) bool {
		return func(f Finding) bool { return f.Fix.Safe }
	})
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]int{}
	for _, r := range fixed.Files {
		for _, f := range r.Findings {
			if f.Code == "GPU001" {
				left[filepath.Base(f.File)]++
			}
		}
	}
	if left["kept.py"] != 1 || left["mended.py"] != 0 || len(fixed.Fixed) != 1 || len(fixed.Problems) != 1 {
		t.Errorf("left %v, fixed %v, problems %v", left, fixed.Fixed, fixed.Problems)
	}
}
