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
	Title:    "A running total or a list of losses keeps every step's autograd graph",
	Why: "the total is computed from each loss with its history, and a list holds each with it, so no step's graph can be freed while they live; " +
		"in an evaluation with gradients on that is every activation of every batch",
	Cost: "after backward() about 6 KB of host memory and one 512 B block on the GPU each step (measured, PyTorch 1.13); " +
		"without it the activations of a whole forward pass each step",
	Misses: "totals that are kept by classes of other files (meter.update(loss)); losses of functions that are not in the project " +
		"and whose result is not called a loss; totals that backward() is called on are meant to keep their graphs",
	Fix:        lint.SafeFix,
	References: []string{"ray-project/ray#40984", "JIA-Lab-research/DecoupleNet#3", "google/brax#152", "https://docs.pytorch.org/docs/stable/notes/faq.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Appends(func(at pyast.Node, path string, value pyast.Expr) { appended(p, at, path, value) })
	p.Calls(func(c *pyast.Call) { metered(p, c) })
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

// appended judges losses.append(loss), and the like.
func appended(p *lint.Pass, at pyast.Node, path string, value pyast.Expr) {
	v := p.Value(value)
	if !v.HasGraph() || !v.Loss || p.GradOff(at) || p.InTest(at) {
		return
	}
	opts := []lint.Option{lint.Unsafely("keep the value without its graph", detach(p, value))}
	l := p.LoopOf(at)
	switch {
	case l == nil:
		if !hook(p, pyast.StmtOf(at), path, value) {
			return
		}
		opts = append(opts, lint.As(lint.Warning))
	case !p.OutlivesRound(l, path) || l.Func.ReachesBackward(path) || l.Empties(path):
		return
	case l.EvalLoop() && l.Over.Kind == lint.Loader && !l.Func.Backward:
		opts = append(opts, lint.Cost("all activations of a forward pass, each batch: nothing frees them, because backward() never runs"), lint.Of(lint.Activations))
	case l.Step() && pyast.Path(value) != "" && l.Func.Backwarded(pyast.Path(value)):
		opts = append(opts, lint.As(lint.Warning))
	default:
		return
	}
	p.Report(at, fmt.Sprintf("%s keeps the autograd graph of every %s", path, p.Text(value)), opts...)
}

// metered judges meter.update(loss), where the class of the meter is in this
// file and its method adds what it gets to an attribute.
func metered(p *lint.Pass, c *pyast.Call) {
	fn := method(p, c)
	if fn == nil || p.GradOff(c) || p.InTest(c) || !p.EachBatch(c) {
		return
	}
	params := fn.Node.Params[1:]
	for i, arg := range c.Args {
		v := p.Value(arg)
		if i >= len(params) || !v.HasGraph() || !v.Loss {
			continue
		}
		if kept := sums(p, fn, params[i].Name); kept != nil {
			p.Report(c, fmt.Sprintf("%s keeps the autograd graph of every %s", p.Text(c.Func), p.Text(arg)), lint.As(lint.Warning),
				lint.See(kept, "it is added up here"), lint.Safely("give it the value without its graph", detach(p, arg)))
			return
		}
	}
}

// method is the method of a class of this file that a call on another object
// runs, or nil.
func method(p *lint.Pass, c *pyast.Call) *lint.Func {
	name, on := p.Method(c)
	if on == nil || pyast.Path(on) == "self" {
		return nil
	}
	class := p.ClassNamed(p.Value(on).Class)
	if class == nil || class.Methods[name] == nil {
		return nil
	}
	fn := class.Methods[name]
	if fn.Node == nil || len(fn.Node.Params) < 2 || fn.Node.Params[0].Name != "self" || fn.Forward || fn.Backward || fn.GradOff {
		return nil
	}
	return fn
}

// sums is where a method adds a parameter, as it is or times something, to an
// attribute; nil if it does not, or takes the number out of it before.
func sums(p *lint.Pass, fn *lint.Func, param string) pyast.Node {
	var found pyast.Node
	fn.OwnStmts(func(n pyast.Node) {
		s, ok := n.(*pyast.AugAssign)
		if !ok || s.Op != "+" || !strings.HasPrefix(lint.Base(s.Target), "self.") || p.GradOff(s) || found != nil {
			return
		}
		if factor(s.Value, param) && fn.StoreBefore(param, s) == nil {
			found = s
		}
	})
	return found
}

// added lists what a sum adds to a path: of 0.9 * path + 0.1 * x it is 0.1 * x.
// It is empty if the path is no term of the sum.
func added(e pyast.Expr, path string) []pyast.Expr {
	if choice, ok := e.(*pyast.IfExp); ok { // x if path is None else 0.9 * path + 0.1 * x
		return append(added(choice.Body, path), added(choice.Else, path)...)
	}
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
	loop := around(p, s)
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
		opts = append(opts, lint.Cost("all activations of a forward pass, each batch: nothing frees them, because backward() never runs"), lint.Of(lint.Activations))
	default:
		opts = append(opts, lint.As(lint.Warning))
	}
	p.Report(s, fmt.Sprintf("%s keeps the autograd graph of every %s", path, p.Text(value)), opts...)
}

// around is the loop whose rounds a sum is made in: a step or an evaluation,
// beyond loops over the parts of one; else the innermost.
func around(p *lint.Pass, s pyast.Stmt) *lint.Loop {
	for l := p.LoopOf(s); l != nil && !l.Epoch(); l = l.Outer {
		if l.Step() || l.EvalLoop() {
			return l
		}
	}
	return p.LoopOf(s)
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
