// Package hiddenstatenotdetached finds recurrent states that carry the graph of
// one batch into the next.
package hiddenstatenotdetached

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

// Rule is GPU038.
var Rule = &lint.Rule{
	Code:     "GPU038",
	Name:     "hidden-state-not-detached",
	Severity: lint.Error,
	Title:    "A recurrent state goes into the next batch with the graph of all batches before it",
	Why: "the state was computed from earlier batches, so their graphs live as long as it does, and each backward pass runs through all of them " +
		"(or fails, because the graph was freed)",
	Cost:   "the activations of one more batch at each step, and a backward pass that is as much longer (derived)",
	Of:     lint.Activations,
	Misses: "states that a module keeps in attributes which other files set; states that are detached or made anew at times are left alone",
	Fix:    lint.UnsafeFix,
	References: []string{"pytorch/pytorch#2198",
		"https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		if !p.IsForward(c) || p.GradOff(c) {
			return
		}
		if step := stepLoop(p, c); step != nil {
			for _, state := range states(c) {
				if carries(p, step, c, state) {
					opts := []lint.Option{}
					if p.Value(state).Kind == lint.Tensor {
						opts = append(opts, lint.Unsafely("give it the state without its graph", lint.After(state, ".detach()")))
					}
					p.Report(c, fmt.Sprintf("%s carries the graph of all earlier batches", pyast.Path(state)), opts...)
					return
				}
			}
			return
		}
		attribute(p, c)
	})
}

// stepLoop is the loop around n, or around the loops around it, of which one
// round is a training step.
func stepLoop(p *lint.Pass, n pyast.Node) *lint.Loop {
	for l := p.LoopOf(n); l != nil; l = l.Outer {
		if l.Epoch() {
			return nil
		}
		if l.Step() && !l.Micro() {
			return l
		}
	}
	return nil
}

// states are the paths among a call's arguments, those in a tuple included.
func states(c *pyast.Call) []pyast.Expr {
	var out []pyast.Expr
	var add func(e pyast.Expr)
	add = func(e pyast.Expr) {
		if pyast.Path(e) != "" {
			out = append(out, e)
		} else if l, ok := e.(*pyast.List); ok {
			for _, x := range l.Elts {
				add(x)
			}
		}
	}
	for _, a := range c.Args {
		add(a)
	}
	for _, k := range c.Keywords {
		add(k.Value)
	}
	return out
}

// carries reports whether a state comes from an earlier round of a loop with
// its graph.
func carries(p *lint.Pass, step *lint.Loop, c *pyast.Call, state pyast.Expr) bool {
	path := pyast.Path(state)
	graph := p.Value(state).AnyGraph() || storedBy(step.Func, c, path) && p.Value(c).AnyGraph()
	if !graph || path == "self" {
		return false
	}
	made := false
	for _, r := range step.Func.Refs[path] {
		if !lint.Inside(r.Node, step.Node) {
			continue
		}
		s := pyast.StmtOf(r.Node)
		if r.Del || s == step.Node {
			return false
		}
		if cuts(p, s, path) {
			return false
		}
		if !r.Store {
			continue
		}
		a, ok := s.(*pyast.Assign)
		if !ok || lint.Before(a, pyast.StmtOf(c)) {
			return false // += and the like are sums, not states; what the round itself makes is none
		}
		if f, ok := a.Value.(*pyast.Call); ok && p.IsForward(f) {
			made = true
			continue
		}
		if from := lint.Base(a.Value); from == "" || !p.Value(a.Value).AnyGraph() {
			return false // made anew, by something that is not followed
		}
		made = true
	}
	return made
}

// cuts reports whether a statement takes the graph from a state.
func cuts(p *lint.Pass, s pyast.Stmt, path string) bool {
	switch s.(type) {
	case *pyast.For, *pyast.While, *pyast.If, *pyast.With, *pyast.Try:
		if f, ok := s.(*pyast.For); !ok || !strings.Contains(p.Text(f.Iter), path) {
			return false
		}
	}
	found := false
	pyast.Walk(s, func(n pyast.Node) bool {
		if a, ok := n.(*pyast.Attribute); ok {
			switch a.Attr {
			case "detach", "detach_", "data", "clone_detached":
				found = true
			}
		}
		if c, ok := n.(*pyast.Call); ok {
			name := strings.ToLower(pyast.Path(c.Func))
			if strings.Contains(name, "detach") || strings.Contains(name, "repackage") || strings.Contains(name, "reset") {
				found = true
			}
		}
		return true
	})
	return found
}

// attribute judges a state that a module keeps in itself: its forward() reads
// and writes self.hidden, and nothing resets it.
func attribute(p *lint.Pass, c *pyast.Call) {
	fn := p.FuncOf(c)
	if fn.Class == nil || fn.Name != "forward" || !fn.Hot {
		return
	}
	for _, state := range states(c) {
		path := pyast.Path(state)
		if !strings.HasPrefix(path, "self.") || strings.Count(path, ".") != 1 || !storedBy(fn, c, path) {
			continue
		}
		if elsewhere(p, fn, path) {
			continue
		}
		p.Report(c, fmt.Sprintf("%s carries the graph of all earlier batches", path),
			lint.Unsafely("give it the state without its graph", lint.After(state, ".detach()")))
		return
	}
}

// storedBy reports whether the statement of a call assigns a path.
func storedBy(fn *lint.Func, c *pyast.Call, path string) bool {
	for _, r := range fn.Refs[path] {
		if r.Store && pyast.StmtOf(r.Node) == pyast.StmtOf(c) {
			return true
		}
	}
	return false
}

// elsewhere reports whether anything but forward() and __init__ assigns or
// detaches a module's attribute.
func elsewhere(p *lint.Pass, forward *lint.Func, path string) bool {
	attr := strings.TrimPrefix(path, "self.")
	found := false
	pyast.Walk(p.Module, func(n pyast.Node) bool {
		a, ok := n.(*pyast.Attribute)
		if !ok || a.Attr != attr || found {
			return !found
		}
		fn := p.FuncOf(a)
		s := pyast.StmtOf(a)
		switch {
		case fn == forward:
			_, plain := s.(*pyast.Assign)
			found = cuts(p, s, path) || a.Store && (!plain || !hasForward(p, s))
			if i, ok := s.(*pyast.If); ok && strings.Contains(p.Text(i.Test), attr) {
				found = found || strings.Contains(p.Text(i), "detach")
			}
		case fn.Name == "__init__":
		default:
			found = a.Store || cuts(p, s, path)
		}
		return !found
	})
	return found
}

func hasForward(p *lint.Pass, s pyast.Stmt) bool {
	found := false
	lint.Each(s, func(c *pyast.Call) { found = found || p.IsForward(c) })
	return found
}
