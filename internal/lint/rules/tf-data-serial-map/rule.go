// Package tfdataserialmap finds tf.data pipelines that map on one core.
package tfdataserialmap

import (
	_ "embed"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU147.
var Rule = &lint.Rule{
	Code:       "GPU147",
	Name:       "tf-data-serial-map",
	Severity:   lint.Warning,
	Title:      "A tf.data map() runs on one core",
	Why:        "without num_parallel_calls one thread maps one element after the other, and the GPU waits for it",
	Cost:       "the function's time times the batch size, each step: decoding one 224x224 JPEG takes some 5 ms, a batch of 128 half a second (order of size)",
	Misses:     "datasets that other functions or packages make; map() with **options; maps after batch(), which run once a batch",
	Fix:        lint.UnsafeFix,
	References: []string{"https://www.tensorflow.org/guide/data_performance"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		if p.Value(on).Kind != lint.TFDataset || c.Arg(1, "num_parallel_calls") != nil || len(c.Args) == 0 || c.Spreads() || p.InTest(c) || batched(p, on, 0) {
			return
		}
		var opts []lint.Option
		if tf := module(p); tf != "" {
			opts = append(opts, lint.Unsafely("map on all cores", p.SetArg(c, "num_parallel_calls", tf+".data.AUTOTUNE")))
		}
		p.Report(c.Args[0], "this map() runs on one core: give it num_parallel_calls", opts...)
	}, "map")
}

// batched reports whether a pipeline has batched before this.
func batched(p *lint.Pass, e pyast.Expr, depth int) bool {
	if depth > 8 {
		return false
	}
	if c, ok := e.(*pyast.Call); ok {
		a, ok := c.Func.(*pyast.Attribute)
		return ok && (a.Attr == "batch" || a.Attr == "padded_batch" || batched(p, a.Value, depth+1))
	}
	if n, ok := e.(*pyast.Name); ok {
		for _, r := range p.FuncOf(e).Refs[n.Ident] {
			if a, ok := r.Node.Parent().(*pyast.Assign); ok && r.Store && r.Node.Span().Start < e.Span().Start && a.Value != nil && a.Value.Span().End <= e.Span().Start && batched(p, a.Value, depth+1) {
				return true
			}
		}
	}
	return false
}

// module is the name that tensorflow is imported under, or "".
func module(p *lint.Pass) string {
	for name, q := range p.Imports {
		if q == "tensorflow" {
			return name
		}
	}
	return ""
}
