// Package loaderrebuiltinloop finds loaders that are started anew on every step.
package loaderrebuiltinloop

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

// Rule is GPU113.
var Rule = &lint.Rule{
	Code:       "GPU113",
	Name:       "loader-rebuilt-in-loop",
	Severity:   lint.Warning,
	Title:      "The loader is started anew on every step",
	Why:        "each iter() of a loader shuffles, starts its workers and waits for their first batch, all for one batch; and with shuffle off it is the same one each time",
	Cost:       "0.1 to 1 s for each worker to start and import, and the load time of a whole batch, each step (order of size)",
	Misses:     "loaders of other libraries; iterators that are made anew where they end (except StopIteration), or once an epoch, are left alone",
	Fix:        lint.NoFix,
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		if c.Func == nil || !p.EachStep(c) || p.Measures(c) {
			return
		}
		switch {
		case pyast.Path(c.Func) == "iter" && len(c.Args) == 1 && p.Value(c.Args[0]).Kind == lint.Loader && drawn(c):
			p.Report(c, "iter("+p.Text(c.Args[0])+") starts the loader anew on every step, for one batch")
		case p.Callee(c) == "torch.utils.data.DataLoader":
			p.Report(c, "a DataLoader is made on every step")
		}
	})
}

// drawn reports whether the iterator gives one batch and is gone: next(iter(x)).
func drawn(c *pyast.Call) bool {
	n, ok := c.Parent().(*pyast.Call)
	return ok && pyast.Path(n.Func) == "next"
}
