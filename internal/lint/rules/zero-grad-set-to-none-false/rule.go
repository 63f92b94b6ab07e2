// Package zerogradsettononefalse finds gradients that are zeroed in place each step.
package zerogradsettononefalse

import (
	_ "embed"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU012.
var Rule = &lint.Rule{
	Code:       "GPU012",
	Name:       "zero-grad-set-to-none-false",
	Severity:   lint.Warning,
	Title:      "Gradients are filled with zeros instead of being let go of",
	Why:        "the gradients of the last step stay allocated through the forward pass, and a kernel writes zeros into each of them",
	Cost:       "4 bytes a parameter (2 in 16 bit) through the forward pass, where the activations are growing (derived), and a pass over that memory",
	Of:         lint.Gradients,
	Misses:     "options behind variables; code that reads .grad after zeroing, CUDA graphs, and gradients that other objects share need the zeros and are left alone where the function shows it",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		k := c.Arg(0, "set_to_none")
		v := p.Value(on)
		if k == nil || !lint.IsFalse(k) || v.Kind != lint.Optimizer && v.Kind != lint.Module && v.Kind != lint.Unknown || !training(p, c) {
			return
		}
		p.Report(c, fmt.Sprintf("%s keeps all gradients allocated and fills them with zeros", p.Text(c.Func)), lint.Unsafely("let go of them", lint.Replace(k, "True")))
	}, "zero_grad")
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) { // p.grad.zero_()
		a, ok := on.(*pyast.Attribute)
		if ok && a.Attr == "data" {
			a, ok = a.Value.(*pyast.Attribute) // p.grad.data.zero_()
		}
		if !ok || a.Attr != "grad" || !training(p, c) {
			return
		}
		l := p.LoopOf(c)
		if l == nil || !parameters(p, l.Iter) {
			return
		}
		opts := []lint.Option{}
		if s, ok := c.Parent().(*pyast.ExprStmt); ok {
			opts = append(opts, lint.Unsafely("let go of them", lint.Replace(s, p.Text(a)+" = None")))
		}
		p.Report(c, "all gradients stay allocated and are filled with zeros, one kernel each", opts...)
	}, "zero_")
}

// training reports whether a call is part of a training, and nothing in its
// function needs the zeros.
func training(p *lint.Pass, c *pyast.Call) bool {
	fn := p.FuncOf(c)
	l := p.LoopOf(c)
	if p.InTest(c) || !fn.Backward && !fn.Hot && (l == nil || !l.Backward) {
		return false
	}
	graphs := false
	fn.OwnStmts(func(n pyast.Node) {
		if call, ok := n.(*pyast.Call); ok {
			q := p.Callee(call)
			graphs = graphs || q == "torch.cuda.CUDAGraph" || q == "torch.cuda.graph" || q == "torch.cuda.make_graphed_callables"
		}
	})
	return !graphs
}

// parameters reports whether a loop goes over the parameters of a model.
func parameters(p *lint.Pass, e pyast.Expr) bool {
	c, ok := e.(*pyast.Call)
	if !ok {
		return false
	}
	name, _ := p.Method(c)
	return name == "parameters" || name == "named_parameters"
}
