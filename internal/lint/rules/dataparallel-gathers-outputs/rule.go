// Package dataparallelgathersoutputs finds DataParallel models whose loss is computed on one GPU.
package dataparallelgathersoutputs

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

// Rule is GPU124.
var Rule = &lint.Rule{
	Code:       "GPU124",
	Name:       "dataparallel-gathers-outputs",
	Severity:   lint.Warning,
	Title:      "DataParallel collects all outputs on GPU 0 and computes the loss there",
	Why:        "the outputs of all GPUs are copied to the first one, which holds them with the loss and its gradient beside its own share, so it runs out of memory first and the others wait for it",
	Cost:       "the outputs of the whole batch on GPU 0 instead of one GPU's share: with N GPUs N times the output, its gradient and what the loss keeps; for logits of B samples and C classes in fp32 2 * 4 * B * C bytes at least (derived)",
	Misses:     "models that are wrapped in one file and trained in another; wrapped modules that compute their loss themselves, losses that come with the output (outputs.loss), and models that are only evaluated are left alone",
	Fix:        lint.NoFix,
	References: []string{"facebookresearch/DeepSDF#20", "DeepMotionAIResearch/DenseMatchingBenchmark#10", "https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	var loss *pyast.Call
	looked := false
	p.CallsOf(func(c *pyast.Call) {
		module := c.Arg(0, "module")
		if module == nil || p.InTest(c) || oneGPU(c) || givesLoss(p, module) {
			return
		}
		if !looked {
			loss, looked = outside(p), true
		}
		if loss != nil {
			p.Report(c, "DataParallel gathers the outputs of all GPUs on the first, and the loss is computed there: compute it in the module's forward(), or use DistributedDataParallel",
				lint.See(loss, "the loss of the gathered outputs"))
		}
	}, "torch.nn.parallel.DataParallel")
}

// oneGPU reports whether a model is wrapped for one GPU, to give its names a
// prefix.
func oneGPU(c *pyast.Call) bool {
	ids, ok := c.Arg(1, "device_ids").(*pyast.List)
	return ok && len(ids.Elts) == 1
}

// givesLoss reports whether what is wrapped computes its loss in forward().
func givesLoss(p *lint.Pass, module pyast.Expr) bool {
	v := p.Value(module)
	if v.Kind == lint.Criterion {
		return true
	}
	class := v.Class
	if class == "" {
		if c, ok := module.(*pyast.Call); ok {
			class = p.Callee(c)
		}
	}
	r := p.Project().Returns(class + ".forward")
	return strings.HasPrefix(class, ".") && (r.Loss || len(r.Items) > 0 && anyLoss(r.Items))
}

func anyLoss(items []lint.Value) bool {
	for _, v := range items {
		if v.Loss {
			return true
		}
	}
	return false
}

// outside is a loss of a model's output that a training step computes, or nil.
func outside(p *lint.Pass) *pyast.Call {
	var found *pyast.Call
	p.Calls(func(c *pyast.Call) {
		if found != nil || !isLoss(p, c) || len(c.Args)+len(c.Keywords) == 0 {
			return
		}
		fn := p.FuncOf(c)
		if fn.Class != nil && fn.Name == "forward" || !trains(p, c, fn) {
			return
		}
		v := p.Value(c)
		if v.Kind == lint.Tensor && v.Grad == lint.Yes {
			found = c
		}
	})
	return found
}

// isLoss reports whether a call computes a loss from outputs.
func isLoss(p *lint.Pass, c *pyast.Call) bool {
	q := p.Callee(c)
	if strings.HasPrefix(q, "torch.nn.functional.") {
		return strings.Contains(q, "loss") || strings.HasSuffix(q, "cross_entropy") || strings.HasSuffix(q, "kl_div") || strings.HasSuffix(q, "cross_entropy_with_logits")
	}
	if p.Value(c.Func).Kind == lint.Criterion {
		return true
	}
	return strings.Contains(strings.ToLower(pyast.Path(c.Func)), "loss") && p.Value(c).Loss && !p.IsForward(c)
}

func trains(p *lint.Pass, c *pyast.Call, fn *lint.Func) bool {
	for l := p.LoopOf(c); l != nil; l = l.Outer {
		if l.Backward {
			return true
		}
	}
	return fn.Node != nil && fn.Backward
}
