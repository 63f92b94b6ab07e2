// Package deepcopymodelongpu finds models that are copied on the GPU while they train.
package deepcopymodelongpu

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

// Rule is GPU013.
var Rule = &lint.Rule{
	Code:       "GPU013",
	Name:       "deepcopy-model-on-gpu",
	Severity:   lint.Warning,
	Title:      "A model on the GPU is copied there in the training loop",
	Why:        "deepcopy() makes a second set of weights where the first one is, beside the gradients and the optimizer's state of the training",
	Cost:       "4 bytes a parameter each time, 2 in 16 bit (derived); yolov5's checkpoints add that twice, for the model and its average",
	Of:         lint.Weights,
	Misses:     "copies that functions of other files make; copies before the loop, as averages of the weights and frozen teachers need them, and copies of models that were moved to the CPU",
	References: []string{"https://github.com/ultralytics/yolov5/blob/5081342/train.py#L472", "https://docs.pytorch.org/docs/stable/notes/serialization.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		if len(c.Args) == 0 || p.InTest(c) {
			return
		}
		v := p.Value(c.Args[0])
		l := p.LoopOf(c)
		if v.Kind != lint.Module || v.Place == lint.CPU || part(c.Args[0]) || l == nil {
			return
		}
		trains := false
		for o := l; o != nil; o = o.Outer {
			trains = trains || o.Backward && o.Steps
		}
		if trains && !building(p, c) {
			p.Report(c, fmt.Sprintf("%s is copied on the GPU", p.Text(c.Args[0])))
		}
	}, "copy.deepcopy")
}

// part reports whether an expression is a part of a model, by its index.
func part(e pyast.Expr) bool {
	_, ok := e.(*pyast.Subscript)
	return ok
}

// building reports whether a copy goes into a container: a population of models.
func building(p *lint.Pass, c *pyast.Call) bool {
	for n := c.Parent(); n != nil; n = n.Parent() {
		switch x := n.(type) {
		case *pyast.Comp:
			return true
		case *pyast.Call:
			if name, _ := p.Method(x); name == "append" || name == "cpu" {
				return true
			}
		case pyast.Stmt:
			return false
		}
	}
	return false
}
