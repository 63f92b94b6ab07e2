// Package optimizertensorbytensor finds optimizers that update one tensor after the other.
package optimizertensorbytensor

import (
	_ "embed"
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

// Rule is GPU135.
var Rule = &lint.Rule{
	Code:       "GPU135",
	Name:       "optimizer-tensor-by-tensor",
	Severity:   lint.Warning,
	Off:        true, // it is often chosen: foreach takes memory for a copy of the parameters
	Title:      "The optimizer updates one tensor after the other",
	Why:        "with foreach=False each parameter takes its own kernels, some 10 for AdamW, where the default does all of them in a few",
	Cost:       "some 10 launches of 5 to 10 us for each parameter tensor, each step: 15 ms for 150 tensors (derived); foreach takes a temporary copy of the parameters' size, which fused=True does not",
	Misses:     "optimizers of other packages; options that are not constants; foreach=False beside fused=True is the fused form and left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html", "https://docs.pytorch.org/docs/stable/optim.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		q := p.Callee(c)
		e := c.Keyword("foreach")
		if !strings.HasPrefix(q, "torch.optim.") || !lint.IsFalse(e) || p.InTest(c) {
			return
		}
		if f := c.Keyword("fused"); f != nil && !lint.IsFalse(f) {
			return
		}
		p.Report(e, "foreach=False takes kernels of its own for each parameter tensor", lint.Unsafely("use the fused kernels", lint.Edit{Start: nameOf(p, e), End: e.Span().End, Text: "fused=True"}))
	})
}

// nameOf is where the keyword of a value begins.
func nameOf(_ *lint.Pass, e pyast.Expr) int { return e.Parent().Span().Start }
