// Package frozenmoduleingraph finds forward passes whose graph is thrown away at once.
package frozenmoduleingraph

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU023.
var Rule = &lint.Rule{
	Code:       "GPU023",
	Name:       "frozen-module-in-graph",
	Severity:   lint.Warning,
	Title:      "A model runs with gradients on, and its result is detached at once",
	Why:        "the forward pass saves its activations, although detach() throws the graph away: they are there until the result is detached, at the peak of that pass",
	Cost:       "the activations of that model's forward pass, for the time of the pass (derived), and the time to save them",
	Misses:     "teachers whose result is used with its graph; models whose parameters are all frozen save nothing and are left alone",
	References: []string{"https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disable-grad-doc", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(d *pyast.Call, on pyast.Expr) {
		c := forward(p, on)
		if c == nil || !p.GradOn(c) || !p.Value(c).HasGraph() || p.InTest(c) {
			return
		}
		v := p.Value(c.Func)
		if _, hot := p.StepOf(c); !hot || v.Frozen || strings.HasPrefix(v.Class, "torch.nn.") || p.Freezes(c.Func) {
			return
		}
		if fn := p.FuncOf(c); fn.Class != nil && fn.Name == "forward" {
			return
		}
		p.Report(c, fmt.Sprintf("%s saves its activations, and %s throws them away", p.Text(c.Func), d.Func.(*pyast.Attribute).Attr+"()"))
	}, "detach")
}

// forward is the forward pass behind what is detached, through methods and parts
// of its result: target(x).max(1)[0].detach(); nil if there is none.
func forward(p *lint.Pass, e pyast.Expr) *pyast.Call {
	for range 6 {
		switch n := e.(type) {
		case *pyast.Call:
			if p.IsForward(n) {
				return n
			}
			_, e = p.Method(n)
		case *pyast.Subscript:
			e = n.Value
		case *pyast.Attribute:
			e = n.Value
		default:
			return nil
		}
	}
	return nil
}
