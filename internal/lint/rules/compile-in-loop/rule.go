// Package compileinloop finds functions that are compiled anew in each round of a loop.
package compileinloop

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

// Rule is GPU146.
var Rule = &lint.Rule{
	Code:       "GPU146",
	Name:       "compile-in-loop",
	Severity:   lint.Warning,
	Title:      "A function is compiled anew in every round of a loop",
	Why:        "jit, tf.function and torch.compile keep what they compiled with the function object that they return; a new object compiles everything again",
	Cost:       "seconds to minutes of compilation each round, against ms for the step (order of size)",
	Misses:     "functions that are compiled in a helper of another file; loops over models or settings, where each is compiled once, are left alone",
	Fix:        lint.NoFix,
	References: []string{"https://docs.jax.dev/en/latest/jit-compilation.html", "https://www.tensorflow.org/guide/function", "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		l := p.LoopOf(c)
		if p.InTest(c) || !p.EachStep(c) && (l == nil || !steps(p, l, c)) || changes(p, l, c) {
			return
		}
		p.Report(c, p.Text(c.Func)+"() compiles anew in every round: do it once, before the loop")
	}, "jax.jit", "jax.pmap", "tensorflow.function", "torch.compile", "torch.jit.script", "torch.jit.trace")
}

// steps reports whether a loop goes over batches or counts steps, by what it
// goes over, and calls what is compiled.
func steps(p *lint.Pass, l *lint.Loop, c *pyast.Call) bool {
	q := p.Callee(c)
	if q != "jax.jit" && q != "jax.pmap" && q != "tensorflow.function" || !lint.Always(p.Guards(c, l.Node)) {
		return false
	}
	if l.Over.Kind == lint.Loader || l.Over.Kind == lint.TFDataset {
		return true
	}
	name := strings.ToLower(pyast.Path(l.Target))
	return name == "step" || name == "epoch" || name == "iteration" || name == "batch"
}

// changes reports whether what is compiled is another thing each round: the
// loop's variable, or a model made in the loop.
func changes(p *lint.Pass, l *lint.Loop, c *pyast.Call) bool {
	if l == nil || len(c.Args) == 0 {
		return false
	}
	path := pyast.Path(c.Args[0])
	if path == "" {
		return false // a lambda, a partial
	}
	for _, r := range p.FuncOf(c).Refs[path] {
		if r.Store && l.Node.Span().Has(r.Node.Span()) {
			return true
		}
	}
	return false
}
