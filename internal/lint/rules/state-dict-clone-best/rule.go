// Package statedictclonebest finds copies of the weights that stay on the GPU.
package statedictclonebest

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

// Rule is GPU014.
var Rule = &lint.Rule{
	Code:       "GPU014",
	Name:       "state-dict-clone-best",
	Severity:   lint.Warning,
	Title:      "A copy of the best weights is kept on the GPU",
	Why:        "the copy lies where the weights are, and it stays there beside gradients, optimizer state and activations until the training ends",
	Cost:       "4 bytes a parameter, 2 in 16 bit, from the first improvement on (derived)",
	Of:         lint.Weights,
	Misses:     "copies that functions of other files make; copies that go to the CPU or into a file are left alone",
	References: []string{"https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html", "https://docs.pytorch.org/docs/stable/notes/faq.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		if len(c.Args) != 1 {
			return
		}
		inner, ok := c.Args[0].(*pyast.Call)
		if !ok {
			return
		}
		name, on := p.Method(inner)
		if name == "state_dict" && (p.Value(on).Kind == lint.Module || p.Value(on).Kind == lint.Unknown) && p.Value(on).Place != lint.CPU && kept(p, c) {
			p.Report(c, fmt.Sprintf("a copy of %s stays on the GPU", p.Text(inner)))
		}
	}, "copy.deepcopy")
	lint.Each(p.Module, func(c *pyast.Comp) { // {k: v.clone() for k, v in model.state_dict().items()}
		if c.Key == nil || len(c.Clauses) != 1 || !clones(p, c.Elt) || !strings.Contains(p.Text(c.Clauses[0].Iter), ".state_dict()") {
			return
		}
		if kept(p, c) {
			p.Report(c, "a copy of the weights stays on the GPU")
		}
	})
}

// clones reports whether an element is v.clone(), maybe detached, and not moved.
func clones(p *lint.Pass, e pyast.Expr) bool {
	text := p.Text(e)
	return strings.Contains(text, ".clone()") && !strings.Contains(text, ".cpu()") && !strings.Contains(text, ".to(")
}

// kept reports whether a copy is made in a training loop on the GPU and bound to
// a name that outlives the round.
func kept(p *lint.Pass, n pyast.Node) bool {
	l := p.LoopOf(n)
	a, ok := pyast.StmtOf(n).(*pyast.Assign)
	if l == nil || !ok || p.InTest(n) || a.Value != n.(pyast.Expr) || !onGPU(p) {
		return false
	}
	trains := false
	for o := l; o != nil; o = o.Outer {
		trains = trains || o.Backward || o.Steps
	}
	path := lint.Base(a.Targets[0])
	return trains && path != "" && (p.OutlivesRound(l, path) || l.Func.UsedAfter(path, l.Node))
}

// onGPU reports whether the file puts anything on a GPU.
func onGPU(p *lint.Pass) bool {
	found := false
	p.MethodCalls(func(c *pyast.Call, _ pyast.Expr) {
		name, _ := p.Method(c)
		found = found || name == "cuda" || len(c.Args) > 0 && p.Value(c.Args[0]).Place == lint.GPU
	}, "cuda", "to")
	return found || p.Uses("accelerate")
}
