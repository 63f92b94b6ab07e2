// Package kerasbuildinloop finds Keras models that pile up in a loop.
package kerasbuildinloop

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

// Rule is GPU043.
var Rule = &lint.Rule{
	Code:     "GPU043",
	Name:     "keras-build-in-loop",
	Severity: lint.Error,
	Title:    "Keras models are built and trained in a loop that never clears the session",
	Why:      "Keras keeps every model's graph, weights and optimizer state in its global state until clear_session(), so each round adds a model's memory",
	Cost:     "each round a model's weights and optimizer state: 12 bytes a parameter with Adam, and the compiled functions (derived: fp32 weight and two moments)",
	Misses:   "models that other files build; loops that start a process for each model are left alone, and models that the loop keeps on purpose in a list",
	References: []string{"keras-team/keras#2102", "tensorflow/tensorflow#43702",
		"https://www.tensorflow.org/api_docs/python/tf/keras/backend/clear_session"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		if p.Value(c).Kind != lint.KerasModel || !builds(p, c) {
			return
		}
		body, around := round(p, c)
		if around == nil || !trains(p, body, c) || clears(p, body, 0) || kept(p, body, c) {
			return
		}
		p.Report(c, fmt.Sprintf("each round builds a model with %s, and no round clears the last one's", p.Text(c.Func)))
	})
}

// builds reports whether a call makes a model: a constructor, or a function of
// the project that gives one; no method of a model.
func builds(p *lint.Pass, c *pyast.Call) bool {
	_, on := p.Method(c)
	return on == nil || p.Value(on).Kind != lint.KerasModel
}

// round is what runs each time around a call: the innermost loop's body or a
// comprehension.
func round(p *lint.Pass, c *pyast.Call) ([]pyast.Node, pyast.Node) {
	for n := c.Parent(); n != nil; n = n.Parent() {
		switch s := n.(type) {
		case *pyast.Comp:
			return []pyast.Node{s}, s
		case pyast.Stmt:
			if l := p.LoopOf(c); l != nil {
				var body []pyast.Node
				for _, s := range l.Body {
					body = append(body, s)
				}
				return body, l.Node
			}
			return nil, nil
		}
	}
	return nil, nil
}

// trains reports whether a round fits the model that c builds.
func trains(p *lint.Pass, body []pyast.Node, c *pyast.Call) bool {
	found := false
	for _, n := range body {
		lint.Each(n, func(m *pyast.Call) {
			name, on := p.Method(m)
			switch name {
			case "fit", "train_on_batch", "fit_generator", "compile":
				if p.Value(on).Kind == lint.KerasModel {
					found = true
				}
			}
			if fn := p.Resolve(m.Func); fn != nil && m != c {
				fn.OwnStmts(func(n pyast.Node) {
					if inner, ok := n.(*pyast.Call); ok {
						if name, _ := p.Method(inner); name == "fit" || name == "train_on_batch" {
							found = true
						}
					}
				})
			}
		})
	}
	return found
}

// clears reports whether a round forgets earlier models, or is a process of its
// own.
func clears(p *lint.Pass, body []pyast.Node, depth int) bool {
	found := false
	for _, n := range body {
		lint.Each(n, func(c *pyast.Call) {
			path := pyast.Path(c.Func)
			last := path[strings.LastIndexByte(path, '.')+1:]
			switch last {
			case "clear_session", "reset_default_graph", "Process", "apply_async", "submit", "Popen", "reset_uids", "Graph":
				found = true
			}
			if fn := p.Resolve(c.Func); fn != nil && fn.Node != nil && depth < 3 {
				var inner []pyast.Node
				for _, s := range fn.Node.Body {
					inner = append(inner, s)
				}
				found = found || clears(p, inner, depth+1)
			}
		})
	}
	return found
}

// kept reports whether the loop collects its models.
func kept(p *lint.Pass, body []pyast.Node, c *pyast.Call) bool {
	found := false
	p.Appends(func(at pyast.Node, _ string, value pyast.Expr) {
		for _, n := range body {
			if !lint.Inside(at, n) {
				continue
			}
			pyast.Walk(value, func(v pyast.Node) bool {
				if e, ok := v.(pyast.Expr); ok && p.Value(e).Kind == lint.KerasModel {
					found = true
				}
				_, call := v.(*pyast.Call) // a score of the model is not the model
				return !call || v == pyast.Node(c)
			})
		}
	})
	return found
}
