// Package cputensorthenmove finds tensors that are made on the CPU and then moved, on every step.
package cputensorthenmove

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

// Rule is GPU116.
var Rule = &lint.Rule{
	Code:       "GPU116",
	Name:       "cpu-tensor-then-move",
	Severity:   lint.Warning,
	Title:      "A tensor is made on the CPU and then copied to the GPU, on every step",
	Why:        "the CPU fills it, and the copy from pageable memory waits; with device= the GPU makes it by itself",
	Cost:       "the tensor's bytes over PCIe (12 GB/s for pageable memory, order of size) and a wait for the GPU, each step",
	Misses:     "tensors of Python data (torch.tensor of a list), which must be copied anyway; tensors made once; random numbers differ between CPU and GPU for the same seed, so their fix is not applied by itself",
	Fix:        lint.SafeFix,
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		made, ok := on.(*pyast.Call)
		name, _ := p.Method(c)
		if !ok || !p.EachStep(c) || p.InTest(c) {
			return
		}
		kind, known := makers[p.Callee(made)]
		device := target(p, name, c)
		if !known || device == "" || made.Keyword("device") != nil || made.Spreads() || fromPython(p, made) {
			return
		}
		edit := []lint.Edit{p.SetArg(made, "device", device), {Start: made.Span().End, End: c.Span().End}}
		opt := lint.Safely("make it on the GPU", edit...)
		if kind == random {
			opt = lint.Unsafely("make it on the GPU (other random numbers for the same seed)", edit...)
		}
		p.Report(c, p.Text(made.Func)+"() makes the tensor on the CPU, and it is copied to the GPU on every step", opt)
	}, "to", "cuda")
}

const (
	fixed = iota
	random
)

var makers = map[string]int{
	"torch.zeros": fixed, "torch.ones": fixed, "torch.empty": fixed, "torch.full": fixed, "torch.arange": fixed, "torch.linspace": fixed, "torch.eye": fixed,
	"torch.rand": random, "torch.randn": random, "torch.randint": random, "torch.randperm": random,
}

// target is the device that a call moves to, as its code says it.
func target(p *lint.Pass, name string, c *pyast.Call) string {
	if name == "cuda" {
		if len(c.Args) == 0 && len(c.Keywords) == 0 {
			return `"cuda"`
		}
		return ""
	}
	e := c.Arg(0, "device")
	if e == nil || len(c.Args)+len(c.Keywords) != 1 || p.Value(e).Place != lint.GPU {
		return ""
	}
	if v := p.Value(e); v.Kind != lint.Device && lint.ConstText(e) == "" {
		return "" // .to(rank) is a device, too, but .to(other) may be a tensor
	}
	return p.Text(e)
}

// fromPython reports whether the size comes from a seed's generator on the CPU.
func fromPython(_ *lint.Pass, c *pyast.Call) bool {
	return c.Keyword("generator") != nil || c.Keyword("out") != nil
}
