// Package oomretryinsideexcept finds retries that run while the exception still
// holds what failed.
package oomretryinsideexcept

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

// Rule is GPU015.
var Rule = &lint.Rule{
	Code:     "GPU015",
	Name:     "oom-retry-inside-except",
	Severity: lint.Error,
	Title:    "After exhausted memory the step is tried again inside the except block",
	Why: "while the handler runs, the exception's traceback refers to the frames of the failed step, and they hold its tensors; " +
		"empty_cache() cannot free them, and the retry starts with the memory still full",
	Cost: "the activations of the failed step up to where it failed, which is nearly all memory that was free before it",
	Of:   lint.Activations,
	Misses: "handlers of RuntimeError that name neither the message nor empty_cache(); retries in functions whose call gets no model and that the try does not call; " +
		"handlers that only note that it failed are left alone",
	References: []string{"pytorch/pytorch#27600", "https://docs.pytorch.org/docs/stable/notes/faq.html#my-out-of-memory-exception-handler-can-t-allocate-memory"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	lint.Each(p.Module, func(t *pyast.Try) {
		for _, h := range t.Handlers {
			if !outOfMemory(p, h) {
				continue
			}
			if c := retry(p, t, h); c != nil {
				p.Report(c, fmt.Sprintf("%s runs again while the exception still holds the failed step's tensors", p.Text(c.Func)), lint.See(h, "the handler"))
			} else if s := keeps(p, t, h); s != nil {
				p.Report(s, fmt.Sprintf("%s outlives the handler, and with its traceback the tensors of the failed step", h.Name), lint.See(h, "the handler"))
			}
		}
	})
}

// outOfMemory reports whether a handler is for exhausted GPU memory: by its
// type, or by what it does.
func outOfMemory(p *lint.Pass, h *pyast.Handler) bool {
	broad := h.Type == nil
	for _, t := range h.TypeList {
		switch name := p.Qual(t); {
		case strings.HasSuffix(name, "OutOfMemoryError"), strings.HasSuffix(pyast.Path(t), "OutOfMemoryError"):
			return true
		}
		switch pyast.Path(t) {
		case "RuntimeError", "Exception", "BaseException":
			broad = true
		}
	}
	if !broad {
		return false
	}
	found := false
	for _, s := range h.Body {
		pyast.Walk(s, func(n pyast.Node) bool {
			switch n := n.(type) {
			case *pyast.Constant:
				found = found || n.Kind == pyast.String && strings.Contains(strings.ToLower(n.Str), "out of memory")
			case *pyast.Call:
				q := p.Callee(n)
				found = found || q == "torch.cuda.empty_cache" || strings.Contains(strings.ToLower(pyast.Path(n.Func)), "oom")
			}
			return true
		})
	}
	return found
}

// retry is the first call in a handler that runs a model again, or nil.
func retry(p *lint.Pass, t *pyast.Try, h *pyast.Handler) *pyast.Call {
	tried := map[string]bool{}
	lint.EachIn(t.Body, func(c *pyast.Call) {
		if path := pyast.Path(c.Func); path != "" && (!cheap(path) || strings.HasSuffix(path, "step") && anyData(c)) && p.Callee(c) == "" || strings.HasPrefix(p.Callee(c), ".") {
			tried[path] = true
		}
	})
	var found *pyast.Call
	for _, s := range h.Body {
		pyast.Walk(s, func(n pyast.Node) bool {
			switch n := n.(type) {
			case *pyast.FuncDef, *pyast.Lambda, *pyast.ClassDef, *pyast.Raise:
				return false
			case *pyast.Call:
				// The innermost first: criterion(model(x)) runs the model.
				if again(p, n, tried) && !onCPU(p, n) {
					found = inner(found, n)
				}
			}
			return true
		})
	}
	return found
}

// inner is the call that runs first of two.
func inner(found, n *pyast.Call) *pyast.Call {
	if found == nil || lint.Inside(n, found) {
		return n
	}
	return found
}

// again reports whether a call runs the model, or a function that does.
func again(p *lint.Pass, c *pyast.Call, tried map[string]bool) bool {
	name, on := p.Method(c)
	if p.IsForward(c) || name == "backward" && len(c.Args) < 2 || name == "generate" && p.Value(on).Kind == lint.Module {
		return true
	}
	if path := pyast.Path(c.Func); tried[path] && path != "" && anyData(c) {
		return true
	}
	if fn := p.Resolve(c.Func); fn != nil {
		return fn.Forward || fn.Backward || fn == p.FuncOf(c)
	}
	return false
}

// anyData reports whether a call gets more than constants.
func anyData(c *pyast.Call) bool {
	for _, a := range c.Args {
		switch a.(type) {
		case *pyast.Constant, *pyast.FString:
		default:
			return true
		}
	}
	return len(c.Keywords) > 0
}

// onCPU reports whether a retry runs on the CPU.
func onCPU(p *lint.Pass, c *pyast.Call) bool {
	if p.Value(c).Place == lint.CPU && p.Value(c).Kind == lint.Tensor && p.Value(c.Func).Place == lint.CPU {
		return true
	}
	return false
}

// cheap reports whether a call needs no memory, or frees some.
func cheap(path string) bool {
	if !strings.Contains(path, ".") && builtins[path] {
		return true
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	for _, w := range []string{"print", "log", "warn", "report"} {
		if strings.Contains(strings.ToLower(last), w) {
			return true
		}
	}
	switch last {
	case "size", "to", "cuda", "cpu", "item", "zero_grad", "info", "warning", "warn", "error", "debug", "exception", "log", "write", "append", "add", "update",
		"set_postfix", "set_description", "clear", "pop", "get", "items", "keys", "values", "format", "join", "split", "lower", "time", "step_done",
		"train", "eval", "close", "flush", "empty_cache", "collect", "sleep", "step", "parameters", "state_dict", "load_state_dict", "save", "detach", "numel", "dim", "record":
		return true
	}
	return false
}

var builtins = map[string]bool{"print": true, "len": true, "range": true, "min": true, "max": true, "int": true, "str": true, "float": true, "isinstance": true,
	"next": true, "iter": true, "list": true, "dict": true, "tuple": true, "enumerate": true, "zip": true, "sum": true, "getattr": true, "setattr": true, "hasattr": true, "open": true, "repr": true, "any": true, "all": true, "sorted": true, "type": true}

// keeps is the statement with which a handler in a loop, or before a retry,
// keeps the exception itself.
func keeps(p *lint.Pass, t *pyast.Try, h *pyast.Handler) pyast.Stmt {
	if h.Name == "" {
		return nil
	}
	runs := false
	lint.EachIn(t.Body, func(c *pyast.Call) {
		fn := p.Resolve(c.Func)
		runs = runs || p.IsForward(c) || fn != nil && (fn.Forward || fn.Backward)
	})
	if !runs {
		return nil
	}
	var found pyast.Stmt
	for _, s := range h.Body {
		a, ok := s.(*pyast.Assign)
		if !ok || found != nil || len(a.Targets) != 1 {
			continue
		}
		if name, ok := a.Value.(*pyast.Name); ok && name.Ident == h.Name && p.FuncOf(t).UsedAfter(pyast.Path(a.Targets[0]), t) && p.LoopOf(t) != nil {
			found = a
		}
	}
	return found
}
