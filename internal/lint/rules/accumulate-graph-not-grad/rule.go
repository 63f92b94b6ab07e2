// Package accumulategraphnotgrad finds steps that add up the losses of their
// micro-batches and call backward() once.
package accumulategraphnotgrad

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

// Rule is GPU037.
var Rule = &lint.Rule{
	Code:     "GPU037",
	Name:     "accumulate-graph-not-grad",
	Severity: lint.Error,
	Title:    "The losses of micro-batches are summed, and backward() is called once for all",
	Why: "until that backward() the activations of every micro-batch's forward pass are kept, so accumulation saves nothing; " +
		"backward() on each loss adds up the same gradients and frees each graph at once",
	Cost:   "the activations of one forward pass for each further micro-batch (derived)",
	Of:     lint.Activations,
	Misses: "sums over time steps of a recurrent model, over heads, and over models, which need their graphs together, are left alone; sums that another file's function calls backward() on",
	References: []string{"OHDSI/DeepPatientLevelPrediction#111", "lhoyer/DAFormer#48",
		"https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	lint.Each(p.Module, func(s *pyast.AugAssign) {
		if s.Op == "+" || s.Op == "-" {
			check(p, s, lint.Base(s.Target), s.Value, false)
		}
	})
	lint.Each(p.Module, func(s *pyast.Assign) { // total = total + loss
		value := s.Value
		if i, ok := value.(*pyast.IfExp); ok { // loss if total is None else total + loss
			value = i.Else
			if _, sum := i.Body.(*pyast.BinOp); sum {
				value = i.Body
			}
		}
		sum, ok := value.(*pyast.BinOp)
		if !ok || sum.Op != "+" && sum.Op != "-" || len(s.Targets) != 1 {
			return
		}
		target := lint.Base(s.Targets[0])
		switch {
		case target == "":
		case lint.Base(sum.Left) == target:
			check(p, s, target, sum.Right, false)
		case sum.Op == "+" && lint.Base(sum.Right) == target:
			check(p, s, target, sum.Left, false)
		}
	})
	p.Appends(func(at pyast.Node, path string, value pyast.Expr) { check(p, at, path, value, true) })
	lint.Each(p.Module, func(c *pyast.Comp) { comprehension(p, c) })
}

// check judges that value is added to what path holds.
func check(p *lint.Pass, at pyast.Node, path string, value pyast.Expr, list bool) {
	l := p.LoopOf(at)
	v := p.Value(value)
	if l == nil || path == "" || !v.HasGraph() || list && !v.Loss || p.GradOff(at) || !l.Forward || !p.OutlivesRound(l, path) {
		return
	}
	back := backward(p, l, at, path)
	if back == nil || !separate(p, l, path) {
		return
	}
	p.Report(at, fmt.Sprintf("%s holds the graphs of all micro-batches until its backward()", path), lint.See(back, "the only backward()"))
}

// backward is the call of backward() that waits for all of the sum: after the
// loop, or every few rounds of it. It is nil if there is none, or if the loop
// frees its graphs round by round.
func backward(p *lint.Pass, l *lint.Loop, at pyast.Node, path string) pyast.Node {
	var found pyast.Node
	each := false
	p.Backwards(func(c *pyast.Call) {
		switch {
		case p.FuncOf(c) != l.Func:
		case !lint.Inside(c, l.Node):
			if c.Span().Start >= l.Node.Span().End && l.Func.ReachesBackward(path) && sameRound(l, p.LoopOf(c)) {
				found = c
			}
		case seldom(p.Guards(c, l.Node)) && !seldom(p.Guards(at, l.Node)) && l.Func.ReachesBackward(path):
			found = c
		default:
			each = true
		}
	})
	if each {
		return nil
	}
	if found == nil {
		found = returned(p, l, path)
	}
	return found
}

// sameRound reports whether a later backward() is in a round of a loop around
// the summing loop, or in no loop.
func sameRound(l, of *lint.Loop) bool {
	if of == nil {
		return true
	}
	for o := l.Outer; o != nil; o = o.Outer {
		if o == of {
			return true
		}
	}
	return false
}

// seldom reports whether guards hold only every few rounds.
func seldom(gs []lint.Guard) bool {
	for _, g := range gs {
		if g.Kind == lint.Periodic || g.Kind == lint.First {
			return true
		}
	}
	return false
}

// returned is the backward() that a caller in this file calls on the sum that a
// function returns.
func returned(p *lint.Pass, l *lint.Loop, path string) pyast.Node {
	fn := l.Func
	if fn.Node == nil {
		return nil
	}
	gives := false
	fn.OwnStmts(func(n pyast.Node) {
		if r, ok := n.(*pyast.Return); ok && r.Value != nil {
			pyast.Walk(r.Value, func(n pyast.Node) bool {
				e, ok := n.(pyast.Expr)
				gives = gives || ok && pyast.Path(e) == path
				return true
			})
		}
	})
	if !gives {
		return nil
	}
	var found pyast.Node
	p.Calls(func(c *pyast.Call) {
		if p.Resolve(c.Func) != fn || found != nil {
			return
		}
		if a, ok := pyast.StmtOf(c).(*pyast.Assign); ok && len(a.Targets) == 1 {
			if t := pyast.Path(a.Targets[0]); t != "" && p.FuncOf(a).ReachesBackward(t) {
				found = c
			}
			return
		}
		lint.Each(pyast.StmtOf(c), func(b *pyast.Call) {
			if name, on := p.Method(b); name == "backward" && on != nil && lint.Inside(c, b) {
				found = b
			}
		})
	})
	return found
}

