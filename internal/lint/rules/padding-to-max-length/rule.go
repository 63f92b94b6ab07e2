// Package paddingtomaxlength finds texts that are padded to the longest that the model takes.
package paddingtomaxlength

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

// Rule is GPU139.
var Rule = &lint.Rule{
	Code:       "GPU139",
	Name:       "padding-to-max-length",
	Severity:   lint.Warning,
	Off:        true, // models that need one length cannot be told from the others
	Title:      "Every text is padded to max_length",
	Why:        "the model computes the padding, too; padded to the longest of its batch a text is as long as it must be",
	Cost:       "compute and activations grow with max_length over the mean length: 4 times for texts of 128 tokens padded to 512 (derived)",
	Misses:     "models that need one length (CLIP's text encoder, compiled models, TPUs) look the same",
	Fix:        lint.UnsafeFix,
	References: []string{"https://huggingface.co/docs/transformers/pad_truncation"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		e := c.Keyword("padding")
		if lint.ConstText(e) != "max_length" || p.InTest(c) || p.Uses("diffusers") || p.Uses("torch_xla") {
			return
		}
		p.Report(e, "every text is padded to max_length: pad each batch to its longest text", lint.Unsafely("pad to the longest", lint.Replace(e, "\"longest\"")))
	})
}
