// Package gradtensorappended finds lists that keep the graph of every step.
package gradtensorappended

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

// Rule is GPU002.
var Rule = &lint.Rule{
	Code:       "GPU002",
	Name:       "grad-tensor-appended",
	Severity:   lint.Error,
	Title:      "A list collects tensors with their autograd graphs",
	Why:        "each element keeps the graph that it was computed by, so no step's graph can be freed while the list lives; in an evaluation with gradients on that is every activation of every batch",
	Cost:       "after backward() about 6 KB of host memory and one 512 B block on the GPU each step (measured, PyTorch 1.13); without it the activations of a whole forward pass each step",
	Misses:     "lists in objects of other classes; losses are for GPU001; lists that backward() is called on, that the loop empties, and, in training, tensors that no backward pass uses are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory", "adriansahlman/stylegan2_pytorch#11"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Appends(func(at pyast.Node, path string, value pyast.Expr) {
		v := p.Value(value)
		l := p.LoopOf(at)
		if l == nil || !v.HasGraph() || v.Loss || p.GradOff(at) || p.InTest(at) || !p.OutlivesRound(l, path) || l.Func.ReachesBackward(path) || l.Empties(path) {
			return
		}
		opts := []lint.Option{lint.Unsafely("keep the value without its graph", detach(p, value))}
		switch {
		case l.EvalLoop() && l.Over.Kind == lint.Loader && !l.Func.Backward:
			opts = append(opts, lint.Cost("all activations of a forward pass, each batch: nothing frees them, because backward() never runs"), lint.Of(lint.Activations))
		case l.Step() && pyast.Path(value) != "" && l.Func.ReachesBackward(pyast.Path(value)):
			opts = append(opts, lint.As(lint.Warning))
		default:
			return
		}
		p.Report(at, fmt.Sprintf("%s keeps the autograd graph of every %s", path, p.Text(value)), opts...)
	})
}

// detach appends .detach(), with parentheses around what is not one term.
func detach(p *lint.Pass, e pyast.Expr) lint.Edit {
	switch e.(type) {
	case *pyast.Name, *pyast.Attribute, *pyast.Call, *pyast.Subscript:
		return lint.After(e, ".detach()")
	}
	return lint.Replace(e, "("+p.Text(e)+").detach()")
}
