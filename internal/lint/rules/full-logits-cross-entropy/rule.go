// Package fulllogitscrossentropy finds losses over all logits of a language model.
package fulllogitscrossentropy

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

// Rule is GPU027.
var Rule = &lint.Rule{
	Code:       "GPU027",
	Name:       "full-logits-cross-entropy",
	Severity:   lint.Info,
	Off:        true, // it is the usual way to compute this loss
	Title:      "The loss of a language model is computed over all logits at once",
	Why:        "the logits of all tokens over the whole vocabulary, their fp32 copy and their gradient are in memory together",
	Cost:       "2 to 3 times batch x tokens x vocabulary x 4 bytes: 4.2 GB each for 8,192 tokens and 128,256 words (derived)",
	Of:         lint.Logits,
	Misses:     "vocabularies whose size is not in the file; it is off because it is the usual way, and the better one needs another loss (chunked or fused)",
	References: []string{"https://github.com/linkedin/Liger-Kernel", "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		if len(c.Args) == 0 || p.InTest(c) {
			return
		}
		m, ok := c.Args[0].(*pyast.Call)
		if !ok {
			return
		}
		name, on := p.Method(m)
		if name != "view" && name != "reshape" && name != "flatten" || !fromHead(p, on) {
			return
		}
		p.Report(c, fmt.Sprintf("%s holds the logits of all tokens over all words", p.Text(on)))
	}, "torch.nn.functional.cross_entropy")
}

// fromHead reports whether a tensor is what a module called lm_head gave.
func fromHead(p *lint.Pass, e pyast.Expr) bool {
	store := p.FuncOf(e).StoreBefore(pyast.Path(e), e)
	if store == nil {
		return false
	}
	a, ok := store.Parent().(*pyast.Assign)
	if !ok || a.Value == nil {
		return false
	}
	found := false
	lint.Each(a.Value, func(c *pyast.Call) {
		path := pyast.Path(c.Func)
		found = found || strings.HasSuffix(path, "lm_head") || strings.HasSuffix(path, "output_head") || strings.HasSuffix(path, "unembed")
	})
	return found
}
