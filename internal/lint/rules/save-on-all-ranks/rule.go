// Package saveonallranks finds checkpoints that every process of a training writes.
package saveonallranks

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

// Rule is GPU120.
var Rule = &lint.Rule{
	Code:       "GPU120",
	Name:       "save-on-all-ranks",
	Severity:   lint.Warning,
	Title:      "Every process writes the same checkpoint",
	Why:        "all processes of DistributedDataParallel have the same weights; each one writes the whole file, to the same name",
	Cost:       "N times the bytes of the state to disk, with N processes, and a file of mixed parts if they write at once",
	Of:         lint.Weights,
	Misses:     "models that are wrapped in another function; sharded checkpoints, for which every process must save; a rank that is checked in another function",
	Fix:        lint.NoFix,
	References: []string{"https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	wraps := map[*lint.Func]bool{}
	p.CallsOf(func(c *pyast.Call) { wraps[p.FuncOf(c)] = true }, "torch.nn.parallel.DistributedDataParallel")
	p.CallsOf(func(c *pyast.Call) {
		fn := p.FuncOf(c)
		if !wraps[fn] || p.InTest(c) || ranked(p, fn, c) {
			return
		}
		p.Report(c, "every process writes this checkpoint: save in the process of rank 0 only")
	}, "torch.save")
}

// ranked reports whether a call depends on the rank: by a condition around it,
// or by the name that it writes to.
func ranked(p *lint.Pass, fn *lint.Func, c *pyast.Call) bool {
	around := pyast.Node(p.Module)
	if fn.Node != nil {
		around = fn.Node
	}
	for _, g := range p.Guards(c, around) {
		if g.Kind == lint.Rank || strings.Contains(strings.ToLower(p.Text(g.Node)), "rank") || strings.Contains(strings.ToLower(p.Text(g.Node)), "main") ||
			strings.Contains(strings.ToLower(p.Text(g.Node)), "master") || strings.Contains(strings.ToLower(p.Text(g.Node)), "distributed") || strings.Contains(strings.ToLower(p.Text(g.Node)), "save") {
			return true
		}
	}
	return strings.Contains(strings.ToLower(p.Text(c)), "rank")
}
