// Package zerogradlate finds gradients that live through the next forward pass.
package zerogradlate

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

// Rule is GPU011.
var Rule = &lint.Rule{
	Code:       "GPU011",
	Name:       "zero-grad-late",
	Severity:   lint.Warning,
	Off:        true, // the style is common, and costs only where the forward pass ends at the peak
	Title:      "The last step's gradients are let go of only after the forward pass",
	Why:        "zero_grad() stands between the forward pass and backward(), so the gradients of the step before are there while the activations grow",
	Cost:       "4 bytes a parameter (2 in 16 bit) more at the end of the forward pass (derived)",
	Of:         lint.Gradients,
	Misses:     "whether the peak is at that point, which is why it is off; gradients that are accumulated over several rounds are left alone",
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html", "https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		l, hot := p.StepOf(c)
		if !hot || l == nil || !l.Steps || p.Value(on).Kind != lint.Optimizer || p.InTest(c) {
			return
		}
		forward, zeroed := false, 0
		lint.EachIn(l.Body, func(o *pyast.Call) {
			forward = forward || p.IsForward(o) && lint.Before(o, c) && p.Value(o).AnyGraph()
			if name, _ := p.Method(o); name == "zero_grad" {
				zeroed++
			}
		})
		backward := false
		p.Backwards(func(b *pyast.Call) {
			backward = backward || lint.Inside(b, l.Node) && lint.Before(b, c)
		})
		if forward && !backward && zeroed == 1 {
			p.Report(c, fmt.Sprintf("%s comes after the forward pass, through which the old gradients lived", p.Text(c.Func)))
		}
	}, "zero_grad")
}
