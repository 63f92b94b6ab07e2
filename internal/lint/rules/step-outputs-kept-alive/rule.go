// Package stepoutputskeptalive finds logits that outlive their step.
package stepoutputskeptalive

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

// Rule is GPU010.
var Rule = &lint.Rule{
	Code:       "GPU010",
	Name:       "step-outputs-kept-alive",
	Severity:   lint.Warning,
	Off:        true, // nearly every loop does it, and only logits over words are large
	Title:      "The logits of one step live on through the forward pass of the next",
	Why:        "a variable keeps what it names until it is assigned again, which is after the next forward pass has made its successor",
	Cost:       "batch x tokens x vocabulary x bytes: 1.2 GiB for nanoGPT's defaults in bf16 (derived: 12 x 1024 x 50304 x 2 bytes)",
	Of:         lint.Logits,
	Misses:     "outputs whose size is not known to be of tokens by words; it is off because nearly every training loop does it, and outputs of classifiers are small",
	Fix:        lint.SafeFix,
	References: []string{"https://github.com/karpathy/nanoGPT/blob/3adf61e/train.py#L300", "https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		l, hot := p.StepOf(c)
		if !hot || l == nil || !l.Backward || len(c.Args) == 0 || p.InTest(c) {
			return
		}
		// logits.view(-1, logits.size(-1)) are logits of tokens.
		m, ok := c.Args[0].(*pyast.Call)
		if !ok {
			return
		}
		name, on := p.Method(m)
		if name != "view" && name != "reshape" && name != "flatten" && name != "transpose" {
			return
		}
		path := pyast.Path(on)
		if path == "" || !p.Value(on).HasGraph() {
			return
		}
		store := p.FuncOf(c).StoreBefore(path, c)
		if store == nil || !lint.Inside(store, l.Node) || deleted(l, path) {
			return
		}
		back := backward(p, l, c)
		if back == nil || l.Func.UsedAfter(path, back) {
			return
		}
		p.Report(store, fmt.Sprintf("%s lives on through the next forward pass", path), lint.Safely("let go of it after the backward pass", p.InsertAfter(back, "del "+path)))
	}, "torch.nn.functional.cross_entropy")
}

// deleted reports whether the loop lets go of a path.
func deleted(l *lint.Loop, path string) bool {
	for _, r := range l.Func.Refs[path] {
		if r.Del && lint.Inside(r.Node, l.Node) {
			return true
		}
	}
	return false
}

// backward is the statement of the backward pass after a loss in the loop's own
// body, or nil.
func backward(p *lint.Pass, l *lint.Loop, c *pyast.Call) pyast.Stmt {
	var found pyast.Stmt
	p.Backwards(func(b *pyast.Call) {
		s := pyast.StmtOf(b)
		if found == nil && lint.Before(c, b) && s.Parent() == pyast.Node(l.Node) {
			found = s
		}
	})
	return found
}
