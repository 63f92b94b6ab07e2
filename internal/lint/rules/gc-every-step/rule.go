// Package gceverystep finds training steps that run Python's garbage collector.
package gceverystep

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

// Rule is GPU021.
var Rule = &lint.Rule{
	Code:       "GPU021",
	Name:       "gc-every-step",
	Severity:   lint.Warning,
	Title:      "gc.collect() runs on every step",
	Why:        "a full collection visits every object of the process, the millions that imports and datasets made among them, while the GPU gets no work; tensors are freed without it when their last reference goes",
	Cost:       "10 to 300 ms of the CPU each step, by the number of live objects (about 0.1 s for each million objects, CPython)",
	Misses:     "collections in functions of other packages; collections behind a condition that holds only at times, or between epochs, are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.python.org/3/library/gc.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		if !p.EachBatch(c) || p.Measures(c) || generation(c) {
			return
		}
		var opts []lint.Option
		if s, ok := c.Parent().(*pyast.ExprStmt); ok {
			opts = append(opts, lint.Unsafely("leave it to Python", p.DeleteStmt(s)))
		}
		p.Report(c, "all objects of the process are visited on every step", opts...)
	}, "gc.collect")
}

// generation reports whether only young objects are visited, which is fast.
func generation(c *pyast.Call) bool {
	k, ok := c.Arg(0, "generation").(*pyast.Constant)
	return ok && (k.Text == "0" || k.Text == "1")
}
