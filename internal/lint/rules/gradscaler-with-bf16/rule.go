// Package gradscalerwithbf16 finds gradients that are scaled for a type that does not need it.
package gradscalerwithbf16

import (
	_ "embed"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU128.
var Rule = &lint.Rule{
	Code:       "GPU128",
	Name:       "gradscaler-with-bf16",
	Severity:   lint.Warning,
	Title:      "A GradScaler scales the loss of a bfloat16 forward pass",
	Why:        "bfloat16 has the range of fp32, so gradients do not vanish and need no scale; the scaler multiplies all gradients and checks them for infinities, and waits for the answer before each optimizer step",
	Cost:       "a pass over all gradients (4 bytes a parameter read and written) and a wait for the GPU, each step (derived)",
	Misses:     "scalers whose enabled= is not a constant; types that are chosen at run time",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/amp.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	var bf16, other *pyast.Call
	p.CallsOf(func(c *pyast.Call) {
		e := c.Keyword("dtype")
		if e == nil {
			e = c.Arg(1, "dtype")
		}
		switch {
		case lint.IsFalse(c.Keyword("enabled")):
		case e != nil && p.Qual(e) == "torch.bfloat16":
			bf16 = c
		default:
			other = c
		}
	}, "torch.amp.autocast")
	if bf16 == nil || other != nil {
		return
	}
	p.CallsOf(func(c *pyast.Call) {
		if c.Keyword("enabled") == nil && !p.InTest(c) {
			p.Report(c, "this scaler has nothing to do: the forward pass is in bfloat16", lint.See(bf16, "the forward pass"),
				lint.Unsafely("switch it off", p.SetArg(c, "enabled", "False")))
		}
	}, "torch.amp.GradScaler")
}
