// Package barriereverystep finds training steps in which all processes wait for each other.
package barriereverystep

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

// Rule is GPU143.
var Rule = &lint.Rule{
	Code:       "GPU143",
	Name:       "barrier-every-step",
	Severity:   lint.Warning,
	Title:      "All processes wait for each other on every step",
	Why:        "a barrier waits for the slowest process and, with NCCL, for the GPU; the all-reduce of the gradients already keeps the processes together",
	Cost:       "the launch time of a step's first kernels, and the difference between the fastest and the slowest process, each step (0.1 to 10 ms, derived)",
	Misses:     "barriers in functions of other packages; barriers behind a condition that holds only at times, or between epochs, are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/distributed.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		name, on := p.Method(c)
		waits := p.Callee(c) == "torch.distributed.barrier" || name == "wait_for_everyone" && p.Value(on).Kind == lint.Accelerator
		if !waits || !p.EachStep(c) || p.Measures(c) {
			return
		}
		var opts []lint.Option
		if s, ok := c.Parent().(*pyast.ExprStmt); ok {
			opts = append(opts, lint.Unsafely("do not wait", p.DeleteStmt(s)))
		}
		p.Report(c, "all processes wait for each other on every step", opts...)
	})
}
