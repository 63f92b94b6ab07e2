// Package synchronizeeverystep finds training steps that wait for the GPU.
package synchronizeeverystep

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

// Rule is GPU106.
var Rule = &lint.Rule{
	Code:       "GPU106",
	Name:       "synchronize-every-step",
	Severity:   lint.Warning,
	Title:      "synchronize() drains the GPU's queue on every step",
	Why:        "Python may not prepare the next step while the GPU works on this one, so the GPU idles until the first kernels of the next step are launched",
	Cost:       "the launch time of a step's first kernels, 0.1 to 10 ms a step (launch latency times the kernels of a step, derived)",
	Misses:     "waits in functions of other packages; benchmarks and tests, and waits behind a condition that holds only at times, are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/notes/cuda.html", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		if !p.EachStep(c) || p.InTest(c) {
			return
		}
		var opts []lint.Option
		if s, ok := c.Parent().(*pyast.ExprStmt); ok {
			opts = append(opts, lint.Unsafely("do not wait", p.DeleteStmt(s)))
		}
		p.Report(c, "the GPU's queue is drained on every step", opts...)
	}, "torch.cuda.synchronize", "torch.mps.synchronize", "torch.xpu.synchronize", "torch.npu.synchronize", "torch.accelerator.synchronize")
}
