// Package gangeneratorstepfillsdgrads finds gradients of a discriminator that are thrown away.
package gangeneratorstepfillsdgrads

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

// Rule is GPU024.
var Rule = &lint.Rule{
	Code:       "GPU024",
	Name:       "gan-generator-step-fills-d-grads",
	Severity:   lint.Info,
	Off:        true, // nearly every GAN does it, and it is a small cost
	Title:      "The generator's step also computes gradients of the discriminator",
	Why:        "backward() of the generator's loss fills .grad of the discriminator's parameters, which the next zero_grad() throws away",
	Cost:       "4 bytes for each of the discriminator's parameters, and about a third of its backward pass (derived)",
	Misses:     "networks that share an optimizer; it is off because nearly every GAN does it, and it costs little memory unless the discriminator is large",
	References: []string{"https://docs.pytorch.org/tutorials/beginner/dcgan_faces_tutorial.html", "https://github.com/pytorch/examples/blob/77f55b9/dcgan/main.py#L253"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	if frozen(p) {
		return
	}
	for _, l := range p.Loops {
		if l.Step() && l.Steps {
			check(p, l)
		}
	}
}

// check looks for D(G(z)) whose loss goes to G's optimizer, with D trained in the
// same loop.
func check(p *lint.Pass, l *lint.Loop) {
	made := map[string]string{} // what a network made last, by name
	detached := map[string]bool{}
	lint.EachIn(l.Body, func(s *pyast.Assign) {
		c, ok := s.Value.(*pyast.Call)
		if !ok || len(s.Targets) != 1 || !p.IsForward(c) || pyast.Path(s.Targets[0]) == "" {
			return
		}
		made[pyast.Path(s.Targets[0])] = pyast.Path(c.Func)
	})
	lint.EachIn(l.Body, func(c *pyast.Call) {
		if !p.IsForward(c) || len(c.Args) == 0 {
			return
		}
		if m, ok := c.Args[0].(*pyast.Call); ok {
			if name, on := p.Method(m); name == "detach" && made[pyast.Path(on)] != "" {
				detached[pyast.Path(c.Func)] = true // D learns here
			}
		}
	})
	done := map[string]bool{}
	lint.EachIn(l.Body, func(c *pyast.Call) {
		d := pyast.Path(c.Func)
		if !p.IsForward(c) || len(c.Args) == 0 || !detached[d] || done[d] {
			return
		}
		g := made[pyast.Path(c.Args[0])]
		if g == "" || g == d || !p.GradOn(c) {
			return
		}
		done[d] = true
		p.Report(c, fmt.Sprintf("the step of %s also computes gradients of %s", g, d))
	})
}

// frozen reports whether the file switches gradients of networks off at times.
func frozen(p *lint.Pass) bool {
	found := false
	pyast.Walk(p.Module, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.Attribute:
			found = found || n.Attr == "requires_grad" && n.Store || n.Attr == "requires_grad_"
		case *pyast.Call:
			found = found || strings.Contains(pyast.Path(n.Func), "requires_grad")
		}
		return !found
	})
	return found
}
