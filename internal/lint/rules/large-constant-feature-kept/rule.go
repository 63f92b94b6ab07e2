// Package largeconstantfeaturekept finds outputs of models that stay on the GPU although training never reads them again.
package largeconstantfeaturekept

import (
	_ "embed"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU026.
var Rule = &lint.Rule{
	Code:       "GPU026",
	Name:       "large-constant-feature-kept",
	Severity:   lint.Warning,
	Title:      "What a model gave before the training loop stays on the GPU, and nothing reads it again",
	Why:        "a name keeps its tensors until it is assigned anew or its function ends; what was computed from them for the loop does not need them",
	Cost:       "the size of the output, for the whole run: four feature maps of VGG16 for one image of 256x256 pixels are 31 MB in fp32 (derived: (64 x 256^2 + 128 x 128^2 + 256 x 64^2 + 512 x 32^2) x 4 B)",
	Misses:     "outputs that are parts of objects, and names that other functions read",
	Fix:        lint.SafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/notes/faq.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Forwards(func(c *pyast.Call) {
		s, ok := pyast.StmtOf(c).(*pyast.Assign)
		if !ok || len(c.Args) == 0 || s.Value != pyast.Expr(c) || len(s.Targets) != 1 || p.LoopOf(c) != nil || p.InTest(c) {
			return
		}
		name, ok := s.Targets[0].(*pyast.Name)
		fn := p.FuncOf(c)
		if !ok || !onGPU(p, c) || fn != p.Top && !fn.Locals[name.Ident] || captured(p, fn, name.Ident) {
			return
		}
		last := fn.LastUse(name.Ident)
		if last == nil || stores(fn, name.Ident) != 1 || pyast.StmtOf(last).Parent() != s.Parent() {
			return
		}
		for _, l := range p.Loops {
			if l.Func == fn && l.Outer == nil && (l.Step() || l.Epoch()) && l.Backward && lint.Before(last, l.Node) {
				p.Report(s, fmt.Sprintf("%s stays on the GPU through the training below, which does not read it", name.Ident), lint.See(last, "last read here"),
					lint.Safely("let go of it", p.InsertAfter(pyast.StmtOf(last), "del "+name.Ident)))
				return
			}
		}
	})
}

// onGPU reports whether a model's output is on the GPU, or what it gets is.
func onGPU(p *lint.Pass, c *pyast.Call) bool {
	on := p.OnDevice(c)
	for _, a := range c.Args {
		if v := p.Value(a); v.IsTensor() && v.Place == lint.CPU {
			return false
		}
		on = on || p.OnDevice(a)
		lint.Each(a, func(m *pyast.Call) { on = on || p.MovesToGPU(m) })
	}
	return on && p.Value(c).Kind == lint.Tensor
}

// stores counts the assignments and deletions of a name.
func stores(fn *lint.Func, name string) int {
	n := 0
	for _, r := range fn.Refs[name] {
		if r.Store || r.Del {
			n++
		}
	}
	return n
}

// captured reports whether another function reads the name, or a lambda does.
func captured(p *lint.Pass, fn *lint.Func, name string) bool {
	for _, other := range p.Funcs {
		if other != fn && len(other.Refs[name]) > 0 && !other.Locals[name] {
			return true
		}
	}
	for _, r := range fn.Refs[name] {
		for n := r.Node.Parent(); n != nil; n = n.Parent() {
			if _, ok := n.(*pyast.Lambda); ok {
				return true
			}
		}
	}
	return false
}
