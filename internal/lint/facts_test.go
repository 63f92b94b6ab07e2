package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// describe is a value in the words of the tests.
func describe(v Value) string {
	kinds := map[Kind]string{
		Number: "number", NoneValue: "none", Array: "array", Tensor: "tensor", Module: "module", Criterion: "criterion", Optimizer: "optimizer",
		Scheduler: "scheduler", Scaler: "scaler", Loader: "loader", DatasetKind: "dataset", Checkpoint: "checkpoint", StateDict: "state",
		Device: "device", Tokenizer: "tokenizer", Accelerator: "accelerator", Trainer: "trainer", Context: "context", ListKind: "list",
		TupleKind: "tuple", FuncKind: "func", ClassKind: "class", KerasModel: "keras", TFDataset: "tfdata",
	}
	s := kinds[v.Kind]
	if s == "" {
		s = "unknown"
	}
	if v.Kind == Tensor {
		s += [...]string{" grad?", " nograd", " grad"}[v.Grad]
	}
	if v.Loss {
		s += " loss"
	}
	s += [...]string{"", " cpu", " gpu"}[v.Place]
	if v.Frozen {
		s += " frozen"
	}
	return s
}

// TestFacts reads scripts in testdata: probe(x) is a call whose argument's value
// the comment "# is: ..." on its line tells, and "# loop: ..." and "# func: ..."
// tell the facts of the loop or function that begins on the line.
func TestFacts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/facts/*.py")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, name := range scripts {
		t.Run(filepath.Base(name), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			probe := &Rule{Code: "GPU000", Name: "probe", Run: func(p *Pass) { probe(t, p, string(src)) }}
			if _, err := Check([]*Rule{probe}, Source{Path: filepath.Base(name), Text: src}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func probe(t *testing.T, p *Pass, src string) {
	got := map[int]string{}
	line := func(n pyast.Node) int { l, _ := p.Module.Position(n.Span().Start); return l }
	p.Calls(func(c *pyast.Call) {
		if pyast.Path(c.Func) == "probe" {
			got[line(c)] = "is: " + describe(p.Value(c.Args[0]))
			if len(c.Args) == 1 {
				return
			}
			loop, hot := p.StepOf(c)
			got[line(c)] = fmt.Sprintf("is: %s step=%t hot=%t gradoff=%t autocast=%t", describe(p.Value(c.Args[0])), loop != nil, hot, p.GradOff(c), p.Autocast(c))
		}
	})
	for _, l := range p.Loops {
		s := "loop:"
		for _, f := range []struct {
			on   bool
			name string
		}{{l.Step(), "step"}, {l.Epoch(), "epoch"}, {l.Micro(), "micro"}, {l.EvalLoop(), "eval"}} {
			if f.on {
				s += " " + f.name
			}
		}
		got[line(l.Node)] = s
	}
	for _, fn := range p.Funcs {
		s := "func:"
		for _, f := range []struct {
			on   bool
			name string
		}{{fn.Backward, "backward"}, {fn.Steps, "steps"}, {fn.Hot, "hot"}, {fn.GradOff, "gradoff"}, {fn.Eval, "eval"}} {
			if f.on {
				s += " " + f.name
			}
		}
		l, _ := p.Module.Position(fn.Node.NameSpan.Start)
		got[l] = s
	}
	for i, text := range strings.Split(src, "\n") {
		_, want, ok := strings.Cut(text, "  # ")
		if ok && (strings.HasPrefix(want, "is:") || strings.HasPrefix(want, "loop:") || strings.HasPrefix(want, "func:")) && got[i+1] != strings.TrimSpace(want) {
			t.Errorf("line %d: %s\n got %q\nwant %q", i+1, strings.TrimSpace(text), got[i+1], want)
		}
	}
}
