// Package sampleimageswithgrad finds samples that are drawn during training with their graphs.
package sampleimageswithgrad

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

// Rule is GPU025.
var Rule = &lint.Rule{
	Code:       "GPU025",
	Name:       "sample-images-with-grad",
	Severity:   lint.Warning,
	Title:      "Samples are drawn in the training loop with gradients on",
	Why:        "the model runs for a picture or a sample text, and the whole graph of that run is kept until its result is overwritten, beside the next training step",
	Cost:       "the activations of one more forward pass, from the first sample on (derived)",
	Misses:     "samples that a function of another file draws; results that backward() is called on are training and are left alone",
	References: []string{"https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disable-grad-doc", "https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		if !p.IsForward(c) || !p.GradOn(c) || !p.Value(c).HasGraph() || p.InTest(c) {
			return
		}
		l := p.LoopOf(c)
		for l != nil && !l.Step() {
			l = l.Outer
		}
		if l == nil || !l.Steps || !seldom(p.Guards(c, l.Node)) {
			return
		}
		a, ok := pyast.StmtOf(c).(*pyast.Assign)
		if !ok || len(a.Targets) != 1 || pyast.Path(a.Targets[0]) == "" {
			return
		}
		path := pyast.Path(a.Targets[0])
		if usedLater(p, l, path, c) || p.Value(a.Targets[0]).Loss || trained(p, l, c) || p.Freezes(c.Func) {
			return
		}
		p.Report(c, fmt.Sprintf("%s runs with gradients on, for a result that nothing is trained by", p.Text(c.Func)))
	})
}

// usedLater reports whether something is trained by a result: a read of it,
// later in the round or early in the next one, flows to a backward pass.
func usedLater(p *lint.Pass, l *lint.Loop, path string, c *pyast.Call) bool {
	anew := false // the next round assigns the name before it reads it
	for _, r := range l.Func.Refs[path] {
		if !lint.Inside(r.Node, l.Node) || pyast.StmtOf(r.Node) == pyast.StmtOf(c) {
			continue
		}
		before := lint.Before(r.Node, c)
		switch {
		case r.Store:
			anew = anew || before
		case before && anew:
		default:
			if trains(p, l.Func, pyast.StmtOf(r.Node)) {
				return true
			}
		}
	}
	return false
}

// trains reports whether a statement computes what backward() is called on.
func trains(p *lint.Pass, fn *lint.Func, s pyast.Stmt) bool {
	found := false
	if a, ok := s.(*pyast.Assign); ok {
		for _, t := range a.Targets {
			lint.Each(t, func(n *pyast.Name) { found = found || fn.ReachesBackward(n.Ident) })
		}
	}
	if a, ok := s.(*pyast.AugAssign); ok {
		found = fn.ReachesBackward(lint.Base(a.Target))
	}
	switch s.(type) {
	case *pyast.ExprStmt, *pyast.Assign:
		lint.Each(s, func(c *pyast.Call) {
			name, _ := p.Method(c)
			f := p.Resolve(c.Func)
			found = found || name == "backward" || f != nil && f.Backward
		})
	}
	return found
}

// seldom reports whether guards hold only every few rounds.
func seldom(gs []lint.Guard) bool {
	for _, g := range gs {
		if g.Kind == lint.Periodic || g.Kind == lint.First {
			return true
		}
	}
	return false
}

// trained reports whether a backward pass is behind the same condition as c: a
// training step of another kind.
func trained(p *lint.Pass, l *lint.Loop, c *pyast.Call) bool {
	block := pyast.StmtOf(c).Parent()
	if block == pyast.Node(l.Node) {
		return true
	}
	for {
		up := block.Parent()
		if up == nil || up == pyast.Node(l.Node) {
			break
		}
		block = up
	}
	found := false
	p.Backwards(func(b *pyast.Call) { found = found || lint.Inside(b, block) })
	p.Calls(func(b *pyast.Call) {
		fn := p.Resolve(b.Func)
		found = found || fn != nil && fn.Backward && lint.Inside(b, block)
	})
	return found
}
