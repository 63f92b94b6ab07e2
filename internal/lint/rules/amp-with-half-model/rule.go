// Package ampwithhalfmodel finds models in fp16 under a gradient scaler.
package ampwithhalfmodel

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

// Rule is GPU034.
var Rule = &lint.Rule{
	Code:       "GPU034",
	Name:       "amp-with-half-model",
	Severity:   lint.Error,
	Title:      "A model in fp16 is trained with a gradient scaler",
	Why:        "the scaler divides the gradients by the scale in fp32 precision and refuses those in fp16 (Attempting to unscale FP16 gradients); autocast needs the weights in fp32, and keeps the 16-bit copies itself",
	Cost:       "the run ends at the first unscale; with bf16 weights, which need no scaler, 4 bytes a parameter of update precision are given up instead",
	Misses:     "models whose precision is behind a variable, and models that are loaded in fp16",
	References: []string{"https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling", "huggingface/transformers#23165", "pytorch/pytorch#74739"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	scaled := map[*lint.Func]*pyast.Call{}
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		if p.Value(on).Kind == lint.Scaler && !p.InTest(c) {
			scaled[p.FuncOf(c)] = c
		}
	}, "scale")
	if len(scaled) == 0 {
		return
	}
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		scale := scaled[p.FuncOf(c)]
		if scale == nil || p.Value(on).Kind != lint.Module || !half(p, c) || lint.Exclusive(c, scale) || p.LoopOf(c) != nil {
			return
		}
		if fn := p.FuncOf(c); !trains(p, fn, pyast.Path(root(p, on))) || p.Freezes(root(p, on)) || behind(p, c) {
			return
		}
		p.Report(c, fmt.Sprintf("%s has its weights in fp16, and the gradient scaler refuses gradients in fp16", p.Text(on)), lint.See(scale, "the scaler is used here"))
	}, "half", "to")
}

// root is the model in model.cuda().train() and the like.
func root(p *lint.Pass, e pyast.Expr) pyast.Expr {
	for {
		c, ok := e.(*pyast.Call)
		if !ok {
			return e
		}
		name, on := p.Method(c)
		if name != "cuda" && name != "to" && name != "train" {
			return e
		}
		e = on
	}
}

// half reports whether a call changes a model to fp16, as a statement or in an
// assignment to the model's own name.
func half(p *lint.Pass, c *pyast.Call) bool {
	name, on := p.Method(c)
	if name == "to" {
		k := c.Arg(0, "dtype")
		if len(c.Args) > 1 {
			k = c.Args[1]
		}
		if k == nil || p.Qual(k) != "torch.float16" && p.Qual(k) != "torch.half" {
			return false
		}
	}
	switch s := pyast.StmtOf(c).(type) {
	case *pyast.ExprStmt:
		return true
	case *pyast.Assign:
		return len(s.Targets) == 1 && pyast.Path(s.Targets[0]) == pyast.Path(root(p, on))
	}
	return false
}

// trains reports whether the function gives a model's parameters to an optimizer,
// or runs the model for a loss that backward() is called on.
func trains(p *lint.Pass, fn *lint.Func, model string) bool {
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		c, ok := n.(*pyast.Call)
		if ok && p.IsForward(c) && pyast.Path(c.Func) == model {
			found = found || fn.ReachesBackward(model)
		}
		if !ok || p.Value(c).Kind != lint.Optimizer {
			return
		}
		for _, a := range c.Args {
			if m, ok := a.(*pyast.Call); ok {
				if name, on := p.Method(m); name == "parameters" && pyast.Path(on) == model {
					found = true
				}
			}
		}
	})
	return found
}

// behind reports whether a call is behind a condition: a setting that may
// exclude the scaler.
func behind(p *lint.Pass, c *pyast.Call) bool {
	fn := p.FuncOf(c)
	if fn.Node != nil {
		return len(p.Guards(c, fn.Node)) > 0
	}
	return len(p.Guards(c, p.Module)) > 0
}
