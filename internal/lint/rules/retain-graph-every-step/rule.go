// Package retaingrapheverystep finds backward passes that keep their graph for
// nothing.
package retaingrapheverystep

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

// Rule is GPU006.
var Rule = &lint.Rule{
	Code:     "GPU006",
	Name:     "retain-graph-every-step",
	Severity: lint.Error,
	Title:    "backward(retain_graph=True) keeps each step's graph, and nothing uses it again",
	Why: "the saved tensors of the whole forward pass stay after backward(), until the loss is overwritten in the next step; " +
		"the next forward pass runs beside them",
	Cost:   "up to the activations of a whole forward pass more at the peak: old and new coexist (derived)",
	Of:     lint.Activations,
	Misses: "retain_graph behind a variable; a backward() that another backward pass or torch.autograd.grad() of the same step follows is left alone",
	Fix:    lint.UnsafeFix,
	References: []string{"GBLin5566/toward-controlled-generation-of-text-pytorch#9",
		"https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.Backwards(func(c *pyast.Call) {
		check(p, c, retained(p, c))
	})
	p.CallsOf(func(c *pyast.Call) {
		check(p, c, p.Const(orNone(c.Arg(2, "retain_graph"))))
	}, "torch.autograd.backward")
}

// orNone lets Const be asked of nothing.
func orNone(e pyast.Expr) pyast.Expr {
	if e == nil {
		return &pyast.BadExpr{}
	}
	return e
}

// retained is the constant given as retain_graph, or nil.
func retained(p *lint.Pass, c *pyast.Call) *pyast.Constant {
	options, _ := p.Options(c)
	if options["create_graph"] != nil && !lint.IsFalse(options["create_graph"]) {
		return nil
	}
	k := options["retain_graph"]
	_, on := p.Method(c)
	if v := p.Value(on); k == nil && v.Kind != lint.Accelerator && pyast.Path(on) != "self" && len(c.Args) > 1 {
		k = c.Args[1] // backward(gradient, retain_graph)
	}
	if k == nil {
		return nil
	}
	if known, ok := k.(*pyast.Constant); ok {
		return known
	}
	if pyast.Path(k) == "" {
		return nil
	}
	return p.Const(k)
}

func check(p *lint.Pass, c *pyast.Call, k *pyast.Constant) {
	if k == nil || k.Kind != pyast.True || p.InTest(c) {
		return
	}
	around := place(p, c)
	if around == nil || usedAgain(p, c, around) {
		return
	}
	opts := []lint.Option{}
	for _, a := range c.Keywords {
		if a.Name == "retain_graph" && a.Value == pyast.Expr(k) {
			opts = append(opts, lint.Unsafely("let backward() free the graph", lint.Replace(a.Value, "False")))
		}
	}
	p.Report(c, fmt.Sprintf("%s keeps the graph of every step, and no later backward pass of the step uses it", p.Text(c.Func)), opts...)
}

// place is what one step runs around a backward pass: a loop, or a function
// that is a step; nil where it is neither.
func place(p *lint.Pass, c *pyast.Call) pyast.Node {
	l := p.LoopOf(c)
	fn := p.FuncOf(c)
	switch {
	case l == nil && fn.Node != nil && fn.Hot && !others(p, fn):
		return fn.Node
	case l == nil:
		return nil
	case l.Epoch():
		return nil
	case !l.Steps && (l.Micro() || fn.Hot):
		// Over micro-batches, each with its own forward pass, or over losses of
		// one forward pass, which need the graph in the next round.
		if !forwards(p, l) {
			return nil
		}
		return l.Node
	case l.Step():
		return l.Node
	}
	return nil
}

// others reports whether another method of a function's class computes gradients
// too: they may be parts of one step.
func others(p *lint.Pass, fn *lint.Func) bool {
	found := false
	p.Backwards(func(c *pyast.Call) {
		other := p.FuncOf(c)
		found = found || fn.Class != nil && other.Class == fn.Class && other != fn
	})
	return found
}

// forwards reports whether a model is called in the loop's own body.
func forwards(p *lint.Pass, l *lint.Loop) bool {
	found := false
	lint.EachIn(l.Body, func(c *pyast.Call) { found = found || p.IsForward(c) })
	return found
}

// usedAgain reports whether a later backward pass of the same step may need the
// graph.
func usedAgain(p *lint.Pass, c *pyast.Call, around pyast.Node) bool {
	again := false
	pyast.Walk(around, func(n pyast.Node) bool {
		o, ok := n.(*pyast.Call)
		if !ok || o == c || lint.Inside(o, c) || lint.Inside(c, o) || o.Span().Start < c.Span().End || lint.Exclusive(c, o) {
			return true
		}
		name, on := p.Method(o)
		fn := p.Resolve(o.Func)
		switch q := p.Callee(o); {
		case q == "" && name == "backward" && len(o.Args) == 0 && len(c.Args) == 0 && p.FuncOf(o) == p.FuncOf(c) && apart(p, c, o, around):
		case q == "torch.autograd.grad", q == "torch.autograd.backward", on != nil && (name == "backward" || name == "manual_backward"),
			fn != nil && fn.Backward, fn == nil && backwardName(pyast.Path(o.Func)):
			again = true
		}
		return true
	})
	return again || roundAgain(p, c)
}

// apart reports whether the graphs of two losses, x.backward() and y.backward(),
// have nothing in common that was computed within the step: no name that holds a
// graph, or may, is behind both.
func apart(p *lint.Pass, c, later *pyast.Call, around pyast.Node) bool {
	fn := p.FuncOf(c)
	_, a := p.Method(c)
	_, b := p.Method(later)
	if pyast.Path(a) == "" || pyast.Path(b) == "" || pyast.Path(a) == pyast.Path(b) {
		return false
	}
	first, second := fn.Sources(a), fn.Sources(b)
	for path := range first {
		if !second[path] {
			continue
		}
		for _, r := range fn.Refs[path] {
			v := p.Value(r.Node)
			if r.Store && lint.Inside(r.Node, around) && v.Kind != lint.Module && v.Kind != lint.Criterion && v.Kind != lint.Number && v.Grad != lint.No {
				return false
			}
		}
		if fn.Node != nil && given(p, fn, path) {
			return false
		}
	}
	return true
}

// given reports whether a path is a parameter that nothing is known of, and that
// is not only called: it may come with a graph.
func given(p *lint.Pass, fn *lint.Func, path string) bool {
	called := true
	for _, r := range fn.Refs[path] {
		if r.Store {
			return false
		}
		c, ok := r.Node.Parent().(*pyast.Call)
		called = called && ok && c.Func == r.Node
	}
	return !called && p.Value(fn.Refs[path][0].Node).Kind == lint.Unknown
}

// roundAgain reports whether the backward pass is in a loop below the step that
// goes over losses of one forward pass.
func roundAgain(p *lint.Pass, c *pyast.Call) bool {
	l := p.LoopOf(c)
	return l != nil && !l.Steps && !forwards(p, l)
}

// backwardName reports whether a function that is not known says that it
// computes gradients.
func backwardName(path string) bool {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '.' {
			path = path[i+1:]
			break
		}
	}
	switch path {
	case "backward", "_backward", "backward_G", "backward_D", "gradient_penalty", "compute_gradients", "calc_gradient_penalty":
		return true
	}
	return false
}
