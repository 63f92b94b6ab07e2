// Package tfdatawithoutprefetch finds tf.data pipelines that prepare a batch only when it is asked for.
package tfdatawithoutprefetch

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

// Rule is GPU137.
var Rule = &lint.Rule{
	Code:       "GPU137",
	Name:       "tf-data-without-prefetch",
	Severity:   lint.Warning,
	Title:      "A tf.data pipeline ends without prefetch()",
	Why:        "each batch is prepared when the model asks for it, and the GPU waits",
	Cost:       "the whole time to prepare a batch, each step; with prefetch() a step takes the longer of the two, not their sum (TensorFlow guide on data performance)",
	Misses:     "files that prefetch anywhere; pipelines that neither map nor read files; datasets that other functions or packages make",
	Fix:        lint.SafeFix,
	References: []string{"https://www.tensorflow.org/guide/data_performance"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	works := false // the file's pipelines have something to do
	var ends []*pyast.Call
	prefetches := false
	p.Calls(func(c *pyast.Call) {
		works = works || readers[p.Callee(c)]
		a, ok := c.Func.(*pyast.Attribute)
		if !ok {
			return
		}
		prefetches = prefetches || a.Attr == "prefetch"
		if p.Value(a.Value).Kind != lint.TFDataset {
			return
		}
		works = works || a.Attr == "map" || a.Attr == "interleave"
		if a.Attr == "batch" || a.Attr == "padded_batch" {
			ends = append(ends, c)
		}
	})
	if prefetches || !works {
		return
	}
	for _, c := range ends {
		if p.InTest(c) {
			continue
		}
		end := last(c)
		var opts []lint.Option
		if tf := module(p); tf != "" {
			opts = append(opts, lint.Safely("prepare the next batches meanwhile", lint.After(end, ".prefetch("+tf+".data.AUTOTUNE)")))
		}
		p.Report(end, "this pipeline ends without prefetch(): the GPU waits for each batch", opts...)
	}
}

// readers are datasets that read files or call Python.
var readers = map[string]bool{
	"tensorflow.data.TFRecordDataset": true, "tensorflow.data.TextLineDataset": true, "tensorflow.data.Dataset.list_files": true, "tensorflow.data.Dataset.from_generator": true,
}

// last is the last call of the chain that begins with c.
func last(c *pyast.Call) *pyast.Call {
	for {
		a, ok := c.Parent().(*pyast.Attribute)
		if !ok {
			return c
		}
		next, ok := a.Parent().(*pyast.Call)
		if !ok || next.Func != pyast.Expr(a) {
			return c
		}
		c = next
	}
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
