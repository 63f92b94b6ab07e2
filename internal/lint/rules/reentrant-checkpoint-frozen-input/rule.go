// Package reentrantcheckpointfrozeninput finds checkpoints of the re-entrant
// kind whose input needs no gradient.
package reentrantcheckpointfrozeninput

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

// Rule is GPU031.
var Rule = &lint.Rule{
	Code:     "GPU031",
	Name:     "reentrant-checkpoint-frozen-input",
	Severity: lint.Error,
	Title:    "Re-entrant checkpointing of a block whose input needs no gradient",
	Why: "the re-entrant kind runs the block without gradients and joins the graph by its inputs alone: if none of them needs a gradient, " +
		"the output has none, and the block's own parameters are not trained",
	Cost: "the block learns nothing; the usual ways out, a dummy input or requires_grad on the input, keep a gradient of the input's size " +
		"that the other kind does without (derived)",
	Misses: "inputs of which it is not known whether they need gradients; calls without use_reentrant are judged as re-entrant, which was PyTorch's default",
	Fix:    lint.UnsafeFix,
	References: []string{"mlfoundations/open_clip#573", "pytorch/pytorch#7617",
		"https://docs.pytorch.org/docs/stable/checkpoint.html"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		options, all := p.Options(c)
		how := options["use_reentrant"]
		if !all || how != nil && !lint.IsTrue(constant(p, how)) || p.GradOff(c) || p.InTest(c) || len(c.Args) < 2 {
			return
		}
		inputs := c.Args[1:]
		if strings.HasSuffix(p.Callee(c), "_sequential") {
			inputs = c.Args[2:]
		}
		frozen := false
		for _, a := range inputs {
			switch needs(p, a) {
			case lint.Yes, lint.Maybe:
				return
			}
			frozen = frozen || p.Value(a).Kind == lint.Tensor || pyast.Path(a) != "" || isCall(a)
		}
		if !frozen || p.Freezes(c.Args[0]) {
			return
		}
		p.Report(c, fmt.Sprintf("%s needs no gradient, so this block gets none", p.Text(inputs[0])),
			lint.Unsafely("use the other kind", p.SetArg(c, "use_reentrant", "False")))
	}, "torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential")
	adapters(p)
}

func isCall(e pyast.Expr) bool {
	_, ok := e.(*pyast.Call)
	return ok
}

func constant(p *lint.Pass, e pyast.Expr) pyast.Expr {
	if k := p.Const(e); k != nil {
		return k
	}
	return e
}

// needs reports whether an input needs a gradient the first time that the
// checkpoint runs: before its loop, if it is in one.
func needs(p *lint.Pass, e pyast.Expr) lint.Tri {
	if k, ok := e.(*pyast.Constant); ok && k.Kind != pyast.Ellipsis {
		return lint.No
	}
	path := pyast.Path(e)
	if path == "" {
		return made(p, e)
	}
	fn := p.FuncOf(e)
	if asked(fn, path, e) {
		return lint.Yes
	}
	if l := p.LoopOf(e); l != nil && storedIn(l, path) {
		if before := fn.StoreBefore(path, l.Node); before != nil {
			return assigned(p, before)
		}
		return lint.Maybe
	}
	if before := fn.StoreBefore(path, e); before != nil {
		return assigned(p, before)
	}
	return known(p.Value(e))
}

// asked reports whether a tensor is told to need a gradient before e:
// x.requires_grad_() or x.requires_grad = True.
func asked(fn *lint.Func, path string, e pyast.Expr) bool {
	for _, r := range fn.Refs[path] {
		if r.Store || !lint.Before(r.Node, e) {
			continue
		}
		a, ok := r.Node.Parent().(*pyast.Attribute)
		if !ok {
			continue
		}
		switch s := a.Parent().(type) {
		case *pyast.Call:
			if a.Attr == "requires_grad_" && (len(s.Args) == 0 || !lint.IsFalse(s.Args[0])) {
				return true
			}
		case *pyast.Assign:
			if a.Attr == "requires_grad" && s.Value != nil && !lint.IsFalse(s.Value) {
				return true
			}
		}
	}
	return false
}

func storedIn(l *lint.Loop, path string) bool {
	for _, r := range l.Func.Refs[path] {
		if r.Store && lint.Inside(r.Node, l.Node) {
			return true
		}
	}
	return false
}

// assigned is needs of what a target got.
func assigned(p *lint.Pass, target pyast.Expr) lint.Tri {
	a, ok := target.Parent().(*pyast.Assign)
	if !ok || a.Value == nil {
		return known(p.Value(target))
	}
	if p.GradOff(a) {
		return lint.No
	}
	return made(p, a.Value)
}

// made is needs of a computation: of a frozen module of inputs that need none.
func made(p *lint.Pass, e pyast.Expr) lint.Tri {
	if t := known(p.Value(e)); t == lint.No {
		return t
	}
	c, ok := e.(*pyast.Call)
	if !ok {
		return known(p.Value(e))
	}
	if name, on := p.Method(c); on != nil && shape[name] {
		return needs(p, on)
	}
	if !p.Freezes(c.Func) {
		return known(p.Value(e))
	}
	for _, a := range c.Args {
		if p.Value(a).AnyGraph() {
			return lint.Yes
		}
	}
	return lint.No
}

// shape are methods that change how a tensor is seen.
var shape = map[string]bool{"flatten": true, "view": true, "reshape": true, "transpose": true, "permute": true, "contiguous": true, "unsqueeze": true,
	"squeeze": true, "to": true, "float": true, "half": true, "bfloat16": true, "cuda": true, "type": true, "expand": true, "repeat": true}

func known(v lint.Value) lint.Tri {
	switch v.Kind {
	case lint.Tensor:
		return v.Grad
	case lint.Number, lint.NoneValue, lint.Array:
		return lint.No
	}
	return lint.Maybe
}

// adapters finds models of transformers whose base is frozen under adapters,
// with checkpointing that is asked to be re-entrant.
func adapters(p *lint.Pass) {
	ready, frozen := false, false
	p.Calls(func(c *pyast.Call) {
		q := p.Callee(c)
		name, _ := p.Method(c)
		frozen = frozen || q == "peft.get_peft_model"
		ready = ready || name == "enable_input_require_grads" || strings.HasSuffix(q, "prepare_model_for_kbit_training") || name == "prepare_model_for_gradient_checkpointing"
	})
	if !frozen || ready {
		return
	}
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		d, ok := c.Arg(0, "gradient_checkpointing_kwargs").(*pyast.Dict)
		if !ok {
			return
		}
		for i, k := range d.Keys {
			if k != nil && lint.ConstText(k) == "use_reentrant" && lint.IsTrue(d.Values[i]) && wrapped(p, on, c) {
				p.Report(c, "the frozen embeddings under the adapters need no gradient, so re-entrant blocks get none",
					lint.Unsafely("use the other kind", lint.Replace(d.Values[i], "False")))
			}
		}
	}, "gradient_checkpointing_enable")
}

// wrapped reports whether a model got its adapters before a call in the same
// function: PEFT itself sees to it where checkpointing is on before.
func wrapped(p *lint.Pass, model pyast.Expr, c *pyast.Call) bool {
	found := false
	p.CallsOf(func(w *pyast.Call) {
		if p.FuncOf(w) == p.FuncOf(c) && lint.Before(w, c) {
			found = true
		}
	}, "peft.get_peft_model")
	return found && pyast.Path(model) != ""
}
