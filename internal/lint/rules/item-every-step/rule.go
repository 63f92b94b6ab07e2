// Package itemeverystep finds values that are read from the GPU on every training step.
package itemeverystep

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

// Rule is GPU101.
var Rule = &lint.Rule{
	Code:       "GPU101",
	Name:       "item-every-step",
	Severity:   lint.Warning,
	Title:      "A value is read from the GPU on every training step",
	Why:        "item(), cpu(), float(), printing, formatting and comparing wait until the GPU has done all that was queued, so the queue is empty when the next step begins",
	Cost:       "each read waits for the step and leaves the GPU idle while Python prepares the next launches: some 5 to 10 us a kernel, 0.1 to 10 ms a step (launch latency times the kernels of a step, derived)",
	Misses:     "reads in functions of other packages (loggers that call item() themselves); reads that decide what runs next in an environment (env.step(action.cpu())), and whether a loss is finite; evaluation loops, and reads behind a condition that holds only every so many steps, are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"meta-pytorch/torchtune#522", "openvdb/fvdb-reality-capture#144", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	r := reader{p, map[pyast.Stmt]bool{}}
	pyast.Walk(p.Module, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.Call:
			r.call(n)
		case *pyast.FString:
			r.shown(n, "formatting", n.Parts...)
		case *pyast.BinOp:
			if lint.ConstText(n.Left) != "" && n.Op == "%" {
				r.shown(n, "formatting", elements(n.Right)...)
			}
		case *pyast.Print:
			r.shown(n, "printing", n.Args...)
		case *pyast.If:
			r.decides(n.Test, false)
		case *pyast.IfExp:
			r.decides(n.Test, false)
		case *pyast.Assert:
			r.decides(n.Test, true)
		}
		return true
	})
}

// A reader reports reads, one for each statement.
type reader struct {
	*lint.Pass
	seen map[pyast.Stmt]bool
}

// reads are methods of a tensor that wait for its value.
var reads = map[string]bool{"item": true, "cpu": true, "numpy": true, "tolist": true}

// sinks are methods of progress bars and loggers that show the values they get.
var sinks = map[string]bool{"set_postfix": true, "set_description": true, "add_scalar": true, "set_postfix_str": true}

func (r reader) call(c *pyast.Call) {
	name, on := r.Method(c)
	switch {
	case on == nil:
	case reads[name] && r.device(on) && c.Keyword("non_blocking") == nil:
		r.report(c, on, "."+name+"() of")
	case name == "to" && lint.ConstText(c.Arg(0, "device")) == "cpu" && r.device(on) && c.Keyword("non_blocking") == nil:
		r.report(c, on, ".to(\"cpu\") of")
	case name == "format" && lint.ConstText(on) != "":
		r.shown(c, "formatting", args(c)...)
	case sinks[name]:
		r.shown(c, name+"() of", args(c)...)
	case (name == "info" || name == "warning") && r.logs(on):
		r.shown(c, name+"() of", args(c)...)
	}
	switch name := pyast.Path(c.Func); name {
	case "float", "int", "bool", "str":
		if len(c.Args) == 1 && r.device(c.Args[0]) {
			r.report(c, c.Args[0], name+"() of")
		}
	case "print", "tqdm.write", "wandb.log":
		r.shown(c, name+"() of", args(c)...)
	}
}

// logs reports whether an expression is a logger of Python's, or the module.
func (r reader) logs(e pyast.Expr) bool {
	made := r.Maker(e)
	return r.Qual(e) == "logging" || made != nil && r.Callee(made) == "logging.getLogger"
}

func args(c *pyast.Call) []pyast.Expr {
	out := append([]pyast.Expr(nil), c.Args...)
	for _, k := range c.Keywords {
		out = append(out, k.Value)
	}
	return out
}

func elements(e pyast.Expr) []pyast.Expr {
	if l, ok := e.(*pyast.List); ok {
		return l.Elts
	}
	return []pyast.Expr{e}
}

// device reports whether e is a tensor on the GPU that the step has computed.
func (r reader) device(e pyast.Expr) bool {
	v := r.Value(e)
	return !v.Batch && r.OnDevice(e) && !r.told(e)
}

// decides looks for comparisons of what the step has computed in a condition.
// Whether a loss is finite must be known at once in an if; an assertion can wait.
func (r reader) decides(test pyast.Expr, asserted bool) {
	switch t := test.(type) {
	case *pyast.BoolOp:
		r.decides(t.Left, asserted)
		r.decides(t.Right, asserted)
	case *pyast.Unary:
		r.decides(t.Operand, asserted)
	case *pyast.Compare:
		if t.Ops[0] == "is" || t.Ops[0] == "is not" || t.Ops[0] == "in" || t.Ops[0] == "not in" {
			return
		}
		for _, o := range t.Operands {
			if r.computed(o) {
				r.report(t, o, "the comparison with")
				return
			}
		}
	case *pyast.Call:
		for n := t; asserted && n != nil; {
			for _, a := range n.Args {
				if r.computed(a) {
					r.report(t, a, "the check of")
					return
				}
			}
			_, on := r.Method(n) // isfinite(loss).all()
			n, _ = on.(*pyast.Call)
		}
	}
}

