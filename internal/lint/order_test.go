package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// onFile runs check on a script as a rule would.
func onFile(t *testing.T, src string, check func(p *Pass)) {
	t.Helper()
	r := &Rule{Code: "GPU000", Name: "probe", Run: check}
	if _, err := Check([]*Rule{r}, Source{Path: "a.py", Text: []byte("import torch\n" + src)}); err != nil {
		t.Fatal(err)
	}
}

func TestRuns(t *testing.T) {
	src := `
class Engine:
    def __init__(self):
        first()
def helper(x):
    second(x)
    helper(x)
def main():
    third(helper(zeroth()))
    fourth = lambda: never()
Engine()
if __name__ == "__main__":
    main()
`
	onFile(t, src, func(p *Pass) {
		var got []string
		p.Runs(p.Top, func(n pyast.Node) bool {
			if c, ok := n.(*pyast.Call); ok {
				got = append(got, pyast.Path(c.Func))
			}
			return true
		})
		want := "Engine first main zeroth helper second helper third"
		if strings.Join(got, " ") != want {
			t.Errorf("the order is %v, not %s", got, want)
		}
		roots := p.Roots()
		if len(roots) != 2 || roots[1].Name != "__init__" { // a call of a class is not followed to it
			t.Errorf("%d roots", len(roots))
		}
	})
}

func TestRunsEnds(t *testing.T) {
	src := "def a():\n" + strings.Repeat("    b()\n", 40) + "def b():\n" + strings.Repeat("    c()\n", 40) + "def c():\n" + strings.Repeat("    d()\n", 40) +
		"def d():\n" + strings.Repeat("    e()\n", 40) + "def e():\n    pass\na()\n"
	onFile(t, src, func(p *Pass) {
		n := 0
		p.Runs(p.Top, func(pyast.Node) bool { n++; return true })
		if n > maxRuns {
			t.Errorf("%d nodes are visited", n)
		}
	})
}

func TestExclusive(t *testing.T) {
	src := `
def f(c):
    if c:
        a()
    elif c > 1:
        b()
    else:
        d()
    e()
    g() if c else h()
`
	onFile(t, src, func(p *Pass) {
		calls := map[string]*pyast.Call{}
		p.Calls(func(c *pyast.Call) { calls[pyast.Path(c.Func)] = c })
		for _, pair := range []string{"a b", "a d", "b d", "g h"} {
			x, y, _ := strings.Cut(pair, " ")
			if !Exclusive(calls[x], calls[y]) || !Exclusive(calls[y], calls[x]) {
				t.Errorf("%s and %s do not run together", x, y)
			}
		}
		for _, pair := range []string{"a e", "e g", "d h"} {
			x, y, _ := strings.Cut(pair, " ")
			if Exclusive(calls[x], calls[y]) {
				t.Errorf("%s and %s may run together", x, y)
			}
		}
	})
}

func TestEnv(t *testing.T) {
	src := `
import os
os.environ["A"] = "1"
os.environ.setdefault("B", "1")
os.environ.update({"C": "1"}, D="1")
`
	onFile(t, src, func(p *Pass) {
		var got []string
		p.Env(func(_ pyast.Node, name string, _ pyast.Expr) { got = append(got, name) })
		slices.Sort(got)
		if strings.Join(got, "") != "ABCD" {
			t.Errorf("it sets %v", got)
		}
	})
}

func TestStoreBefore(t *testing.T) {
	src := "def f(x):\n    h = 1\n    y, h = x(h)\n    return h\n"
	onFile(t, src, func(p *Pass) {
		p.Calls(func(c *pyast.Call) {
			s := p.Funcs[0].StoreBefore("h", c)
			if line, _ := p.Module.Position(s.Span().Start); line != 3 {
				t.Errorf("line %d", line)
			}
		})
	})
}

func TestImportedBeside(t *testing.T) {
	r := &Rule{Code: "GPU000", Name: "probe", Run: func(p *Pass) {
		if got, want := p.ImportedBeside("torch.nn.parallel.DistributedDataParallel"), p.Path == "used.py"; got != want {
			t.Errorf("%s: %v", p.Path, got)
		}
	}}
	_, err := Check([]*Rule{r},
		Source{Path: "main.py", Text: []byte("import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\nfrom used import load\n")},
		Source{Path: "used.py", Text: []byte("import torch\ndef load(): pass\n")},
		Source{Path: "other.py", Text: []byte("import torch\ndef load(): pass\n")})
	if err != nil {
		t.Fatal(err)
	}
}
