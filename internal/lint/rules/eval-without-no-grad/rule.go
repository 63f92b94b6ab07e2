// Package evalwithoutnograd finds evaluations that record what only a backward
// pass needs.
package evalwithoutnograd

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

// Rule is GPU004.
var Rule = &lint.Rule{
	Code:     "GPU004",
	Name:     "eval-without-no-grad",
	Severity: lint.Error,
	Title:    "A model is evaluated with gradients on",
	Why: "each forward pass keeps its activations for a backward pass that never comes, until its outputs are overwritten; " +
		"model.eval() changes dropout and batch norm, not this",
	Cost: "the saved activations of one forward pass, often most of the memory of training, and the next batch's beside them while the outputs live: " +
		"131,072 bytes a batch of 64 for an MLP of width 256 (measured, PyTorch 1.13)",
	Of: lint.Activations,
	Misses: "evaluations that are not in a loop over a loader, a comprehension, or a function named after evaluating; " +
		"whether a caller outside the project switches gradients off; evaluations that compute gradients (attacks, saliency) are left alone",
	Fix:        lint.SafeFix,
	References: []string{"skorch-dev/skorch#218", "dmlc/dgl#745", "chrischoy/FCGF#15", "https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disable-grad-doc"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	if (p.Uses("jax") || p.Uses("flax")) && !p.Uses("torch") {
		return // gradients are asked for there
	}
	seen := map[pyast.Node]bool{}
	p.Calls(func(c *pyast.Call) {
		if p.InTest(c) || !p.GradOn(c) || !recorded(p, c) {
			return
		}
		at, around := where(p, c)
		if around == nil || seen[around] {
			return
		}
		fn := p.FuncOf(around)
		if needsGrad(p, fn, around) || used(p, c) || p.Freezes(c.Func) {
			return
		}
		seen[around] = true
		p.Report(at, fmt.Sprintf("%s runs with gradients on in an evaluation", p.Text(c.Func)), fix(p, fn)...)
	})
}

// recorded reports whether a call runs a model in a way that keeps activations:
// not of frozen parameters and inputs without gradients.
func recorded(p *lint.Pass, c *pyast.Call) bool {
	if class := p.Value(c.Func).Class; !p.IsForward(c) || stateless(class) || bare(p, class) || draw(c) {
		return false
	}
	v := p.Value(c)
	return v.AnyGraph() || v.Kind == lint.Tensor && v.Grad == lint.Maybe
}

// stateless reports whether a class is a layer without parameters.
func stateless(class string) bool {
	name, ok := strings.CutPrefix(class, "torch.nn.")
	if !ok {
		return strings.HasPrefix(class, "torchvision.transforms.") || strings.HasPrefix(class, "kornia.")
	}
	for _, w := range []string{"Softmax", "LogSoftmax", "Sigmoid", "Tanh", "ReLU", "Upsample", "Pool", "Flatten", "Identity", "Pad", "Similarity", "Unfold", "Fold", "PixelShuffle", "Distance"} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

// bare reports whether a class of this file is a module without parameters or
// modules of its own, as far as it assigns any.
func bare(p *lint.Pass, name string) bool {
	class := p.ClassNamed(name)
	if class == nil || class.Methods["__init__"] == nil || len(class.Bases) != 1 || class.Bases[0] != "torch.nn.Module" {
		return false
	}
	holds := false
	for _, fn := range class.Methods {
		fn.OwnStmts(func(n pyast.Node) {
			s, ok := n.(*pyast.Assign)
			if !ok || s.Value == nil || !strings.HasPrefix(pyast.Path(s.Targets[0]), "self.") {
				return
			}
			c, built := s.Value.(*pyast.Call)
			built = built && p.Resolve(c.Func) == nil // not by a function of this file
			v := p.Value(s.Value)
			holds = holds || !plain(v) && (v.Kind != lint.Unknown || built)
		})
	}
	return !holds
}

// plain reports whether a value is of numbers and tensors without gradients.
func plain(v lint.Value) bool {
	switch v.Kind {
	case lint.Number, lint.Array:
		return true
	case lint.Tensor:
		return v.Grad == lint.No
	case lint.ListKind:
		return v.Elem == nil || plain(*v.Elem)
	}
	return false
}

// draw reports whether a call only says how many of something it wants: no model
// reads that.
func draw(c *pyast.Call) bool {
	for _, k := range c.Keywords {
		if k.Name != "batch_size" && k.Name != "num_samples" && k.Name != "n" {
			return false
		}
	}
	return len(c.Args) == 0 && len(c.Keywords) > 0
}

// where is the place to report a forward pass at, and the loop or comprehension
// of the evaluation that it is in.
func where(p *lint.Pass, c *pyast.Call) (at, around pyast.Node) {
	for n := c.Parent(); n != nil; n = n.Parent() {
		if comp, ok := n.(*pyast.Comp); ok {
			if p.Value(comp.Clauses[0].Iter).Kind == lint.Loader && !p.FuncOf(c).Backward {
				return c, comp
			}
			break
		}
		if _, ok := n.(pyast.Stmt); ok {
			break
		}
	}
	for l := p.LoopOf(c); l != nil; l = l.Outer {
		if !l.EvalLoop() && !draws(p, l) {
			continue
		}
		if l.Over.Kind == lint.Loader || draws(p, l) || evaluates(p, l.Func) {
			return c, l.Node
		}
	}
	return helper(p, c)
}

// draws reports whether a loop runs a model on what it draws from a loader by
// next(), without training it.
func draws(p *lint.Pass, l *lint.Loop) bool {
	if !l.Forward || l.Backward || l.Steps {
		return false
	}
	found := false
	lint.EachIn(l.Body, func(c *pyast.Call) {
		found = found || pyast.Path(c.Func) == "next" && len(c.Args) > 0 && p.Value(c.Args[0]).Kind == lint.Loader && p.LoopOf(c) == l
	})
	return found
}

// evaluates reports whether a function that is named after evaluating does so:
// it puts the model into that mode, or somebody in the project calls it.
func evaluates(p *lint.Pass, fn *lint.Func) bool {
	evals := false
	fn.OwnStmts(func(n pyast.Node) {
		if c, ok := n.(*pyast.Call); ok {
			name, on := p.Method(c)
			evals = evals || name == "eval" && len(c.Args) == 0 && on != nil
		}
	})
	return evals
}

// helper is for a forward pass in a function of its own, which an evaluation's
// loop calls with gradients on.
func helper(p *lint.Pass, c *pyast.Call) (at, around pyast.Node) {
	fn := p.FuncOf(c)
	if fn.Node == nil || p.LoopOf(c) != nil || fn.Backward || fn.Class != nil && fn.Name == "forward" {
		return nil, nil
	}
	trains := fn.Hot
	var loop pyast.Node
	var site *pyast.Call
	p.Calls(func(call *pyast.Call) {
		if p.Resolve(call.Func) != fn {
			return
		}
		if _, hot := p.StepOf(call); hot {
			trains = true
		}
		for l := p.LoopOf(call); l != nil; l = l.Outer {
			if l.EvalLoop() && l.Over.Kind == lint.Loader && p.GradOn(call) && loop == nil {
				loop, site = l.Node, call
			}
		}
	})
	switch {
	case loop == nil:
		return nil, nil
	case trains:
		return site, loop
	}
	return c, loop
}

// needsGrad reports whether an evaluation computes gradients, or may.
func needsGrad(p *lint.Pass, fn *lint.Func, around pyast.Node) bool {
	if fn.Backward {
		found := false
		lint.Each(around, func(c *pyast.Call) {
			name, _ := p.Method(c)
			f := p.Resolve(c.Func)
			found = found || name == "backward" || f != nil && f.Backward
		})
		if found {
			return true
		}
	}
	found := false
	pyast.Walk(around, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.Attribute:
			found = found || (n.Attr == "requires_grad" || n.Attr == "grad") && n.Store || n.Attr == "requires_grad_" || n.Attr == "retain_grad"
		case *pyast.Call:
			name := strings.ToLower(pyast.Path(n.Func))
			for _, w := range []string{"attack", "perturb", "fgsm", "pgd", "autograd", "gradcam", "saliency", "jacobian", "hessian", "inner_loop", "adapt", "finetune", "attribute", "influence"} {
				found = found || strings.Contains(name, w)
			}
		}
		return !found
	})
	return found
}

