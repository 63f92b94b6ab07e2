// Package jaxwaiteverystep finds JAX loops that wait for each step.
package jaxwaiteverystep

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

// Rule is GPU149.
var Rule = &lint.Rule{
	Code:       "GPU149",
	Name:       "jax-wait-every-step",
	Severity:   lint.Warning,
	Title:      "A JAX loop waits for the result of every step",
	Why:        "jitted functions return at once and are queued; block_until_ready(), float() and printing wait, so the device idles while Python prepares the next step",
	Cost:       "the time of dispatch and of the host's own work, each step: some 0.1 to 1 ms (order of size)",
	Misses:     "functions that are jitted in another file; waits beside a clock, or behind a condition that holds only at times, are left alone",
	Fix:        lint.NoFix,
	References: []string{"https://docs.jax.dev/en/latest/async_dispatch.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	for _, l := range p.Loops {
		results := jitted(p, l)
		if len(results) == 0 {
			continue
		}
		lint.EachIn(l.Body, func(c *pyast.Call) {
			if p.LoopOf(c) != l || !lint.Always(p.Guards(c, l.Node)) || p.Measures(c) {
				return
			}
			if e, how := waited(p, c); e != nil && names(e, results) && !timed(l) {
				p.Report(c, how+" waits for the device in every round")
			}
		})
	}
}

// waited is what a call waits for, and how, or nil.
func waited(p *lint.Pass, c *pyast.Call) (e pyast.Expr, how string) {
	if p.Callee(c) == "jax.block_until_ready" && len(c.Args) == 1 {
		return c.Args[0], "jax.block_until_ready()"
	}
	if name, on := p.Method(c); name == "block_until_ready" || name == "item" && len(c.Args) == 0 {
		return on, "." + name + "()"
	}
	if name := pyast.Path(c.Func); (name == "float" || name == "print") && len(c.Args) > 0 {
		return c.Args[len(c.Args)-1], name + "()"
	}
	return nil, ""
}

// names reports whether an expression is one of the results, or an element.
func names(e pyast.Expr, results map[string]bool) bool {
	for {
		s, ok := e.(*pyast.Subscript)
		if !ok {
			return results[pyast.Path(e)]
		}
		e = s.Value
	}
}

// jitted are the names that a loop assigns from jitted functions.
func jitted(p *lint.Pass, l *lint.Loop) map[string]bool {
	out := map[string]bool{}
	lint.EachIn(l.Body, func(a *pyast.Assign) {
		c, ok := a.Value.(*pyast.Call)
		if !ok || !isJitted(p, c) {
			return
		}
		for _, t := range a.Targets {
			lint.Each(t, func(n *pyast.Name) { out[n.Ident] = true })
		}
	})
	return out
}

func isJitted(p *lint.Pass, c *pyast.Call) bool {
	if m := p.Maker(c.Func); m != nil && jits[p.Callee(m)] {
		return true
	}
	if a := p.Assigned(c.Func); a != nil {
		if m, ok := a.Value.(*pyast.Call); ok && jits[p.Callee(m)] {
			return true
		}
	}
	fn := p.Resolve(c.Func)
	if fn == nil {
		return false
	}
	for _, d := range fn.Node.Decorators {
		if jits[p.Qual(d)] {
			return true
		}
		if m, ok := d.(*pyast.Call); ok && (jits[p.Callee(m)] || len(m.Args) > 0 && jits[p.Qual(m.Args[0])]) {
			return true
		}
	}
	return false
}

var jits = map[string]bool{"jax.jit": true, "jax.pmap": true, "flax.nnx.jit": true, "equinox.filter_jit": true}

// timed reports whether a loop reads a clock: the wait is there to measure.
func timed(l *lint.Loop) bool {
	found := false
	lint.EachIn(l.Body, func(c *pyast.Call) {
		path := pyast.Path(c.Func)
		found = found || path == "time.time" || path == "time.perf_counter" || path == "perf_counter" || path == "time.monotonic"
	})
	return found
}
