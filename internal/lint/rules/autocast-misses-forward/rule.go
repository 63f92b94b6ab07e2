// Package autocastmissesforward finds autocast around a loss whose model runs
// outside of it.
package autocastmissesforward

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

// Rule is GPU039.
var Rule = &lint.Rule{
	Code:     "GPU039",
	Name:     "autocast-misses-forward",
	Severity: lint.Warning,
	Title:    "autocast wraps the loss, and the model runs outside of it",
	Why:      "the forward pass is where the matrix products and the activations are: outside of autocast it runs and keeps its activations in fp32",
	Cost:     "2 bytes more for each activation element that 16-bit operations would have kept, up to half of the activation memory, and the speed of 16-bit matrix products (derived)",
	Misses:   "forward passes in functions of other files; models whose forward() has a context or decorator of its own or that Accelerate or Fabric prepared, and frozen models that run in fp32 on purpose, are left alone",
	References: []string{"hoya012/automatic-mixed-precision-tutorials-pytorch#1", "facebookresearch/detectron2#2244",
		"https://docs.pytorch.org/docs/stable/amp.html#autocasting"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	lint.Each(p.Module, func(w *pyast.With) {
		if casts(p, w) && !p.InTest(w) {
			check(p, w)
		}
	})
}

// casts reports whether a with statement switches autocast on.
func casts(p *lint.Pass, w *pyast.With) bool {
	for _, i := range w.Items {
		v := p.Value(i)
		if v.Kind != lint.Context || v.Class != "autocast" {
			continue
		}
		c, _ := i.Context.(*pyast.Call)
		if c == nil {
			return true
		}
		if _, on := p.Method(c); on != nil && p.Value(on).Kind == lint.Accelerator {
			return false // the models that it prepares cast by themselves
		}
		if d := c.Keyword("dtype"); d != nil && p.Qual(d) == "torch.float32" {
			return false
		}
		return true
	}
	return false
}

func check(p *lint.Pass, w *pyast.With) {
	fn := p.FuncOf(w)
	runs, loss := false, false
	lint.EachIn(w.Body, func(n *pyast.Name) {
		loss = loss || n.Store && p.Value(n).HasGraph() && fn.ReachesBackward(n.Ident)
	})
	lint.EachIn(w.Body, func(c *pyast.Call) {
		runs = runs || forward(p, c)
		v := p.Value(c)
		loss = loss || v.Loss && v.HasGraph()
	})
	if runs || !loss {
		return
	}
	seen := map[string]bool{}
	lint.EachIn(w.Body, func(n *pyast.Name) {
		if n.Store || seen[n.Ident] || !p.Value(n).AnyGraph() {
			return
		}
		seen[n.Ident] = true
		trace(p, fn, w, n.Ident, w, 0)
	})
}

// trace reports the forward pass that made what a name holds at a node.
func trace(p *lint.Pass, fn *lint.Func, w *pyast.With, name string, at pyast.Node, depth int) {
	store := fn.StoreBefore(name, at)
	if store == nil || lint.Inside(store, w) {
		return
	}
	s, ok := pyast.StmtOf(store).(*pyast.Assign)
	if !ok || s.Value == nil || p.LoopOf(s) != p.LoopOf(w) {
		return
	}
	runs := false
	lint.Each(s.Value, func(c *pyast.Call) {
		if !forward(p, c) {
			return
		}
		runs = true
		if !p.Autocast(c) && !own(p, c) && p.Value(c).AnyGraph() {
			p.Report(c, fmt.Sprintf("%s runs outside of the autocast that its loss is computed in", p.Text(c.Func)), lint.See(w, "autocast begins here"))
		}
	})
	if runs || depth > 3 || p.Autocast(s) {
		return
	}
	lint.Each(s.Value, func(n *pyast.Name) { // logits = outputs["logits"]
		if n.Ident != name && p.Value(n).AnyGraph() {
			trace(p, fn, w, n.Ident, s, depth+1)
		}
	})
}

// forward reports whether a call runs a model, itself or by a function of this
// file.
func forward(p *lint.Pass, c *pyast.Call) bool {
	if p.IsForward(c) {
		return true
	}
	fn := p.Resolve(c.Func)
	if fn != nil && fn.Forward {
		return true
	}
	for _, a := range c.Args {
		if p.Value(a).Kind == lint.Module && fn == nil && p.Value(c).AnyGraph() {
			return true
		}
	}
	return false
}

// own reports whether what runs switches autocast on by itself.
func own(p *lint.Pass, c *pyast.Call) bool {
	fn := p.Resolve(c.Func)
	if fn == nil {
		if class := p.ClassNamed(p.Value(c.Func).Class); class != nil {
			fn = class.Methods["forward"]
		}
	}
	if fn == nil || fn.Node == nil {
		return false
	}
	found := false
	for _, s := range fn.Node.Body {
		found = found || p.Autocast(s)
	}
	fn.OwnStmts(func(n pyast.Node) {
		if w, ok := n.(*pyast.With); ok {
			found = found || casts(p, w)
		}
	})
	return found
}