// separate reports whether the rounds of a loop could each call backward():
// each runs a model on data of its own, and none needs the graph of the last.
func separate(p *lint.Pass, l *lint.Loop, total string) bool {
	runs, apart := false, true
	lint.EachIn(l.Body, func(c *pyast.Call) {
		fn := p.Resolve(c.Func)
		forward := p.IsForward(c) || fn != nil && fn.Forward
		if !forward || p.Value(c.Func).Kind == lint.Criterion {
			return
		}
		runs = true
		if l.Target != nil && mentions(l.Target, root(c.Func)) {
			apart = false // another model each round
		}
		for _, a := range arguments(c) {
			if !made(p, l, a, total) {
				apart = false
			}
		}
	})
	if !runs && helperRuns(p, l) {
		runs = true
	}
	return runs && apart && !carried(p, l, total)
}

// helperRuns reports whether the loop's model runs in a function of another
// file, which gets the model.
func helperRuns(p *lint.Pass, l *lint.Loop) bool {
	found := false
	lint.EachIn(l.Body, func(c *pyast.Call) {
		for _, a := range arguments(c) {
			found = found || p.Value(a).Kind == lint.Module && p.Value(c).HasGraph()
		}
	})
	return found && l.Forward
}

func arguments(c *pyast.Call) []pyast.Expr {
	args := append([]pyast.Expr(nil), c.Args...)
	for _, k := range c.Keywords {
		args = append(args, k.Value)
	}
	return args
}

// made reports whether an argument has no graph from outside of the loop.
func made(p *lint.Pass, l *lint.Loop, e pyast.Expr, total string) bool {
	ok := true
	pyast.Walk(e, func(n pyast.Node) bool {
		x, is := n.(pyast.Expr)
		if !is {
			return true
		}
		if _, call := n.(*pyast.Call); call && !p.Value(x).AnyGraph() {
			return false
		}
		path := pyast.Path(x)
		if path == "" {
			return true
		}
		if p.Value(x).AnyGraph() && p.Value(x).Kind != lint.Module {
			ok = ok && path != total && storedIn(l, path)
		}
		return false
	})
	return ok
}

func storedIn(l *lint.Loop, path string) bool {
	for _, r := range l.Func.Refs[path] {
		if r.Store && lint.Inside(r.Node, l.Node) {
			return true
		}
	}
	return false
}

// carried reports whether a round reads something with a graph that the round
// before it has made: the state of a recurrent model.
func carried(p *lint.Pass, l *lint.Loop, total string) bool {
	for path, refs := range l.Func.Refs {
		if path == total {
			continue
		}
		read, store := -1, -1
		graph := false
		for _, r := range refs {
			if !lint.Inside(r.Node, l.Node) || r.Del {
				continue
			}
			s := pyast.StmtOf(r.Node)
			if _, aug := s.(*pyast.AugAssign); aug || sums(s, path) {
				continue
			}
			at := s.Span().Start
			switch {
			case r.Store && s == l.Node:
				store = -2 // the loop's own variable
			case r.Store && store == -1:
				store = at
				graph = graph || mayHaveGraph(p.Value(r.Node))
			case !r.Store && (read < 0 || at < read):
				read = at
				graph = graph || mayHaveGraph(p.Value(r.Node))
			}
		}
		if store >= 0 && read >= 0 && read <= store && graph {
			return true
		}
	}
	return false
}

func mayHaveGraph(v lint.Value) bool { return v.AnyGraph() || v.Kind == lint.Unknown }

// sums reports whether a statement is path = path + something.
func sums(s pyast.Stmt, path string) bool {
	a, ok := s.(*pyast.Assign)
	if !ok || len(a.Targets) != 1 || pyast.Path(a.Targets[0]) != path {
		return false
	}
	value := a.Value
	if i, ok := value.(*pyast.IfExp); ok {
		value = i.Else
	}
	b, ok := value.(*pyast.BinOp)
	return ok && (b.Op == "+" || b.Op == "-") && (pyast.Path(b.Left) == path || pyast.Path(b.Right) == path)
}

func mentions(target pyast.Expr, name string) bool {
	found := false
	lint.Each(target, func(n *pyast.Name) { found = found || n.Ident == name })
	return found
}

func root(e pyast.Expr) string {
	path := pyast.Path(e)
	for i := range path {
		if path[i] == '.' {
			return path[:i]
		}
	}
	return path
}

// comprehension judges sum(criterion(model(x), y) for x, y in batches).
func comprehension(p *lint.Pass, c *pyast.Comp) {
	v := p.Value(c.Elt)
	if c.Key != nil || !v.HasGraph() || !v.Loss || p.GradOff(c) {
		return
	}
	runs, apart := false, true
	lint.Each(c.Elt, func(f *pyast.Call) {
		fn := p.Resolve(f.Func)
		if !p.IsForward(f) && (fn == nil || !fn.Forward) {
			return
		}
		runs = true
		own := false
		for _, clause := range c.Clauses {
			if mentions(clause.Target, root(f.Func)) {
				apart = false
			}
			for _, a := range arguments(f) {
				lint.Each(a, func(n *pyast.Name) { own = own || mentions(clause.Target, n.Ident) })
			}
		}
		apart = apart && own
	})
	if !runs || !apart {
		return
	}
	fn := p.FuncOf(c)
	s := pyast.StmtOf(c)
	reaches := false
	if a, ok := s.(*pyast.Assign); ok && len(a.Targets) == 1 {
		reaches = pyast.Path(a.Targets[0]) != "" && fn.ReachesBackward(pyast.Path(a.Targets[0]))
	}
	lint.Each(s, func(b *pyast.Call) {
		if name, _ := p.Method(b); name == "backward" && lint.Inside(c, b) {
			reaches = true
		}
	})
	if reaches {
		p.Report(c, "the graphs of all micro-batches are kept until backward() is called on their sum")
	}
}
