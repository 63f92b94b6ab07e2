// Package trainerkeepsfulllogits finds evaluations of a Trainer that collect the
// logits of every token.
package trainerkeepsfulllogits

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

// Rule is GPU041.
var Rule = &lint.Rule{
	Code:     "GPU041",
	Name:     "trainer-keeps-full-logits",
	Severity: lint.Error,
	Title:    "The Trainer keeps the logits of every token of the evaluation set for compute_metrics",
	Why: "compute_metrics gets all predictions at once, so the Trainer collects them, [examples, tokens, vocabulary] on the GPU, " +
		"although the metric needs the ids only",
	Cost: "examples x tokens x vocabulary x 4 bytes: 1,000 examples of 512 tokens with 32,000 words are 61 GiB (derived)",
	Of:   lint.Logits,
	Misses: "models and metrics of which it is not known that they predict tokens; " +
		"evaluations that predict_with_generate, eval_accumulation_steps, batch_eval_metrics or prediction_loss_only keep small are left alone",
	References: []string{"huggingface/transformers#15466", "huggingface/transformers#12878", "huggingface/transformers#8476",
		"https://huggingface.co/docs/transformers/main_classes/trainer#transformers.Trainer"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		if p.Value(c).Kind != lint.Trainer || strings.HasPrefix(p.Callee(c), "lightning.") || p.InTest(c) {
			return
		}
		options, all := p.Options(c)
		metrics := options["compute_metrics"]
		if metrics == nil || lint.IsNone(metrics) || options["preprocess_logits_for_metrics"] != nil && !lint.IsNone(options["preprocess_logits_for_metrics"]) || !all {
			return
		}
		if !tokens(p, c, options, metrics) || small(p, c, options) {
			return
		}
		at := pyast.Node(metrics)
		for _, k := range c.Keywords {
			if k.Name == "compute_metrics" {
				at = k
			}
		}
		p.Report(at, "the evaluation keeps the logits of all tokens for "+p.Text(metrics))
	})
}

// function is the function that an expression names, also behind a condition.
func function(p *lint.Pass, e pyast.Expr) *lint.Func {
	if i, ok := e.(*pyast.IfExp); ok {
		if fn := function(p, i.Body); fn != nil {
			return fn
		}
		return function(p, i.Else)
	}
	return p.Resolve(e)
}

// tokenHeads are model classes that give logits over the vocabulary for every
// token; smallHeads give a few for each example, or boxes and the like.
var (
	tokenHeads = []string{"ForCausalLM", "ForMaskedLM", "LMHeadModel", "ForSeq2SeqLM", "ForConditionalGeneration", "ForPreTraining", "ForImageTextToText", "ForVision2Seq", "ForSpeechSeq2Seq", "ForCTC"}
	smallHeads = []string{"Classification", "QuestionAnswering", "MultipleChoice", "Detection", "Segmentation", "Regression", "Depth", "Embedding", "Retrieval"}
)

// tokens reports whether a Trainer's model predicts tokens: by its class, its
// collator, or a metric that leaves out padded labels.
func tokens(p *lint.Pass, c *pyast.Call, options map[string]pyast.Expr, metrics pyast.Expr) bool {
	model := c.Arg(0, "model")
	if model == nil {
		model = options["model"]
	}
	head := ""
	if model != nil {
		head = p.Value(model).Class
		if m := p.Maker(model); m != nil {
			head += " " + p.Callee(m)
		}
	}
	collator := ""
	if k := options["data_collator"]; k != nil {
		collator = p.Text(k)
		if m := p.Maker(k); m != nil {
			collator += " " + p.Callee(m)
		}
	}
	for _, w := range smallHeads {
		if strings.Contains(head, w) || strings.Contains(collator, w) {
			return false
		}
	}
	for _, w := range tokenHeads {
		if strings.Contains(head, w) {
			return true
		}
	}
	if strings.Contains(collator, "LanguageModeling") || strings.Contains(p.Callee(c), "SFTTrainer") {
		return true
	}
	fn := function(p, metrics)
	return fn != nil && padded(fn) && !labelled(fn)
}

// padded reports whether a function looks for the label of what does not count.
func padded(fn *lint.Func) bool {
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		switch n := n.(type) {
		case *pyast.Unary:
			k, ok := n.Operand.(*pyast.Constant)
			found = found || ok && n.Op == "-" && k.Text == "100"
		case *pyast.Constant:
			found = found || n.Text == "-100"
		}
	})
	return found
}

// labelled reports whether a metric names the labels of tokens: a tagger's, of
// which there are few.
func labelled(fn *lint.Func) bool {
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		switch n := n.(type) {
		case *pyast.Name:
			found = found || strings.Contains(n.Ident, "label_list") || strings.Contains(n.Ident, "id2label") || strings.Contains(n.Ident, "label_names") || n.Ident == "seqeval"
		case *pyast.Attribute:
			found = found || n.Attr == "id2label"
		}
	})
	return found
}

// small reports whether the arguments keep the evaluation's predictions small,
// or may do so.
func small(p *lint.Pass, c *pyast.Call, options map[string]pyast.Expr) bool {
	args := c.Arg(1, "args")
	if args == nil {
		args = options["args"]
	}
	sequence := strings.Contains(p.Callee(c), "Seq2Seq")
	if args == nil {
		return sequence
	}
	m, ok := args.(*pyast.Call)
	if !ok {
		m = p.Maker(args)
	}
	if m == nil || !strings.HasSuffix(p.Callee(m), "Arguments") && !strings.HasSuffix(p.Callee(m), "Config") {
		return sequence || !parameter(p, args) || changed(p, args) // a parser's may hold any of them
	}
	set, all := p.Options(m)
	for _, name := range []string{"eval_accumulation_steps", "predict_with_generate", "prediction_loss_only", "batch_eval_metrics"} {
		if v := set[name]; v != nil && !lint.IsFalse(v) && !lint.IsNone(v) {
			return true
		}
	}
	return !all || changed(p, args)
}

// parameter reports whether an expression is a parameter of its function.
func parameter(p *lint.Pass, e pyast.Expr) bool {
	fn := p.FuncOf(e)
	if fn.Node == nil {
		return false
	}
	for _, param := range fn.Node.Params {
		if param.Name == pyast.Path(e) {
			return fn.StoreBefore(param.Name, e) == nil
		}
	}
	return false
}

// changed reports whether the arguments get one of those options later.
func changed(p *lint.Pass, args pyast.Expr) bool {
	found := false
	lint.Each(p.Module, func(a *pyast.Attribute) {
		if !a.Store || pyast.Path(a.Value) != pyast.Path(args) {
			return
		}
		switch a.Attr {
		case "eval_accumulation_steps", "predict_with_generate", "prediction_loss_only", "batch_eval_metrics":
			found = true
		}
	})
	return found
}
