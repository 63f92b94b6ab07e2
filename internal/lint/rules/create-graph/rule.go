// Package creategraph finds graphs of gradients that nothing uses.
package creategraph

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

// Rule is GPU007.
var Rule = &lint.Rule{
	Code:       "GPU007",
	Name:       "create-graph",
	Severity:   lint.Warning,
	Title:      "backward(create_graph=True) builds a graph of the gradients, and nothing differentiates it",
	Why:        "the backward pass records itself, so the saved tensors of the forward pass and of the backward pass stay, and gradients refer to the parameters that refer to them",
	Cost:       "about the activations of one more pass, and a leak where the cycle of parameter and gradient is not broken (PyTorch warns of it)",
	Misses:     "options behind variables, as optimizers of second order set them; functions that use gradients after the pass are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html", "https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Backwards(func(c *pyast.Call) {
		k := c.Keyword("create_graph")
		if k == nil || !lint.IsTrue(k) || p.InTest(c) || usesGrad(p, c) {
			return
		}
		if l, hot := p.StepOf(c); !hot && l == nil {
			return
		}
		p.Report(c, fmt.Sprintf("%s records a graph of the gradients, and nothing differentiates them", p.Text(c.Func)), lint.Unsafely("do not record it", lint.Replace(k, "False")))
	})
}

// usesGrad reports whether the function, or the file by an optimizer of second
// order, needs gradients of gradients.
func usesGrad(p *lint.Pass, c *pyast.Call) bool {
	fn := p.FuncOf(c)
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		switch n := n.(type) {
		case *pyast.Attribute:
			found = found || n.Attr == "grad" && !n.Store && p.Qual(n) == ""
		case *pyast.Call:
			name, _ := p.Method(n)
			found = found || n != c && lint.Before(c, n) && (name == "backward" || p.Callee(n) == "torch.autograd.grad")
			lower := strings.ToLower(pyast.Path(n.Func))
			found = found || strings.Contains(lower, "hessian") || strings.Contains(lower, "sophia") || strings.Contains(lower, "sam")
		}
	})
	return found || strings.Contains(strings.ToLower(string(p.Module.Source)), "hessian")
}
