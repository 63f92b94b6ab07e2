// Package losskeepsgraph finds running totals that keep the graph of every step.
package losskeepsgraph

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

// Rule is GPU001.
var Rule = &lint.Rule{
	Code:     "GPU001",
	Name:     "loss-keeps-graph",
	Severity: lint.Error,
	Title:    "A running total of losses keeps every step's autograd graph",
	Why: "the total is computed from each loss with its history, so no step's graph can be freed while the total lives; " +
		"in an evaluation with gradients on that is every activation of every batch",
	Cost: "after backward() about 6 KB of host memory and one 512 B block on the GPU each step (measured, PyTorch 1.13); " +
		"without it the activations of a whole forward pass each step",
	Misses: "totals that are kept in objects of other classes (meter.update(loss)); losses of functions that are not in the project " +
		"and whose result is not called a loss; totals that backward() is called on are meant to keep their graphs",
	Fix:        lint.SafeFix,
	References: []string{"ray-project/ray#40984", "JIA-Lab-research/DecoupleNet#3", "google/brax#152", "https://docs.pytorch.org/docs/stable/notes/faq.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	lint.Each(p.Module, func(s *pyast.AugAssign) {
		if s.Op == "+" {
			check(p, s, s.Target, s.Value)
		}
	})
	lint.Each(p.Module, func(s *pyast.Assign) { // total = total + loss
		sum, ok := s.Value.(*pyast.BinOp)
		if !ok || sum.Op != "+" || len(s.Targets) != 1 {
			return
		}
		target := pyast.Path(s.Targets[0])
		switch {
		case target == "":
		case pyast.Path(sum.Left) == target:
			check(p, s, s.Targets[0], sum.Right)
		case pyast.Path(sum.Right) == target:
			check(p, s, s.Targets[0], sum.Left)
		}
	})
}

// check judges "target += value".
func check(p *lint.Pass, s pyast.Stmt, target, value pyast.Expr) {
	v := p.Value(value)
	loop := p.LoopOf(s)
	path := lint.Base(target)
	if !v.HasGraph() || loop == nil || path == "" || p.GradOff(s) {
		return
	}
	if !loop.Step() && !loop.EvalLoop() || !p.OutlivesRound(loop, path) || loop.Func.ReachesBackward(path) {
		return
	}
	opts := []lint.Option{lint.Safely("add the value without its graph", detach(p, value))}
	if loop.EvalLoop() {
		opts = append(opts, lint.Cost("all activations of a forward pass, each batch: nothing frees them, because backward() never runs"))
	} else {
		opts = append(opts, lint.As(lint.Warning))
	}
	p.Report(s, fmt.Sprintf("%s keeps the autograd graph of every %s", path, p.Text(value)), opts...)
}

// detach appends .detach(), with parentheses around what is not one term.
func detach(p *lint.Pass, e pyast.Expr) lint.Edit {
	switch e.(type) {
	case *pyast.Name, *pyast.Attribute, *pyast.Call, *pyast.Subscript:
		return lint.After(e, ".detach()")
	}
	return lint.Replace(e, "("+p.Text(e)+").detach()")
}
