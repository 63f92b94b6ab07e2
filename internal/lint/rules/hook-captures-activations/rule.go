// Package hookcapturesactivations finds hooks that pile up activations.
package hookcapturesactivations

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

// Rule is GPU016.
var Rule = &lint.Rule{
	Code:       "GPU016",
	Name:       "hook-captures-activations",
	Severity:   lint.Warning,
	Title:      "A forward hook collects activations with their graphs in a list that is never emptied",
	Why:        "every forward pass adds an element to the list, and each keeps the activations and the graph of its pass",
	Cost:       "the activations of a whole forward pass each time (derived)",
	Misses:     "hooks that are methods of other files; hooks that detach, that overwrite one element, whose handle is removed, or whose list is emptied are left alone",
	References: []string{"https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook", "https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	if released(p) {
		return
	}
	p.MethodCalls(func(c *pyast.Call, _ pyast.Expr) {
		if len(c.Args) == 0 || p.InTest(c) {
			return
		}
		callee := c.Args[0]
		if make, ok := callee.(*pyast.Call); ok { // make_hook(name)
			callee = make.Func
		}
		if hook, ok := callee.(*pyast.Lambda); ok { // lambda module, inputs, output: outputs.append(output)
			lint.Each(hook.Body, func(a *pyast.Call) { grows(p, a, hook.Params) })
			return
		}
		fn := p.Resolve(callee)
		if fn == nil || fn.Node == nil {
			return
		}
		lint.EachIn(fn.Node.Body, func(a *pyast.Call) {
			if hook := p.FuncOf(a); hook.Node != nil && !local(hook, lint.Base(on(p, a))) {
				grows(p, a, hook.Node.Params)
			}
		})
	}, "register_forward_hook")
}

// grows reports a hook's list.append(output) without detach().
func grows(p *lint.Pass, a *pyast.Call, params []*pyast.Param) {
	name, on := p.Method(a)
	path := lint.Base(on)
	if name != "append" || path == "" || len(a.Args) != 1 {
		return
	}
	if len(params) < 3 || p.GradOff(a) {
		return
	}
	output := params[len(params)-1].Name
	text := p.Text(a.Args[0])
	if text != output && !strings.HasPrefix(text, output+"[") && !strings.HasPrefix(text, output+".clone()") {
		return
	}
	p.Report(a, fmt.Sprintf("%s grows with each forward pass, graphs included", path))
}

// on is what a call's method works on.
func on(p *lint.Pass, c *pyast.Call) pyast.Expr {
	_, on := p.Method(c)
	return on
}

func local(fn *lint.Func, path string) bool {
	for _, p := range fn.Node.Params {
		if p.Name == path && path != "self" {
			return true
		}
	}
	return fn.Locals[path]
}

// released reports whether the file empties lists or removes hooks, or never
// trains.
func released(p *lint.Pass) bool {
	found := false
	p.MethodCalls(func(c *pyast.Call, _ pyast.Expr) {
		name, _ := p.Method(c)
		found = found || name == "clear" || name == "remove" && len(c.Args) == 0 || name == "pop"
	}, "clear", "remove", "pop")
	trains := p.Top.Backward
	for _, fn := range p.Funcs {
		trains = trains || fn.Backward
	}
	return found || !trains
}
