// Package ddpaccumulateswithoutnosync finds gradient accumulation that exchanges gradients in each part of a step.
package ddpaccumulateswithoutnosync

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

// Rule is GPU125.
var Rule = &lint.Rule{
	Code:       "GPU125",
	Name:       "ddp-accumulates-without-no-sync",
	Severity:   lint.Warning,
	Title:      "DistributedDataParallel exchanges gradients in every part of an accumulated step",
	Why:        "each backward() of the parts sums the gradients of all processes, though only the last one's sum is used",
	Cost:       "an all-reduce of all gradients for each part but the last: 4 bytes a parameter in fp32, 0.5 GB for 124 million parameters, some 10 ms over NVLink and 0.4 s over 10 Gbit/s Ethernet (derived)",
	Of:         lint.Gradients,
	Misses:     "models that are wrapped in another file; FullyShardedDataParallel, where no_sync() costs the memory of whole gradients; engines that accumulate by themselves (Accelerate, DeepSpeed, Lightning)",
	Fix:        lint.NoFix,
	References: []string{"https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	if !wraps(p) || skips(p) {
		return
	}
	p.Backwards(func(c *pyast.Call) {
		l := p.LoopOf(c)
		if l == nil || p.InTest(c) || pyast.Path(c.Func) == "accelerator.backward" {
			return
		}
		if l.Micro() || l.Step() && sometimes(p, l) && lint.Always(p.Guards(c, l.Node)) {
			p.Report(c, "this backward() exchanges gradients in every part of the step: run all but the last part under model.no_sync()")
		}
	})
}

// wraps reports whether the file wraps a model for data parallel training.
func wraps(p *lint.Pass) bool {
	found := false
	p.CallsOf(func(*pyast.Call) { found = true }, "torch.nn.parallel.DistributedDataParallel")
	return found
}

// skips reports whether the file knows how not to exchange.
func skips(p *lint.Pass) bool {
	found := false
	lint.Each(p.Module, func(a *pyast.Attribute) {
		found = found || a.Attr == "no_sync" || a.Attr == "require_backward_grad_sync" || a.Attr == "accumulate"
	})
	return found
}

// sometimes reports whether the loop's optimizer steps every so many rounds
// only.
func sometimes(p *lint.Pass, l *lint.Loop) bool {
	found, each := false, map[string]bool{}
	lint.EachIn(l.Body, func(c *pyast.Call) {
		a, ok := c.Func.(*pyast.Attribute)
		if !ok || a.Attr != "step" || len(c.Args) > 0 && p.Value(a.Value).Kind != lint.Scaler {
			return
		}
		if k := p.Value(a.Value).Kind; k != lint.Optimizer && k != lint.Scaler {
			return
		}
		if guards := p.Guards(c, l.Node); lint.Always(guards) {
			each[pyast.Path(a.Value)] = true
		}
	})
	lint.EachIn(l.Body, func(c *pyast.Call) {
		name, on := p.Method(c)
		if k := p.Value(on).Kind; name != "step" || k != lint.Optimizer && k != lint.Scaler || each[pyast.Path(on)] {
			return
		}
		for _, g := range p.Guards(c, l.Node) {
			found = found || g.Kind == lint.Periodic
		}
	})
	return found
}
