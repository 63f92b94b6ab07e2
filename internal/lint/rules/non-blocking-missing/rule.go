// Package nonblockingmissing finds copies of pinned batches that wait.
package nonblockingmissing

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

// Rule is GPU109.
var Rule = &lint.Rule{
	Code:       "GPU109",
	Name:       "non-blocking-missing",
	Severity:   lint.Warning,
	Title:      "Batches of a pinned loader are copied with a wait",
	Why:        "a copy without non_blocking=True waits until the GPU has done all that was queued before it, so the copy and the next launches cannot run while the GPU works",
	Cost:       "the rest of the step before it and the copy, each step: 77 MB (128 images of 224x224 in fp32) take some 3 to 6 ms over PCIe 4 (12 to 25 GB/s, derived)",
	Misses:     "loaders that are made in a function that is not of the class, or in another file; loaders with a collate_fn of their own, whose batches may be objects without non_blocking; dicts of tensors and others; copies to the CPU must wait and are left alone",
	Fix:        lint.SafeFix,
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html", "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		v := p.Value(on)
		if v.Kind != lint.Tensor || !v.Batch || !plain(on) || p.InTest(c) || len(c.Args) > 1 || c.Keyword("non_blocking") != nil || c.Spreads() {
			return
		}
		name, _ := p.Method(c)
		if name == "to" {
			device := c.Arg(0, "device")
			if device == nil || p.Value(device).Place != lint.GPU || p.Value(device).Kind == lint.Tensor {
				return
			}
		}
		if pinned(p, c) == nil || !p.EachStep(c) {
			return
		}
		p.Report(c, p.Text(c)+" waits for the GPU, though its loader pins its batches",
			lint.Safely("do not wait", p.SetArg(c, "non_blocking", "True")), lint.See(pinned(p, c), "this loader pins"))
	}, "to", "cuda")
}

// plain reports whether e is a batch or a part of one, not something computed.
func plain(e pyast.Expr) bool {
	switch e := e.(type) {
	case *pyast.Name:
		return !inComp(e)
	case *pyast.Subscript:
		return plain(e.Value)
	}
	return false
}

// inComp reports whether e is within a comprehension: whether its values have
// tensors only is not known.
func inComp(e pyast.Expr) bool {
	for n := e.Parent(); n != nil; n = n.Parent() {
		switch n.(type) {
		case *pyast.Comp:
			return true
		case pyast.Stmt:
			return false
		}
	}
	return false
}

// pinned is the loader, made in the same function, class or at top level, whose
// batches the step has, if it surely pins them and collates as usual.
func pinned(p *lint.Pass, c *pyast.Call) *pyast.Call {
	for l := p.LoopOf(c); l != nil; l = l.Outer {
		if l.Over.Kind != lint.Loader {
			continue
		}
		made := p.LoaderCall(l)
		if made == nil {
			return nil
		}
		options, all := p.Options(made)
		if !all || !lint.IsTrue(options["pin_memory"]) || options["collate_fn"] != nil || made.Arg(6, "collate_fn") != nil {
			return nil
		}
		return made
	}
	return nil
}
