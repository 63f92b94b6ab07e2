// Package findunusedparameters finds DistributedDataParallel that looks for unused parameters.
package findunusedparameters

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

// Rule is GPU126.
var Rule = &lint.Rule{
	Code:       "GPU126",
	Name:       "find-unused-parameters",
	Severity:   lint.Warning,
	Off:        true, // whether the model uses all its parameters cannot be seen
	Title:      "DistributedDataParallel looks for unused parameters on every step",
	Why:        "the graph of each forward pass is walked to find parameters without a gradient, which costs the CPU time between forward and backward; models that use all their parameters do not need it",
	Cost:       "a walk over the graph on the CPU, each step: some ms for a model of some 1000 operations (order of size)",
	Misses:     "whether all parameters are used cannot be seen in the code: models with parts that are left out in some steps need the option",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		if e := c.Keyword("find_unused_parameters"); lint.IsTrue(e) && !p.InTest(c) {
			p.Report(e, "the graph is walked for unused parameters on every step: leave it out if the model uses all of them",
				lint.Unsafely("do not look", lint.Replace(e, "False")))
		}
	}, "torch.nn.parallel.DistributedDataParallel", "lightning.pytorch.strategies.DDPStrategy", "accelerate.DistributedDataParallelKwargs", "accelerate.utils.DistributedDataParallelKwargs")
}
