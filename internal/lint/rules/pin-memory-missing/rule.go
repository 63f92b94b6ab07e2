// Package pinmemorymissing finds loaders that do not pin batches which are copied without a wait.
package pinmemorymissing

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

// Rule is GPU108.
var Rule = &lint.Rule{
	Code:       "GPU108",
	Name:       "pin-memory-missing",
	Severity:   lint.Warning,
	Title:      "A loader does not pin its batches, though they are copied with non_blocking=True",
	Why:        "from memory that is not pinned CUDA copies through a buffer of its own in pieces and cannot overlap, so non_blocking=True has no effect",
	Cost:       "half the speed of the copy and its overlap: 77 MB (128 images of 224x224 in fp32) take some 6 to 12 ms instead of 3 to 6 (order of size, PCIe 4)",
	Misses:     "loaders that are made in another function or file; copies without non_blocking=True, which do not ask for it; loaders with options that are not known",
	Fix:        lint.SafeFix,
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html", "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	seen := map[*pyast.Call]bool{}
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		if v := p.Value(on); v.Kind != lint.Tensor || !v.Batch || !lint.IsTrue(c.Keyword("non_blocking")) || !p.EachStep(c) || p.InTest(c) {
			return
		}
		made := maker(p, c)
		if made == nil || seen[made] {
			return
		}
		seen[made] = true
		options, all := p.Options(made)
		pin := options["pin_memory"]
		if made.Arg(7, "pin_memory") != nil {
			pin = made.Arg(7, "pin_memory")
		}
		if all && (pin == nil || lint.IsFalse(pin)) && options["pin_memory_device"] == nil {
			p.Report(made, "this loader does not pin its batches, so their non_blocking copies wait",
				lint.See(c, "the copy"), lint.Safely("pin them", p.SetArg(made, "pin_memory", "True")))
		}
	}, "to", "cuda")
	p.CallsOf(func(c *pyast.Call) {
		if e := c.Keyword("dataloader_pin_memory"); lint.IsFalse(e) && !p.InTest(c) && !lint.IsTrue(c.Keyword("use_cpu")) {
			p.Report(e, "the Trainer's loaders do not pin their batches", lint.Unsafely("pin them", lint.Replace(e, "True")))
		}
	}, "transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
}

// maker is the DataLoader call behind what the loops around n go over.
func maker(p *lint.Pass, n pyast.Node) *pyast.Call {
	for l := p.LoopOf(n); l != nil; l = l.Outer {
		if l.Over.Kind == lint.Loader {
			return p.LoaderCall(l)
		}
	}
	return nil
}
