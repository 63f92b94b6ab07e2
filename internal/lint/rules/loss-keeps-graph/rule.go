// Package losskeepsgraph finds running totals that keep the graph of every step.
package losskeepsgraph

import (
	_ "embed"
	"fmt"
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
		if len(s.Targets) != 1 || s.Value == nil {
			return
		}
		if target := pyast.Path(s.Targets[0]); target != "" {
			for _, value := range added(s.Value, target) {
				check(p, s, s.Targets[0], value)
			}
		}
	})
}

// added lists what a sum adds to a path: of 0.9 * path + 0.1 * x it is 0.1 * x.
// It is empty if the path is no term of the sum.
func added(e pyast.Expr, path string) []pyast.Expr {
	terms := sum(e)
	for i, t := range terms {
		if factor(t, path) {
			return append(append([]pyast.Expr(nil), terms[:i]...), terms[i+1:]...)
		}
	}
	return nil
}

// sum lists the terms of a sum of at least two.
func sum(e pyast.Expr) []pyast.Expr {
	b, ok := e.(*pyast.BinOp)
	if !ok || b.Op != "+" {
		return nil
	}
	left := sum(b.Left)
	if left == nil {
		left = []pyast.Expr{b.Left}
	}
	right := sum(b.Right)
	if right == nil {
		right = []pyast.Expr{b.Right}
	}
	return append(left, right...)
}

// factor reports whether a term is the path, maybe times or by something.
func factor(e pyast.Expr, path string) bool {
	if b, ok := e.(*pyast.BinOp); ok && (b.Op == "*" || b.Op == "/") {
		return factor(b.Left, path) || b.Op == "*" && factor(b.Right, path)
	}
	return pyast.Path(e) == path
}

// check judges "target += value".
func check(p *lint.Pass, s pyast.Stmt, target, value pyast.Expr) {
	v := p.Value(value)
	loop := p.LoopOf(s)
	path := lint.Base(target)
	if !v.HasGraph() || path == "" || p.GradOff(s) {
		return
	}
	opts := []lint.Option{lint.Safely("add the value without its graph", detach(p, value))}
	switch {
	case loop == nil:
		if !hook(p, s, path, value) {
			return
		}
		opts = append(opts, lint.As(lint.Warning))
	case !loop.Step() && !loop.EvalLoop() || !p.OutlivesRound(loop, path) || loop.Func.ReachesBackward(path):
		return
	case loop.EvalLoop():
		opts = append(opts, lint.Cost("all activations of a forward pass, each batch: nothing frees them, because backward() never runs"))
	default:
		opts = append(opts, lint.As(lint.Warning))
	}
	p.Report(s, fmt.Sprintf("%s keeps the autograd graph of every %s", path, p.Text(value)), opts...)
}

// hook reports whether a sum in an attribute is of a function that is a training
// step, whose loss is what is added, and nothing calls backward() on the sum.
func hook(p *lint.Pass, s pyast.Stmt, path string, value pyast.Expr) bool {
	fn := p.FuncOf(s)
	if _, hot := p.StepOf(s); !hot || !strings.HasPrefix(path, "self.") || fn.Name == "forward" || fn.ReachesBackward(path) {
		return false
	}
	if from := pyast.Path(value); fn.Name != "training_step" && (from == "" || !fn.Backwarded(from)) {
		return false
	}
	for _, o := range p.Funcs {
		if o.Class == fn.Class && o.ReachesBackward(path) {
			return false
		}
	}
	return true
}

// detach appends .detach(), with parentheses around what is not one term.
func detach(p *lint.Pass, e pyast.Expr) lint.Edit {
	switch e.(type) {
	case *pyast.Name, *pyast.Attribute, *pyast.Call, *pyast.Subscript:
		return lint.After(e, ".detach()")
	}
	return lint.Replace(e, "("+p.Text(e)+").detach()")
}
