// Package lrucacheonmodule finds caches that keep modules and tensors.
package lrucacheonmodule

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

// Rule is GPU017.
var Rule = &lint.Rule{
	Code:       "GPU017",
	Name:       "lru-cache-on-module",
	Severity:   lint.Warning,
	Title:      "A cache on a method keeps modules and tensors alive",
	Why:        "functools.lru_cache keeps its arguments and results: self, which is the module with all its parameters, and every tensor that was given or returned",
	Cost:       "up to maxsize results (128 as a rule), and the module's parameters after the last other reference is gone",
	Misses:     "caches of functions that get tensors by position under another name; cached properties and methods whose other arguments are plain numbers and results no tensors cost only the reference to self",
	References: []string{"https://docs.astral.sh/ruff/rules/cached-instance-method/", "https://docs.python.org/3/library/functools.html#functools.lru_cache"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	for _, class := range p.Classes {
		module := false
		for _, base := range []string{"torch.nn.Module", "lightning.pytorch.LightningModule", "transformers.PreTrainedModel"} {
			module = module || p.IsClass(class, base)
		}
		if !module {
			continue
		}
		for _, fn := range class.Methods {
			if d := cached(p, fn); d != nil && keeps(p, fn) && !p.InTest(fn.Node) {
				p.Report(d, fmt.Sprintf("the cache of %s keeps the module and the tensors that it gives", fn.Name))
			}
		}
	}
}

// cached is a method's decorator that caches, or nil.
func cached(p *lint.Pass, fn *lint.Func) pyast.Expr {
	static := false
	var found pyast.Expr
	for _, d := range fn.Node.Decorators {
		callee := d
		if c, ok := d.(*pyast.Call); ok {
			callee = c.Func
		}
		switch p.Qual(callee) {
		case "functools.lru_cache", "functools.cache":
			found = d
		}
		path := pyast.Path(callee)
		static = static || path == "staticmethod" || path == "classmethod"
	}
	if static {
		return nil
	}
	return found
}

// keeps reports whether a method gets or gives tensors.
func keeps(p *lint.Pass, fn *lint.Func) bool {
	for _, param := range fn.Node.Params {
		if param.Annotation != nil && strings.Contains(p.Text(param.Annotation), "Tensor") {
			return true
		}
	}
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		if r, ok := n.(*pyast.Return); ok && r.Value != nil && tensors(p.Value(r.Value)) {
			found = true
		}
	})
	return found
}

func tensors(v lint.Value) bool {
	if v.Kind == lint.Tensor || v.Elem != nil && tensors(*v.Elem) {
		return true
	}
	for _, x := range v.Items {
		if tensors(x) {
			return true
		}
	}
	return false
}
