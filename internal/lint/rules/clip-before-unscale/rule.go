// Package clipbeforeunscale finds gradients that are clipped while they are scaled.
package clipbeforeunscale

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

// Rule is GPU150.
var Rule = &lint.Rule{
	Code:     "GPU150",
	Name:     "clip-before-unscale",
	Severity: lint.Warning,
	Title:    "Gradients are clipped while the GradScaler's factor is in them",
	Why: "backward() of a scaled loss gives gradients that are larger by the scale; a norm of them is nearly always above the limit, " +
		"so each step is clipped to a fraction of what was meant",
	Cost: "the GPU time of steps that change next to nothing: the scale begins at 65,536 (torch/amp/grad_scaler.py, init_scale), " +
		"and a gradient of norm 1 with a limit of 1 is made 65,536 times smaller (derived)",
	Misses:     "scalers that are switched off by a setting; steps that are spread over functions",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/notes/amp_examples.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(clip *pyast.Call) {
		fn := p.FuncOf(clip)
		var scaled, step *pyast.Call
		var scaler pyast.Expr
		unscaled := false
		fn.OwnStmts(func(n pyast.Node) {
			c, ok := n.(*pyast.Call)
			if !ok {
				return
			}
			name, on := p.Method(c)
			switch {
			case on == nil || p.Value(on).Kind != lint.Scaler || lint.Exclusive(c, clip):
			case name == "unscale_":
				unscaled = true
			case name == "scale" && lint.Before(c, clip):
				scaled, scaler = c, on
			case name == "step" && lint.Before(clip, c) && step == nil && len(c.Args) == 1:
				step = c
			}
		})
		if scaled == nil || step == nil || unscaled || p.InTest(clip) || pyast.Path(scaler) == "" {
			return
		}
		p.Report(clip, fmt.Sprintf("%s clips gradients that %s has scaled", p.Text(clip.Func), p.Text(scaler)), lint.See(scaled, "scaled here"),
			lint.Unsafely("unscale them first", p.InsertBefore(pyast.StmtOf(clip), fmt.Sprintf("%s.unscale_(%s)", p.Text(scaler), p.Text(step.Args[0])))))
	}, "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_", "torch.nn.utils.clip_grad.clip_grad_norm_")
}
