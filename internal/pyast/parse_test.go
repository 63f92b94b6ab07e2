//go:build cgo

package pyast

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mustParse(t *testing.T, src string) *Module {
	t.Helper()
	m, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	checkTree(t, m)
	return m
}

// checkTree asserts what every tree promises: IDs are dense and unique, parents
// are set, and the spans are inside the source.
func checkTree(t *testing.T, m *Module) {
	t.Helper()
	seen := make([]bool, m.Nodes)
	Walk(m, func(n Node) bool {
		if n.ID() < 0 || n.ID() >= m.Nodes || seen[n.ID()] {
			t.Fatalf("node %T has ID %d of %d, seen before or out of range", n, n.ID(), m.Nodes)
		}
		seen[n.ID()] = true
		if n != Node(m) && n.Parent() == nil {
			t.Fatalf("%T %q has no parent", n, m.Text(n.Span()))
		}
		if s := n.Span(); s.Start < 0 || s.End > len(m.Source) || s.Start > s.End {
			t.Fatalf("%T has span %v of %d bytes", n, s, len(m.Source))
		}
		return true
	})
}

const everything = `
from __future__ import annotations
import os.path as p, sys
from .. import a
from ..b.c import (d as e, f)
from torch import *
@dec(1)
async def g(x, y: int = 2, *args, z=3, **kw) -> None:
    global q
    async with a as b, c() as (d, e):
        pass
    with (open(x) as f, open(y) as h):
        del f, h[0]
    for i, (j, k) in enumerate(z): continue
    else: pass
    while not x and y or z: break
    try:
        raise E("x") from err
    except (A, B) as ex:
        return
    except* C: pass
    finally:
        assert x, "m"
    return lambda u, *v: u if v else await w
class K(nn.Module, metaclass=M):
    n: int
    m: int = 3
    def f(self): self.x = y = [i for i in z if i for j in i]
x += 1; x @= y
print(f"a{x!r:>{w}} {y.item()}" "b", file=z)
t = a[1:2, ..., None], {**d, 1: 2}, {1, 2}, (yield), -1, ~x, x < y <= z is not None
if (n := len(a)) > 3: pass
elif b: pass
else: pass
match x:
    case [1, y] if y: z = 1
    case _: pass
`

func TestEverything(t *testing.T) {
	m := mustParse(t, everything)
	if len(m.Errors) != 0 {
		t.Fatalf("errors: %v", m.Errors)
	}
	Walk(m, func(n Node) bool {
		switch n.(type) {
		case *BadExpr, *BadStmt:
			t.Errorf("bad node for %q", m.Text(n.Span()))
		}
		return true
	})
}

// A broken statement, or Python 2, costs itself and nothing else.
func TestBrokenParts(t *testing.T) {
	m := mustParse(t, "def f():\n    x = = 3\n    loss.backward()\nprint \"a\", b.item()\nexec code in d\ntry:\n    pass\nexcept E, e:\n    pass\ny = g()\nif :\n    pass\ndef h():\n    z.step()\n")
	found := map[string]bool{}
	Walk(m, func(n Node) bool {
		if c, ok := n.(*Call); ok {
			found[Path(c.Func)] = true
		}
		return true
	})
	for _, want := range []string{"loss.backward", "b.item", "z.step"} {
		if !found[want] {
			t.Errorf("the call of %s was lost; found %v", want, found)
		}
	}
	if len(m.Errors) == 0 {
		t.Error("no error was recorded")
	}
}

func TestPositions(t *testing.T) {
	m := mustParse(t, "a = 1\r\nb = 2\rcé = 3\n")
	for _, c := range []struct{ offset, line, column int }{{0, 1, 1}, {7, 2, 1}, {13, 3, 1}, {16, 3, 4}} {
		if l, col := m.Position(c.offset); l != c.line || col != c.column {
			t.Errorf("offset %d is %d:%d, want %d:%d", c.offset, l, col, c.line, c.column)
		}
	}
	if got := m.Text(m.LineSpan(2)); got != "b = 2" {
		t.Errorf("line 2 is %q", got)
	}
}

