// Package emptycacheeverystep finds training steps that throw the allocator's cache away.
package emptycacheeverystep

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

// Rule is GPU020.
var Rule = &lint.Rule{
	Code:       "GPU020",
	Name:       "empty-cache-every-step",
	Severity:   lint.Warning,
	Title:      "empty_cache() gives the allocator's memory back on every step",
	Why:        "the next step must get the same memory again with cudaMalloc, and freeing it first waits for the GPU; what the tensors of the step need at their peak does not get less",
	Cost:       "a wait for the GPU and a cudaFree and cudaMalloc for each cached segment, some ms to some 100 ms a step (PyTorch documentation on memory management; cudaMalloc takes 0.1 to 1 ms)",
	Misses:     "calls in functions of other packages; calls behind an option named for them, behind a condition that holds only at times, in handlers of exceptions, or between epochs are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"huggingface/transformers#31372", "hao-ai-lab/FastVideo#606", "https://docs.pytorch.org/docs/stable/notes/cuda.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	frees(p)
	p.CallsOf(func(c *pyast.Call) {
		if !p.EachBatch(c) || p.Measures(c) || chosen(p, c) || searches(p, c) {
			return
		}
		var opts []lint.Option
		if s, ok := c.Parent().(*pyast.ExprStmt); ok {
			opts = append(opts, lint.Unsafely("do not empty the cache", p.DeleteStmt(s)))
		}
		p.Report(c, "the allocator's cache is thrown away on every step", opts...)
	}, "torch.cuda.empty_cache", "torch.mps.empty_cache", "torch.xpu.empty_cache", "torch.npu.empty_cache", "torch.accelerator.empty_cache",
		"accelerate.utils.clear_device_cache", "accelerate.utils.release_memory")
	p.CallsOf(func(c *pyast.Call) {
		options, _ := p.Options(c)
		if k := p.Const(options["torch_empty_cache_steps"]); k != nil && k.Text == "1" {
			p.Report(options["torch_empty_cache_steps"], "the Trainer throws the allocator's cache away on every step")
		}
	}, "transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments", "trl.SFTConfig", "trl.DPOConfig", "trl.GRPOConfig")
}

// searches reports whether the loop around tries which size fits: it runs no
// optimizer, and goes on when memory is exhausted.
func searches(p *lint.Pass, c *pyast.Call) bool {
	l := p.LoopOf(c)
	if l == nil || l.Steps {
		return false
	}
	found := false
	lint.EachIn(l.Body, func(*pyast.Try) { found = true })
	return found
}

// frees judges accelerator.free_memory(), which empties the cache too.
func frees(p *lint.Pass) {
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		if p.Value(on).Kind == lint.Accelerator && p.EachBatch(c) && !p.Measures(c) {
			p.Report(c, "the allocator's cache is thrown away on every step")
		}
	}, "free_memory")
}

// chosen reports whether an option that is named for it asks for it.
func chosen(p *lint.Pass, c *pyast.Call) bool {
	around := pyast.Node(p.Module)
	if fn := p.FuncOf(c); fn.Node != nil {
		around = fn.Node
	}
	for _, g := range p.Guards(c, around) {
		if t := strings.ToLower(p.Text(g.Node)); strings.Contains(t, "empty") || strings.Contains(t, "cache") {
			return true
		}
	}
	return false
}
