// Package keraspredictinloop finds Keras models that predict one sample after the other.
package keraspredictinloop

import (
	_ "embed"
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

// Rule is GPU148.
var Rule = &lint.Rule{
	Code:       "GPU148",
	Name:       "keras-predict-in-loop",
	Severity:   lint.Warning,
	Title:      "predict() is called in a loop",
	Why:        "each predict() makes a dataset and a progress bar of its own, and runs one batch; a model is called for one batch, and predict() for all",
	Cost:       "some 20 to 50 ms a call besides the model (order of size), and batches that are too small for the GPU",
	Misses:     "models that are not known to be of Keras; loops over models or folds, in which each predicts once, are left alone",
	Fix:        lint.NoFix,
	References: []string{"https://keras.io/api/models/model_training_apis/"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		if p.Value(on).Kind != lint.KerasModel || p.InTest(c) || len(c.Args) == 0 {
			return
		}
		var round pyast.Node
		if l := p.LoopOf(c); l != nil {
			round = l.Node
		}
		if comp := comprehension(c); comp != nil {
			round = comp
		}
		if f, ok := round.(*pyast.For); ok && batches(p, f) {
			return
		}
		if round == nil || !lint.Always(p.Guards(c, round)) || madeIn(p, round, on) {
			return
		}
		if depends(p, round, c.Args[0]) {
			p.Report(c, p.Text(c.Func)+"() runs a whole prediction for each round: predict all samples at once, or call the model")
		}
	}, "predict", "predict_on_batch")
}

// batches reports whether a loop goes over batches, each of which is predicted
// as a whole.
func batches(p *lint.Pass, f *pyast.For) bool {
	if l := p.LoopOf(f.Body[0]); l != nil && (l.Over.Kind == lint.TFDataset || l.Over.Kind == lint.Loader) {
		return true
	}
	over := strings.ToLower(p.Text(f.Iter) + " " + p.Text(f.Target))
	return strings.Contains(over, "batch") || strings.Contains(over, "generator") || strings.Contains(over, "dataset")
}

// comprehension is the one whose element n is in, or nil.
func comprehension(n pyast.Node) pyast.Node {
	for child, up := n, n.Parent(); up != nil; child, up = up, up.Parent() {
		switch x := up.(type) {
		case *pyast.Comp:
			if child == pyast.Node(x.Elt) {
				return x
			}
		case pyast.Stmt:
			return nil
		}
	}
	return nil
}

// madeIn reports whether the model is another one in each round.
func madeIn(p *lint.Pass, round pyast.Node, e pyast.Expr) bool {
	for _, r := range p.FuncOf(e).Refs[pyast.Path(e)] {
		if r.Store && round.Span().Has(r.Node.Span()) {
			return true
		}
	}
	return false
}

// depends reports whether a value is another one in each round: it names
// something that the loop assigns.
func depends(p *lint.Pass, round pyast.Node, e pyast.Expr) bool {
	found := false
	fn := p.FuncOf(e)
	lint.Each(e, func(n *pyast.Name) {
		for _, r := range fn.Refs[n.Ident] {
			found = found || r.Store && round.Span().Has(r.Node.Span())
		}
	})
	return found
}
