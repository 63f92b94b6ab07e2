// Package saveeverystep finds training steps that write a checkpoint.
package saveeverystep

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

// Rule is GPU119.
var Rule = &lint.Rule{
	Code:       "GPU119",
	Name:       "save-every-step",
	Severity:   lint.Warning,
	Title:      "A checkpoint is written on every training step",
	Why:        "the state is copied to the host and written to disk before the next step begins",
	Cost:       "bytes of the state over the disk's speed, each step: AdamW training of 100 million parameters writes 1.2 GB (12 bytes a parameter, derived), over a second at 1 GB/s",
	Of:         lint.Weights,
	Misses:     "functions of other packages; saves behind a condition that holds only at times (every so many steps, a better score), in handlers, or once an epoch are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"deepchem/deepchem#458", "huggingface/transformers#23419"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		if !saves(p, c) || !p.EachStep(c) || p.Measures(c) {
			return
		}
		loop, _ := p.StepOf(c)
		p.Report(c, p.Text(c.Func)+"() writes a checkpoint on every step", seldom(p, c, loop)...)
	})
	options(p)
	lint.Each(p.Module, func(a *pyast.Assign) {
		t, ok := a.Targets[0].(*pyast.Attribute)
		fn := p.FuncOf(a)
		if ok && t.Attr == "should_save" && lint.IsTrue(a.Value) && fn.Class != nil && p.IsClass(fn.Class, "transformers.TrainerCallback") && p.EachStep(a) {
			p.Report(a, "this callback has the Trainer write a checkpoint on every step")
		}
	})
}

// state reports whether an object is a model, its state, or a dict of these.
func state(p *lint.Pass, e pyast.Expr) bool {
	if a := p.Assigned(e); a != nil {
		e = a.Value
	}
	if d, ok := e.(*pyast.Dict); ok {
		for _, v := range d.Values {
			if state(p, v) {
				return true
			}
		}
	}
	k := p.Value(e).Kind
	return k == lint.StateDict || k == lint.Module || k == lint.Optimizer
}

// writers are functions that write what they are given.
var writers = map[string]bool{
	"torch.save": true, "torch.distributed.checkpoint.save": true, "torch.distributed.checkpoint.save_state_dict": true,
	"safetensors.torch.save_file": true, "safetensors.torch.save_model": true,
}

// dumpers write any object: a checkpoint where the object is a model's.
var dumpers = map[string]bool{"pickle.dump": true, "joblib.dump": true, "cloudpickle.dump": true, "dill.dump": true}

// methods write the object that they are called on.
var methods = map[string]bool{"save_pretrained": true, "save_checkpoint": true, "save_state": true, "save_model": true, "save_weights": true, "push_to_hub": true}

func saves(p *lint.Pass, c *pyast.Call) bool {
	if writers[p.Callee(c)] {
		return true
	}
	if dumpers[p.Callee(c)] && len(c.Args) > 0 {
		return state(p, c.Args[0])
	}
	name, on := p.Method(c)
	if on == nil || p.CalleeFacts(c) != nil {
		return false // a method of the project: what it calls is judged there
	}
	return methods[name] || name == "save" && p.Value(on).Kind == lint.Accelerator
}

// seldom offers to save every 1000 steps where the loop counts them.
func seldom(p *lint.Pass, c *pyast.Call, l *lint.Loop) []lint.Option {
	s, alone := c.Parent().(*pyast.ExprStmt)
	if l == nil || !alone || strings.Contains(p.Text(s), "\n") {
		return nil
	}
	iter, ok := l.Iter.(*pyast.Call)
	t, pair := l.Target.(*pyast.List)
	if !ok || !pair || pyast.Path(iter.Func) != "enumerate" || len(t.Elts) != 2 || pyast.Path(t.Elts[0]) == "" {
		return nil
	}
	at := s.Span().Start
	return []lint.Option{lint.Unsafely("save every 1000 steps", lint.Edit{Start: at, End: at, Text: "if " + pyast.Path(t.Elts[0]) + " % 1000 == 999: "})}
}

// options are the settings of trainers that mean each step.
func options(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		one(p, c, "save_steps", "the Trainer writes a checkpoint on every step")
	}, "transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments", "trl.SFTConfig", "trl.DPOConfig", "trl.GRPOConfig")
	p.CallsOf(func(c *pyast.Call) {
		one(p, c, "every_n_train_steps", "Lightning writes a checkpoint on every step")
	}, "lightning.pytorch.callbacks.ModelCheckpoint")
	p.CallsOf(func(c *pyast.Call) {
		if k, ok := c.Keyword("save_freq").(*pyast.Constant); ok && k.Text == "1" {
			p.Report(k, "Keras writes a checkpoint on every batch")
		}
	}, "tensorflow.keras.callbacks.ModelCheckpoint")
}

func one(p *lint.Pass, c *pyast.Call, name, message string) {
	options, _ := p.Options(c)
	e := options[name]
	if k := p.Const(e); e == nil || k == nil || k.Text != "1" || p.Measures(c) {
		return
	}
	if s := lint.ConstText(options["save_strategy"]); s == "epoch" || s == "no" {
		return
	}
	if k := p.Const(options["max_steps"]); k != nil && len(k.Text) < 3 && k.Text[0] != '-' {
		return // a run of some steps, to try things
	}
	p.Report(e, message)
}
