// Package loaderconsumedforlen finds loaders that are read to the end to count their batches.
package loaderconsumedforlen

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

// Rule is GPU112.
var Rule = &lint.Rule{
	Code:       "GPU112",
	Name:       "loader-consumed-for-len",
	Severity:   lint.Warning,
	Title:      "A loader is read to its end only to count its batches",
	Why:        "every sample is loaded and decoded once more, and all batches are in memory together",
	Cost:       "a second pass over the data, and the bytes of all batches at once, each time",
	Misses:     "loaders that are not known to be such; loaders of iterable datasets have no length, and need a counter in the loop",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/data.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		name := pyast.Path(c.Func)
		if len(c.Args) != 1 || name != "len" && name != "sum" {
			return
		}
		loader := counted(name, c.Args[0])
		if loader == nil || p.Value(loader).Kind != lint.Loader {
			return
		}
		p.Report(c, p.Text(c)+" loads all data to count its batches", lint.Unsafely("ask the loader", lint.Replace(c, "len("+p.Text(loader)+")")))
	})
}

// counted is x in len(list(x)) and sum(1 for _ in x), or nil.
func counted(name string, e pyast.Expr) pyast.Expr {
	switch e := e.(type) {
	case *pyast.Call:
		if f := pyast.Path(e.Func); name == "len" && (f == "list" || f == "tuple") && len(e.Args) == 1 {
			return e.Args[0]
		}
	case *pyast.Comp:
		one, ok := e.Elt.(*pyast.Constant)
		if len(e.Clauses) != 1 || len(e.Clauses[0].Ifs) > 0 {
			return nil
		}
		if name == "len" && e.Kind == "list" || name == "sum" && ok && one.Text == "1" {
			return e.Clauses[0].Iter
		}
	}
	return nil
}
