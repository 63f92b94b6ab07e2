// Package manualattention finds attention that keeps its weights.
package manualattention

import (
	_ "embed"
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

// Rule is GPU028.
var Rule = &lint.Rule{
	Code:       "GPU028",
	Name:       "manual-attention",
	Severity:   lint.Warning,
	Title:      "Attention is computed by hand, with all its weights in memory",
	Why:        "the scores of every pair of tokens are materialised, and softmax, mask and dropout each keep a copy for the backward pass; scaled_dot_product_attention computes the same in tiles",
	Cost:       "2 to 4 times batch x heads x tokens x tokens x bytes, for every layer: 0.56 GiB each for batch 12, 12 heads and 1,024 tokens in fp32 (derived: 12 x 12 x 1024 x 1024 x 4 bytes)",
	Misses:     "attention that returns or changes its weights, adds a bias of its own, has one query or compares directions, or is the fallback beside the fused one is left alone",
	References: []string{"https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	for _, fn := range p.Funcs {
		if !special(p, fn) && !p.InTest(fn.Node) {
			check(p, fn)
		}
	}
}

// special reports whether a function has the fused attention too, needs the
// weights, has one query only, or compares directions (of channels, mostly).
func special(p *lint.Pass, fn *lint.Func) bool {
	text := p.Text(fn.Node)
	for _, w := range []string{"scaled_dot_product", "flash", "xformers", "sdpa", "memory_efficient", "need_weights", "output_attentions", "return_att", "rel_pos", "relative", "bias_table", "attn_weights.append", "topk", "register_hook", "normalize(", "[:, :1", "[:, 0:1"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	return fn.Class != nil && strings.Contains(p.Text(fn.Class.Node), "scaled_dot_product")
}

// check follows scores = q @ k^T to softmax to weights @ v by names.
func check(p *lint.Pass, fn *lint.Func) {
	scores, weights := map[string]pyast.Node{}, map[string]pyast.Node{}
	plain := true
	var found pyast.Node
	fn.OwnStmts(func(n pyast.Node) {
		switch s := n.(type) {
		case *pyast.Assign:
			if len(s.Targets) != 1 || s.Value == nil || pyast.Path(s.Targets[0]) == "" {
				return
			}
			path := pyast.Path(s.Targets[0])
			switch {
			case softmaxOf(p, s.Value, scores) != nil:
				weights[path] = softmaxOf(p, s.Value, scores)
			case product(p, s.Value, transposed):
				scores[path] = s
				b, ok := s.Value.(*pyast.BinOp)
				plain = plain && (!ok || b.Op != "+") // a bias of its own
			case uses(s.Value, weights) && product(p, s.Value, nil):
				found = weights[first(s.Value, weights)]
			case uses(s.Value, weights) && call(s.Value, "drop"):
				weights[path] = weights[first(s.Value, weights)]
			case uses(s.Value, scores) && (call(s.Value, "masked_fill") || call(s.Value, "mask") || scale(s.Value)):
				scores[path] = scores[first(s.Value, scores)]
			case uses(s.Value, scores) || uses(s.Value, weights):
				plain = false
			}
		case *pyast.Return:
			if s.Value == nil {
				return
			}
			if _, tuple := s.Value.(*pyast.List); tuple && (uses(s.Value, weights) || uses(s.Value, scores)) {
				plain = false
			} else if uses(s.Value, weights) && product(p, s.Value, nil) {
				found = weights[first(s.Value, weights)]
			} else if uses(s.Value, weights) {
				plain = false
			}
		}
	})
	if found != nil && plain {
		p.Report(found, "the weights of every pair of tokens are kept; scaled_dot_product_attention computes the same in tiles")
	}
}

// product reports whether an expression is a matrix product, maybe scaled, of
// whose right side test holds.
func product(p *lint.Pass, e pyast.Expr, test func(pyast.Expr) bool) bool {
	ok := false
	pyast.Walk(e, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.BinOp:
			ok = ok || n.Op == "@" && (test == nil || test(n.Right))
		case *pyast.Call:
			q := p.Callee(n)
			name, on := p.Method(n)
			if q == "torch.einsum" && len(n.Args) == 3 {
				ok = ok || test == nil || contracts(n.Args[0])
			}
			if (q == "torch.matmul" || q == "torch.bmm") && len(n.Args) == 2 {
				ok = ok || test == nil || test(n.Args[1])
			}
			if (name == "matmul" || name == "bmm") && on != nil && len(n.Args) == 1 {
				ok = ok || test == nil || test(n.Args[0])
			}
		}
		return true
	})
	return ok
}

// contracts reports whether an equation of einsum multiplies each row of the one
// with each row of the other: "bhid,bhjd->bhij".
func contracts(e pyast.Expr) bool {
	equation := strings.ReplaceAll(lint.ConstText(e), " ", "")
	in, out, ok := strings.Cut(equation, "->")
	a, b, two := strings.Cut(in, ",")
	if !ok || !two || len(a) < 3 || len(b) < 3 || len(out) < 3 {
		return false
	}
	end := a[len(a)-1:]
	return strings.HasSuffix(b, end) && !strings.Contains(out, end) && !strings.Contains(b, out[len(out)-2:len(out)-1]) && strings.Contains(b, out[len(out)-1:])
}

// transposed reports whether an expression swaps the last two dimensions.
func transposed(e pyast.Expr) bool {
	c, ok := e.(*pyast.Call)
	if !ok {
		a, attr := e.(*pyast.Attribute)
		return attr && (a.Attr == "mT" || a.Attr == "T")
	}
	a, ok := c.Func.(*pyast.Attribute)
	return ok && (a.Attr == "transpose" || a.Attr == "permute" || a.Attr == "swapaxes")
}

// softmaxOf is the softmax of one of the scores in an expression, or nil.
func softmaxOf(p *lint.Pass, e pyast.Expr, scores map[string]pyast.Node) pyast.Node {
	var found pyast.Node
	lint.Each(e, func(c *pyast.Call) {
		name, on := p.Method(c)
		q := p.Callee(c)
		last := pyast.Path(c.Func)
		last = last[strings.LastIndexByte(last, '.')+1:]
		scored := func(e pyast.Expr) bool { return uses(e, scores) || product(p, e, transposed) }
		switch {
		case name == "softmax" && on != nil && scored(on):
			found = c
		case (q == "torch.softmax" || q == "torch.nn.functional.softmax" || last == "softmax" || last == "attend") && len(c.Args) > 0 && scored(c.Args[0]):
			found = c
		}
	})
	return found
}

func uses(e pyast.Expr, names map[string]pyast.Node) bool { return first(e, names) != "" }

// first is the first of the names that an expression reads.
func first(e pyast.Expr, names map[string]pyast.Node) string {
	found := ""
	pyast.Walk(e, func(n pyast.Node) bool {
		if x, ok := n.(pyast.Expr); ok && found == "" {
			if path := pyast.Path(x); path != "" && names[path] != nil {
				found = path
			}
		}
		return found == ""
	})
	return found
}

// call reports whether an expression calls something of a name.
func call(e pyast.Expr, word string) bool {
	found := false
	lint.Each(e, func(c *pyast.Call) {
		a, ok := c.Func.(*pyast.Attribute)
		found = found || strings.Contains(strings.ToLower(pyast.Path(c.Func)), word) || ok && strings.Contains(strings.ToLower(a.Attr), word)
	})
	return found
}

// scale reports whether an expression multiplies or divides by a number.
func scale(e pyast.Expr) bool {
	b, ok := e.(*pyast.BinOp)
	return ok && (b.Op == "*" || b.Op == "/")
}
