// Package dataparallelgathersoutputs finds DataParallel models whose loss is
// computed on GPU 0.
package dataparallelgathersoutputs

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

// Rule is GPU124.
var Rule = &lint.Rule{
	Code:     "GPU124",
	Name:     "dataparallel-gathers-outputs",
	Severity: lint.Warning,
	Title:    "DataParallel gathers all outputs on GPU 0, and the loss is computed there",
	Why: "the outputs of all GPUs, and their gradients in the backward pass, are on GPU 0 beside its own share of the work: " +
		"it runs out of memory first, and the others wait for it",
	Cost: "outputs of the whole batch instead of a share of it, twice with their gradients: 256 images with 21 classes at 512x512 in fp32 are 5.3 GiB (derived); " +
		"and a copy of the weights to every GPU in each forward pass",
	Misses: "models that are built in one file and trained in another; models whose forward() gives the loss, and scripts that warn of it themselves, are left alone",
	References: []string{"facebookresearch/DeepSDF#20", "DeepMotionAIResearch/DenseMatchingBenchmark#10",
		"https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		inner := c.Arg(0, "module")
		if inner == nil || p.InTest(c) || warns(c) || givesLoss(p, inner) || givesLoss(p, c) {
			return
		}
		names := named(p, c)
		if loss := outside(p, names); loss != nil {
			p.Report(c, "the outputs of all GPUs are gathered on GPU 0, where the loss is computed", lint.See(loss, fmt.Sprintf("%s works on the gathered outputs", p.Text(loss.Func))))
		}
	}, "torch.nn.parallel.DataParallel")
}

// warns reports whether the script itself warns of DataParallel where it uses it.
func warns(c *pyast.Call) bool {
	i, ok := pyast.StmtOf(c).Parent().(*pyast.If)
	if !ok {
		return false
	}
	found := false
	for _, s := range i.Body {
		if e, ok := s.(*pyast.ExprStmt); ok {
			if call, ok := e.Value.(*pyast.Call); ok {
				found = found || strings.Contains(strings.ToLower(pyast.Path(call.Func)), "warn")
			}
		}
	}
	return found
}

// givesLoss reports whether a model's forward() returns the loss.
func givesLoss(p *lint.Pass, e pyast.Expr) bool {
	class := p.ClassNamed(p.Value(e).Class)
	if class == nil || class.Methods["forward"] == nil {
		return false
	}
	found := false
	class.Methods["forward"].OwnStmts(func(n pyast.Node) {
		if r, ok := n.(*pyast.Return); ok && r.Value != nil {
			pyast.Walk(r.Value, func(n pyast.Node) bool {
				if e, ok := n.(pyast.Expr); ok && (p.Value(e).Loss || p.Value(e).Kind == lint.Criterion) {
					found = true
				}
				return true
			})
		}
	})
	return found
}

// A holder is a name that holds the model: in a function, or in all methods of a
// class where it is an attribute.
type holder struct {
	fn    *lint.Func
	class *lint.Class
	path  string
}

func holds(fn *lint.Func, path string) holder {
	if strings.HasPrefix(path, "self.") && fn.Class != nil {
		return holder{nil, fn.Class, path}
	}
	return holder{fn, nil, path}
}

// named are the names that hold the model: the target of its assignment, and
// what functions of this file that get it call it.
func named(p *lint.Pass, c *pyast.Call) map[holder]bool {
	names := map[holder]bool{}
	switch s := pyast.StmtOf(c).(type) {
	case *pyast.Assign:
		for _, path := range targets(s) {
			names[holds(p.FuncOf(s), path)] = true
		}
	case *pyast.Return: // model = wrap(net)
		fn := p.FuncOf(s)
		p.Calls(func(call *pyast.Call) {
			if a, ok := pyast.StmtOf(call).(*pyast.Assign); ok && p.Resolve(call.Func) == fn && a.Value == pyast.Expr(call) {
				for _, path := range targets(a) {
					names[holds(p.FuncOf(a), path)] = true
				}
			}
		})
	default:
		return names
	}
	for range 2 { // main(model) gives it to train(model)
		p.Calls(func(call *pyast.Call) { handsOn(p, call, names) })
	}
	return names
}

// handsOn adds the parameters by which a call gives the model to a function.
func handsOn(p *lint.Pass, call *pyast.Call, names map[holder]bool) {
	fn := p.Resolve(call.Func)
	if fn == nil || fn.Node == nil {
		return
	}
	params := fn.Node.Params
	if len(params) > 0 && params[0].Name == "self" {
		params = params[1:]
	}
	from := p.FuncOf(call)
	for i, arg := range call.Args {
		if path := pyast.Path(arg); i < len(params) && path != "" && names[holds(from, path)] {
			names[holds(fn, params[i].Name)] = true
		}
	}
	for _, k := range call.Keywords {
		if path := pyast.Path(k.Value); k.Name != "" && path != "" && names[holds(from, path)] {
			names[holds(fn, k.Name)] = true
		}
	}
}

// targets are the paths that an assignment binds.
func targets(a *pyast.Assign) []string {
	var out []string
	for _, t := range a.Targets {
		if l, ok := t.(*pyast.List); ok {
			for _, x := range l.Elts {
				out = append(out, pyast.Path(x))
			}
			continue
		}
		out = append(out, pyast.Path(t))
	}
	return out
}

// outside is the loss that is computed from what one of the models gives, in a
// training step, or nil.
func outside(p *lint.Pass, models map[holder]bool) *pyast.Call {
	var found *pyast.Call
	outputs := map[holder]bool{}
	p.Calls(func(c *pyast.Call) {
		fn := p.FuncOf(c)
		path := pyast.Path(c.Func)
		if path == "" || !models[holds(fn, path)] || p.GradOff(c) {
			return
		}
		if loss := around(p, c); loss != nil && found == nil {
			found = loss
		}
		if a, ok := pyast.StmtOf(c).(*pyast.Assign); ok && a.Value == pyast.Expr(c) {
			for _, path := range targets(a) {
				outputs[holds(fn, path)] = true
			}
		}
	})
	p.Calls(func(c *pyast.Call) {
		if found != nil || !isLoss(p, c) || !trained(p, c) {
			return
		}
		for _, a := range c.Args {
			pyast.Walk(a, func(n pyast.Node) bool {
				e, ok := n.(pyast.Expr)
				if !ok {
					return true
				}
				path := pyast.Path(e)
				if path != "" && outputs[holds(p.FuncOf(c), path)] && !strings.Contains(path, "loss") {
					found = c
				}
				return true
			})
		}
	})
	return found
}

// trained reports whether a loss is of a training step.
func trained(p *lint.Pass, c *pyast.Call) bool {
	if p.GradOff(c) {
		return false
	}
	l := p.LoopOf(c)
	return l != nil && (l.Backward || l.Steps) || p.FuncOf(c).Backward
}

// around is the loss that a call is an argument of, or nil.
func around(p *lint.Pass, c *pyast.Call) *pyast.Call {
	for n := c.Parent(); n != nil; n = n.Parent() {
		if o, ok := n.(*pyast.Call); ok && isLoss(p, o) && trained(p, o) {
			return o
		}
		if _, ok := n.(pyast.Stmt); ok {
			return nil
		}
	}
	return nil
}

func isLoss(p *lint.Pass, c *pyast.Call) bool {
	if p.Value(c.Func).Kind == lint.Criterion {
		return true
	}
	name := pyast.Path(c.Func)
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	return (strings.Contains(name, "loss") || strings.Contains(name, "criterion") || strings.Contains(name, "cross_entropy")) && len(c.Args) > 1
}
