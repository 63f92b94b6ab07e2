// Package unusedfrozenparamsinoptimizer finds optimizers and gradient buckets that hold memory for frozen parameters.
package unusedfrozenparamsinoptimizer

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

// Rule is GPU022.
var Rule = &lint.Rule{
	Code:       "GPU022",
	Name:       "unused-frozen-params-in-optimizer",
	Severity:   lint.Warning,
	Title:      "Memory is held for parameters that are frozen",
	Why:        "Adagrad makes its sums for all parameters when it is built, L-BFGS keeps its history over all of them, and DistributedDataParallel makes gradient buckets of what needs gradients when it wraps; other optimizers make no state for a parameter without a gradient",
	Cost:       "4 bytes a frozen parameter for Adagrad (torch/optim/adagrad.py, __init__) and for the buckets of DistributedDataParallel; for L-BFGS 8 bytes times its history_size, by default 100 (torch/optim/lbfgs.py, _gather_flat_grad)",
	Misses:     "parameters that are frozen in another file or by a name that is computed; Adam, SGD and the like, for which frozen parameters cost nothing",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/generated/torch.optim.Adagrad.html", "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		params, ok := c.Arg(0, "params").(*pyast.Call)
		if !ok || len(params.Args) > 0 {
			return
		}
		name, of := p.Method(params)
		if name != "parameters" || p.InTest(c) {
			return
		}
		for _, frozen := range frozenParts(p, pyast.Path(of), c) {
			p.Report(c, fmt.Sprintf("%s keeps state for all of %s, and %s is frozen", p.Text(c.Func), p.Text(of), p.Text(frozen)),
				lint.See(frozen, "frozen here"), lint.Unsafely("give it only what is trained",
					lint.Replace(params, fmt.Sprintf("[p for p in %s if p.requires_grad]", p.Text(params)))))
			return
		}
	}, "torch.optim.Adagrad", "torch.optim.LBFGS")
	p.CallsOf(func(c *pyast.Call) { wrapped(p, c) }, "torch.nn.parallel.DistributedDataParallel")
}

// frozenParts lists where the model at a path, or a part of it, is frozen before
// n: path.part.requires_grad_(False), and loops over its parameters.
func frozenParts(p *lint.Pass, path string, n pyast.Node) []pyast.Node {
	return frozen(p, path, func(at pyast.Node) bool {
		return p.FuncOf(at) == p.FuncOf(n) && lint.Before(at, n) && !lint.Exclusive(at, n)
	})
}

func frozen(p *lint.Pass, path string, holds func(pyast.Node) bool) []pyast.Node {
	if path == "" {
		return nil
	}
	var out []pyast.Node
	of := func(e pyast.Expr) bool { q := pyast.Path(e); return q == path || strings.HasPrefix(q, path+".") }
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		if len(c.Args) == 1 && lint.IsFalse(c.Args[0]) && of(on) && holds(c) {
			out = append(out, c)
		}
	}, "requires_grad_")
	lint.Each(p.Module, func(l *pyast.For) {
		c, ok := l.Iter.(*pyast.Call)
		if !ok {
			return
		}
		if name, on := p.Method(c); (name == "parameters" || name == "named_parameters") && of(on) && holds(l) && switchesOff(p, l) {
			out = append(out, l.Target)
		}
	})
	return out
}

// switchesOff reports whether a loop sets requires_grad to False.
func switchesOff(p *lint.Pass, l *pyast.For) bool {
	found := false
	lint.EachIn(l.Body, func(a *pyast.Assign) {
		for _, t := range a.Targets {
			at, ok := t.(*pyast.Attribute)
			found = found || ok && at.Attr == "requires_grad" && lint.IsFalse(a.Value)
		}
	})
	lint.EachIn(l.Body, func(c *pyast.Call) {
		name, _ := p.Method(c)
		found = found || name == "requires_grad_" && len(c.Args) == 1 && lint.IsFalse(c.Args[0])
	})
	return found
}

// wrapped reports what is frozen after DistributedDataParallel has made buckets
// for it.
func wrapped(p *lint.Pass, c *pyast.Call) {
	s, ok := pyast.StmtOf(c).(*pyast.Assign)
	if !ok || len(s.Targets) != 1 || s.Value != pyast.Expr(c) || p.InTest(c) {
		return
	}
	path := pyast.Path(s.Targets[0])
	for _, at := range frozen(p, path, func(at pyast.Node) bool {
		return p.FuncOf(at) == p.FuncOf(c) && lint.Before(c, at) && !lint.Exclusive(c, at) && p.LoopOf(at) == p.LoopOf(c)
	}) {
		p.Report(at, fmt.Sprintf("%s is frozen after DistributedDataParallel made gradient buckets for it: freeze first", path), lint.See(c, "wrapped here"))
	}
}