// used reports whether a result flows to a backward pass in its function.
func used(p *lint.Pass, c *pyast.Call) bool {
	fn := p.FuncOf(c)
	a, ok := pyast.StmtOf(c).(*pyast.Assign)
	if !ok {
		return false
	}
	for _, t := range a.Targets {
		found := false
		pyast.Walk(t, func(n pyast.Node) bool {
			e, is := n.(pyast.Expr)
			found = found || is && pyast.Path(e) != "" && fn.ReachesBackward(pyast.Path(e))
			return true
		})
		if found {
			return true
		}
	}
	return false
}

// fix puts the decorator on a function that evaluates and does nothing else. It
// is safe where nothing with a graph leaves the function.
func fix(p *lint.Pass, fn *lint.Func) []lint.Option {
	if fn.Node == nil || len(fn.Node.Decorators) > 0 || fn.Backward || fn.Steps || fn.Node.Async || p.Imports["torch"] != "torch" || fn.Hot {
		return nil
	}
	safe := fn.Eval
	plain := true
	fn.OwnStmts(func(n pyast.Node) {
		switch n := n.(type) {
		case *pyast.Return:
			if n.Value != nil && graph(p, n.Value) {
				safe = false
			}
		case *pyast.Yield:
			plain = false
		case *pyast.Call:
			if last := pyast.Path(n.Func); strings.HasSuffix(last, ".fit") || strings.HasSuffix(last, "enable_grad") || strings.HasSuffix(last, "set_grad_enabled") {
				plain = false
			}
		}
	})
	if !plain {
		return nil
	}
	edit := p.InsertBefore(fn.Node, "@torch.no_grad()")
	if safe {
		return []lint.Option{lint.Safely("evaluate without gradients", edit)}
	}
	return []lint.Option{lint.Unsafely("run the function without gradients", edit)}
}

// graph reports whether a returned value may carry a graph.
func graph(p *lint.Pass, e pyast.Expr) bool {
	if l, ok := e.(*pyast.List); ok {
		for _, x := range l.Elts {
			if graph(p, x) {
				return true
			}
		}
		return false
	}
	v := p.Value(e)
	return v.AnyGraph() || v.Kind == lint.Unknown || v.Kind == lint.Tensor && v.Grad != lint.No
}
