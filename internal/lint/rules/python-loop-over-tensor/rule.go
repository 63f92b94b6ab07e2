// Package pythonloopovertensor finds loops over the samples of a batch on the GPU, one by one.
package pythonloopovertensor

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

// Rule is GPU117.
var Rule = &lint.Rule{
	Code:       "GPU117",
	Name:       "python-loop-over-tensor",
	Severity:   lint.Warning,
	Title:      "A loop takes the samples of a batch on the GPU one by one",
	Why:        "each round starts its own kernels for one sample; the GPU is mostly idle between them, and the work of a whole batch is one kernel of each kind",
	Cost:       "5 to 10 microseconds of launch for each operation and sample, on the CPU (general): 256 samples with four operations are 5 to 10 ms a step, of kernels that take together less than 1 ms",
	Misses:     "loops over time steps, layers and lists, which may be needed; loops whose rounds differ by data",
	Fix:        lint.NoFix,
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html", "https://github.com/pytorch/pytorch/blob/main/torch/profiler/_pattern_matcher.py"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	for _, l := range p.Loops {
		f, ok := l.Node.(*pyast.For)
		if !ok || p.InTest(f) || !p.EachBatch(f) {
			continue
		}
		index, tensor := counted(p, f)
		if index == "" || !perSample(p, l, index, tensor) {
			continue
		}
		p.Report(f.Iter, fmt.Sprintf("each sample of %s is computed by itself: compute the batch at once", tensor))
	}
}

// counted is the index of a loop over the first dimension of a tensor on the
// GPU, and the tensor: for i in range(len(x)), range(x.size(0)), range(x.shape[0]).
func counted(p *lint.Pass, f *pyast.For) (index, tensor string) {
	r, ok := f.Iter.(*pyast.Call)
	if !ok || pyast.Path(r.Func) != "range" || len(r.Args) != 1 {
		return "", ""
	}
	var of pyast.Expr
	switch n := r.Args[0].(type) {
	case *pyast.Call:
		if pyast.Path(n.Func) == "len" && len(n.Args) == 1 {
			of = n.Args[0]
		} else if name, on := p.Method(n); name == "size" && len(n.Args) == 1 && p.Text(n.Args[0]) == "0" {
			of = on
		}
	case *pyast.Subscript:
		if a, ok := n.Value.(*pyast.Attribute); ok && a.Attr == "shape" && len(n.Index) == 1 && p.Text(n.Index[0]) == "0" {
			of = a.Value
		}
	}
	if of == nil || !p.OnDevice(of) {
		return "", ""
	}
	return pyast.Path(f.Target), pyast.Path(of)
}

// perSample reports whether the body computes with the tensor's sample alone:
// nothing else depends on the index, and no round ends early.
func perSample(p *lint.Pass, l *lint.Loop, index, tensor string) bool {
	computes, other := false, tensor == ""
	lint.EachIn(l.Body, func(s *pyast.Simple) { other = other || s.Word == "break" || s.Word == "continue" })
	lint.EachIn(l.Body, func(*pyast.If) { other = true })
	lint.EachIn(l.Body, func(n *pyast.Name) {
		if n.Ident != index || n.Store {
			return
		}
		s, ok := n.Parent().(*pyast.Subscript)
		if !ok || s.Value == pyast.Expr(n) || s.Store || s.Index[0] != pyast.Expr(n) || !p.Value(s.Value).IsTensor() {
			other = true
			return
		}
		on := p.OnDevice(s.Value)
		switch up := s.Parent().(type) {
		case *pyast.BinOp:
			computes = computes || on
		case *pyast.Call:
			computes = computes || on && up.Func != pyast.Expr(s) && p.Value(up).Kind == lint.Tensor
		}
	})
	return computes && !other
}