func TestDeepNesting(t *testing.T) {
	for _, src := range []string{
		strings.Repeat("(", 200000), strings.Repeat("[", 50000) + strings.Repeat("]", 50000),
		"x = " + strings.Repeat("-", 100000) + "1", "x = " + strings.Repeat("a+", 100000) + "a",
		strings.Repeat("if x:\n ", 3000), "if a: pass\n" + strings.Repeat("elif b: pass\n", 20000),
		"x" + strings.Repeat(".a", 50000), strings.Repeat("f(", 30000), strings.Repeat("lambda: ", 30000),
	} {
		mustParse(t, src)
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ raw, text, encoding string }{
		{"x = 1", "x = 1", "utf-8"},
		{"\xef\xbb\xbfx", "x", "utf-8-sig"},
		{"\xff\xfex\x00\n\x00", "x\n", "utf-16"},
		{"\xfe\xff\x00x", "x", "utf-16"},
		{"# coding: latin-1\n'\xe9'", "# coding: latin-1\n'é'", "latin-1"},
		{"'\xe9'", "'é'", "latin-1"},
	} {
		text, enc, err := Decode([]byte(c.raw))
		if err != nil || string(text) != c.text || enc != c.encoding {
			t.Errorf("Decode(%q) = %q, %s, %v; want %q, %s", c.raw, text, enc, err, c.text, c.encoding)
		}
		if enc != "utf-16" {
			if back, err := Encode(text, enc); err != nil || string(back) != c.raw {
				t.Errorf("Encode gives %q, %v for %q", back, err, c.raw)
			}
		}
	}
	if _, _, err := Decode([]byte("a\x00b")); err == nil {
		t.Error("NUL bytes were taken for text")
	}
}

func TestNotebook(t *testing.T) {
	n, err := ReadNotebook([]byte(`{"cells":[{"cell_type":"markdown","source":"x"},
		{"cell_type":"code","source":["%matplotlib inline\n","import torch\n","for i in x:\n","    !ls -l\n"]},
		{"cell_type":"code","source":"%%bash\nls"},{"cell_type":"code","source":"y = 1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "#matplotlib inline\nimport torch\nfor i in x:\n    pass  \ny = 1\n"
	if string(n.Source) != want {
		t.Errorf("source is %q, want %q", n.Source, want)
	}
	if c, l := n.Cell(5); c != 4 || l != 1 {
		t.Errorf("line 5 is cell %d line %d, want cell 4 line 1", c, l)
	}
	if c, l := n.Cell(2); c != 2 || l != 2 {
		t.Errorf("line 2 is cell %d line %d, want cell 2 line 2", c, l)
	}
	if _, err := ReadNotebook([]byte(`{"cells":[]}`)); err != nil {
		t.Error(err)
	}
}

// TestCorpus reads every Python file below PLIMSOLL_PYTHON_CORPUS.
func TestCorpus(t *testing.T) {
	root := os.Getenv("PLIMSOLL_PYTHON_CORPUS")
	if root == "" {
		t.Skip("PLIMSOLL_PYTHON_CORPUS names no folder of Python files")
	}
	files, bad, size := 0, 0, 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".py" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, _, err := Decode(raw)
		if err != nil {
			return nil
		}
		m := mustParse(t, string(text))
		files, size = files+1, size+len(text)
		if len(m.Errors) > 0 {
			bad++
			t.Logf("%s: %d errors", path, len(m.Errors))
			return nil
		}
		Walk(m, func(n Node) bool {
			switch n.(type) {
			case *BadExpr, *BadStmt:
				line, _ := m.Position(n.Span().Start)
				t.Errorf("%s:%d: bad node %T without an error: %.60q", path, line, n, m.Text(n.Span()))
			}
			return true
		})
		return nil
	})
	t.Logf("%d files, %d bytes, %d with errors", files, size, bad)
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte("def f(:\n  x ="))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, _, err := Decode(raw)
		if err != nil {
			return
		}
		m, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		checkTree(t, m)
	})
}
