// Package evaleverystep finds training steps that run a whole evaluation.
package evaleverystep

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

// Rule is GPU145.
var Rule = &lint.Rule{
	Code:       "GPU145",
	Name:       "eval-every-step",
	Severity:   lint.Warning,
	Title:      "A whole evaluation runs on every training step",
	Why:        "the model goes over the validation data after each step, so most of the time is spent there and none of it trains",
	Cost:       "the validation pass, each step: with N validation batches about N/3 times the step (a forward pass is a third of a step, derived)",
	Misses:     "functions of other packages; functions that evaluate one batch; evaluations behind a condition that holds only at times, or once an epoch, are left alone",
	Fix:        lint.NoFix,
	References: []string{"https://huggingface.co/docs/transformers/main_classes/trainer", "https://lightning.ai/docs/pytorch/stable/common/trainer.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		facts := p.CalleeFacts(c)
		if facts != nil && facts.ReadsData() && !facts.Backward && !facts.Steps && p.EachStep(c) && !p.Measures(c) {
			p.Report(c, p.Text(c.Func)+"() goes over the validation data on every step")
		}
	})
	for _, l := range p.Loops {
		if l.Outer != nil && l.EvalLoop() && l.Over.Kind == lint.Loader && p.EachStep(l.Node) && !p.Measures(l.Node) {
			p.Report(l.Iter, "this loop goes over the validation data on every training step")
		}
	}
	p.CallsOf(func(c *pyast.Call) {
		options, _ := p.Options(c)
		strategy := lint.ConstText(options["eval_strategy"]) + lint.ConstText(options["evaluation_strategy"])
		if k := p.Const(options["eval_steps"]); k != nil && k.Text == "1" && strategy == "steps" && !trial(p, options["max_steps"]) && !p.Measures(c) {
			p.Report(options["eval_steps"], "the Trainer evaluates on every step")
		}
	}, "transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments", "trl.SFTConfig", "trl.DPOConfig", "trl.GRPOConfig")
	p.CallsOf(func(c *pyast.Call) {
		options, _ := p.Options(c)
		if k, ok := options["val_check_interval"].(*pyast.Constant); ok && k.Kind == pyast.Int && k.Text == "1" && !trial(p, options["max_steps"]) && !p.Measures(c) {
			p.Report(k, "Lightning evaluates after every batch (1 counts batches, 1.0 is an epoch)")
		}
	}, "lightning.pytorch.Trainer")
}

// trial reports whether a run is of some steps only, to try things.
func trial(p *lint.Pass, steps pyast.Expr) bool {
	if steps == nil {
		return false
	}
	k := p.Const(steps)
	return k != nil && len(k.Text) < 3 && k.Text[0] != '-'
}