// computed reports whether e is a tensor on the GPU with a graph, or a loss.
func (r reader) computed(e pyast.Expr) bool {
	v := r.Value(e)
	return (v.Loss || v.HasGraph()) && r.device(e)
}

// told reports whether e is what a model says of itself: engine.global_steps,
// engine.get_stage().
func (r reader) told(e pyast.Expr) bool {
	if c, ok := e.(*pyast.Call); ok && len(c.Args)+len(c.Keywords) == 0 {
		e = c.Func
	}
	a, ok := e.(*pyast.Attribute)
	return ok && a.Attr != "loss" && a.Attr != "forward" && r.Value(a.Value).Kind == lint.Module
}

// shown looks for device tensors among values that are turned into text.
func (r reader) shown(at pyast.Node, how string, values ...pyast.Expr) {
	for _, e := range values {
		if d, ok := e.(*pyast.Dict); ok {
			r.shown(at, how, d.Values...)
		} else if r.device(e) {
			r.report(at, e, how)
		}
	}
}

// report tells of a read of e at n.
func (r reader) report(n pyast.Node, e pyast.Expr, how string) {
	stmt := pyast.StmtOf(n)
	loop, hot := r.StepOf(n)
	if !hot || r.seen[stmt] || r.Measures(n) || loop == nil && (r.GradOff(n) || r.FuncOf(n).Eval) || r.steers(n) {
		return
	}
	r.seen[stmt] = true
	opts := r.fix(n, e, loop)
	if r.beforeBackward(stmt) {
		opts = append(opts, lint.Why("it stands between the forward pass and backward(): no kernel of the backward pass can be queued until the forward pass has run"))
	}
	r.Report(n, fmt.Sprintf("%s %s waits for the GPU on every step", how, clip(r.Text(e))), opts...)
}

// steers reports whether a value goes into an environment's step, at once or
// under a name: the simulation needs it now.
func (r reader) steers(n pyast.Node) bool {
	if inStep(n) {
		return true
	}
	a, ok := pyast.StmtOf(n).(*pyast.Assign)
	if !ok {
		return false
	}
	for _, t := range a.Targets {
		for _, ref := range r.FuncOf(n).Refs[pyast.Path(t)] {
			if !ref.Store && inStep(ref.Node) {
				return true
			}
		}
	}
	return false
}

// inStep reports whether n is within the arguments of something.step(...).
func inStep(n pyast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if c, ok := n.(*pyast.Call); ok {
			if a, ok := c.Func.(*pyast.Attribute); ok && a.Attr == "step" {
				return true
			}
		}
		if _, ok := n.(pyast.Stmt); ok {
			return false
		}
	}
	return false
}

// beforeBackward reports whether backward() comes after a statement in the same
// block.
func (r reader) beforeBackward(stmt pyast.Stmt) bool {
	found := false
	r.Backwards(func(c *pyast.Call) {
		s := pyast.StmtOf(c)
		found = found || s.Parent() == stmt.Parent() && lint.Before(stmt, s)
	})
	return found
}

func clip(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = strings.TrimSpace(s[:i]) + " ..."
	}
	if len(s) > 60 {
		s = s[:60] + "..."
	}
	return s
}

// fix keeps the value on the GPU where it is added up, and does a statement
// that only shows it every 50 steps.
func (r reader) fix(n pyast.Node, e pyast.Expr, loop *lint.Loop) []lint.Option {
	if s, ok := n.Parent().(*pyast.AugAssign); ok && s.Op == "+" && s.Value == n {
		return []lint.Option{lint.Unsafely("add it up on the GPU, and read the sum at the end", lint.Replace(n, r.Text(e)+".detach()"))}
	}
	stmt, ok := pyast.StmtOf(n).(*pyast.ExprStmt)
	if !ok || loop == nil || enumerated(loop) == "" || strings.Contains(r.Text(stmt), "\n") || !shows(stmt.Value) {
		return nil
	}
	at := stmt.Span().Start
	return []lint.Option{lint.Unsafely("do it every 50 steps", lint.Edit{Start: at, End: at, Text: "if " + enumerated(loop) + " % 50 == 0: "})}
}

// shows reports whether a call is for people to read.
func shows(e pyast.Expr) bool {
	c, ok := e.(*pyast.Call)
	if !ok {
		return false
	}
	path := pyast.Path(c.Func)
	last := path[strings.LastIndexByte(path, '.')+1:]
	return sinks[last] || last == "print" || last == "log" || last == "info" || last == "debug" || last == "write"
}

// enumerated is the counter of "for i, batch in enumerate(...)".
func enumerated(l *lint.Loop) string {
	c, ok := l.Iter.(*pyast.Call)
	t, pair := l.Target.(*pyast.List)
	if !ok || !pair || pyast.Path(c.Func) != "enumerate" || len(t.Elts) != 2 {
		return ""
	}
	return pyast.Path(t.Elts[0])
}
