// Package evalnotrestored finds trainings that go on in evaluation mode.
package evalnotrestored

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

// Rule is GPU005.
var Rule = &lint.Rule{
	Code:       "GPU005",
	Name:       "eval-not-restored",
	Severity:   lint.Warning,
	Title:      "Training goes on in evaluation mode after the first evaluation",
	Why:        "eval() stays until train() is called: from the first evaluation on dropout is off and batch norm uses and keeps its old statistics, so the rest of the run trains another model",
	Cost:       "the GPU time from the first evaluation to the end of the run, which has to be repeated",
	Misses:     "models that come under another name, functions of other files that call train() themselves (then it is silent), and evaluations outside of the training loop",
	Fix:        lint.NoFix,
	References: []string{"https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html", "https://docs.pytorch.org/docs/stable/notes/autograd.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		if len(c.Args) > 0 || p.Value(on).Kind != lint.Module || p.InTest(c) || p.Freezes(on) {
			return
		}
		for _, l := range p.Loops {
			if trains(l) && trained(p, l, outside(p, l, c, on)) && !restored(p, l) {
				p.Report(c, fmt.Sprintf("%s is put into evaluation mode, and the training loop never calls train() again", p.Text(on)), lint.See(l.Node, "the loop"))
				return
			}
		}
	}, "eval")
}

// trains reports whether each round of a loop trains and may evaluate: it is
// the outermost that does.
func trains(l *lint.Loop) bool {
	return l.Backward && l.Steps && (l.Outer == nil || !l.Outer.Backward) && (l.Step() || l.Epoch())
}

// outside is the path that the loop has the model under that c puts into
// evaluation mode; "" if no round of the loop runs c, itself or in a function of
// this file that gets the model.
func outside(p *lint.Pass, l *lint.Loop, c *pyast.Call, model pyast.Expr) string {
	path, fn := pyast.Path(model), p.FuncOf(c)
	if lint.InBlock(l.Body, c) {
		return path
	}
	if fn == p.Top {
		return ""
	}
	found := ""
	lint.EachIn(l.Body, func(call *pyast.Call) {
		if p.Resolve(call.Func) != fn {
			return
		}
		if fn.Class != nil && strings.HasPrefix(path, "self.") {
			found = path
		}
		params := fn.Node.Params
		if fn.Class != nil && len(params) > 0 {
			params = params[1:]
		}
		for i, param := range params {
			if param.Name == path {
				found = pyast.Path(call.Arg(i, path))
			}
		}
	})
	return found
}

// trained reports whether a round of the loop runs the model of a path for its
// gradients.
func trained(p *lint.Pass, l *lint.Loop, path string) bool {
	found := false
	lint.EachIn(l.Body, func(c *pyast.Call) {
		found = found || path != "" && p.IsForward(c) && (pyast.Path(c.Func) == path || pyast.Path(c.Func) == path+".forward") && !p.GradOff(c)
	})
	return found
}

// restored reports whether a round may call train(): in the loop, in a function
// of this file that it calls, or in one that is not seen.
func restored(p *lint.Pass, l *lint.Loop) bool {
	found := false
	mode := func(c *pyast.Call) {
		name, on := p.Method(c)
		found = found || on != nil && (name == "train" || name == "training_step")
	}
	lint.EachIn(l.Body, func(c *pyast.Call) {
		mode(c)
		if fn := p.Resolve(c.Func); fn != nil {
			fn.OwnStmts(func(n pyast.Node) {
				if inner, ok := n.(*pyast.Call); ok {
					mode(inner)
					found = found || p.Resolve(inner.Func) == nil && takesModel(p, inner)
				}
			})
			return
		}
		found = found || takesModel(p, c)
	})
	return found
}

// takesModel reports whether a function that is not seen gets a model.
func takesModel(p *lint.Pass, c *pyast.Call) bool {
	if _, on := p.Method(c); on != nil && p.Value(on).Kind != lint.Unknown {
		return false // a method of something that is known
	}
	for _, a := range c.Args {
		if p.Value(a).Kind == lint.Module && p.Resolve(c.Func) == nil {
			return true
		}
	}
	return false
}
