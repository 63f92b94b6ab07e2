package lint

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

func TestFreezes(t *testing.T) {
	src := `
def f(a, b, c, d, e, g, h, k, n):
    a.requires_grad_(False)
    for p in b.parameters():
        p.requires_grad = False
    for p in c.parameters():
        p.requires_grad_(False)
    d.weight.requires_grad = False
    freeze(e)
    g = build().requires_grad_(False)
    h = torch.nn.Embedding.from_pretrained(d)
    k.requires_grad_(True)
    for name, p in n.named_parameters():
        if "bias" in name:
            p.requires_grad = False
    m = a
    x, y = y, x
    other(x), probe(m)
    probe(a), probe(b), probe(c), probe(d), probe(e), probe(g), probe(h), other(k), other(n)
`
	onFile(t, src, func(p *Pass) {
		p.Calls(func(c *pyast.Call) {
			name := pyast.Path(c.Func)
			if name == "probe" && !p.Freezes(c.Args[0]) {
				t.Errorf("%s is frozen", p.Text(c.Args[0]))
			}
			if name == "other" && p.Freezes(c.Args[0]) {
				t.Errorf("%s is not frozen", p.Text(c.Args[0]))
			}
		})
	})
}
