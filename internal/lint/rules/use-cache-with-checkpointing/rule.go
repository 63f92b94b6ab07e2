// Package usecachewithcheckpointing finds models that keep a generation cache
// while their activations are recomputed.
package usecachewithcheckpointing

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

// Rule is GPU032.
var Rule = &lint.Rule{
	Code:     "GPU032",
	Name:     "use-cache-with-checkpointing",
	Severity: lint.Warning,
	Title:    "The generation cache is switched on while gradient checkpointing is requested",
	Why: "keys and values of all layers are kept for a generation that never comes, in a forward pass that was to keep nothing; " +
		"where the model notices, it warns and switches the cache off, where it does not, checkpointing saves less or nothing",
	Cost: "2 x layers x key-value heads x head size x tokens x batch x bytes an element: 0.5 GiB for a 7B Llama, batch 1, 1,024 tokens, bf16 " +
		"(derived: 2 x 32 x 32 x 128 x 1024 x 2 bytes)",
	Misses: "models that leave use_cache at its default: transformers switches that off by itself; settings behind variables; " +
		"a cache that is switched on again after training is left alone",
	Fix:        lint.SafeFix,
	References: []string{"jiangxinke/Harness-RL#5", "bigcode-project/starcoder#112"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

// A request is where checkpointing is switched on, and of which model ("" if
// it is of any that the function trains).
type request struct {
	at    pyast.Node
	model string
}

func run(p *lint.Pass) {
	asked := requests(p)
	if len(asked) == 0 {
		return
	}
	for _, on := range switches(p) {
		for _, r := range asked {
			if belongs(p, on, r) {
				p.Report(on.report, fmt.Sprintf("%s keeps a generation cache, and gradient checkpointing is requested", on.name),
					lint.See(r.at, "checkpointing is requested here"), lint.Safely("switch the cache off for training", lint.Replace(on.value, "False")))
				break
			}
		}
	}
}

// requests are all places that switch checkpointing on.
func requests(p *lint.Pass) []request {
	var out []request
	p.MethodCalls(func(c *pyast.Call, on pyast.Expr) {
		out = append(out, request{c, owner(on)})
	}, "gradient_checkpointing_enable")
	p.Calls(func(c *pyast.Call) {
		if options, _ := p.Options(c); lint.IsTrue(options["gradient_checkpointing"]) {
			out = append(out, request{c, ""})
		}
		if name := pyast.Path(c.Func); strings.HasSuffix(name, "prepare_model_for_kbit_training") && len(c.Args) > 0 && !lint.IsFalse(c.Keyword("use_gradient_checkpointing")) {
			out = append(out, request{c, owner(c.Args[0])})
		}
	})
	lint.Each(p.Module, func(s *pyast.Assign) {
		for _, t := range s.Targets {
			if a, ok := t.(*pyast.Attribute); ok && (a.Attr == "gradient_checkpointing" || a.Attr == "_gradient_checkpointing") && s.Value != nil && lint.IsTrue(s.Value) {
				out = append(out, request{s, owner(a.Value)})
			}
		}
	})
	return out
}

// A cacheOn is where use_cache is set to True.
type cacheOn struct {
	report pyast.Node
	value  pyast.Expr
	model  string // whose it is, or ""
	name   string
}

func switches(p *lint.Pass) []cacheOn {
	var out []cacheOn
	lint.Each(p.Module, func(s *pyast.Assign) {
		for _, t := range s.Targets {
			if a, ok := t.(*pyast.Attribute); ok && a.Attr == "use_cache" && s.Value != nil && lint.IsTrue(s.Value) {
				out = append(out, cacheOn{s, s.Value, owner(a.Value), orThe(owner(a.Value))})
			}
		}
	})
	p.Calls(func(c *pyast.Call) {
		name, on := p.Method(c)
		if pyast.Path(c.Func) == "setattr" && len(c.Args) == 3 && lint.ConstText(c.Args[1]) == "use_cache" && lint.IsTrue(c.Args[2]) {
			model := owner(c.Args[0])
			out = append(out, cacheOn{c, c.Args[2], model, orThe(model)})
			return
		}
		options, _ := p.Options(c)
		k := options["use_cache"]
		if name == "update" && len(c.Args) == 1 {
			k = item(c.Args[0])
		}
		if k == nil || !lint.IsTrue(k) {
			return
		}
		report := pyast.Node(c)
		if !lint.Inside(k, c) {
			report = k // in a dict of options
		}
		switch {
		case strings.HasSuffix(p.Callee(c), "from_pretrained") || name == "from_pretrained" || strings.HasSuffix(p.Callee(c), "Config"):
			model := ""
			if s, ok := pyast.StmtOf(c).(*pyast.Assign); ok {
				model = builtFrom(p, c, owner(s.Targets[0]))
			}
			out = append(out, cacheOn{report, k, model, orThe(model)})
		case name == "update" && strings.HasSuffix(pyast.Path(on), "config"):
			out = append(out, cacheOn{c, k, owner(on), orThe(owner(on))})
		case p.IsForward(c):
			if _, hot := p.StepOf(c); hot && !p.GradOff(c) {
				out = append(out, cacheOn{c, k, owner(c.Func), orThe(owner(c.Func))})
			}
		}
	})
	return out
}

// builtFrom is the model that is made from a configuration, where that is what
// a call makes: net of net = GPT2LMHeadModel(cfg).
func builtFrom(p *lint.Pass, config *pyast.Call, path string) string {
	if !strings.HasSuffix(p.Callee(config), "Config") && !strings.Contains(p.Callee(config), "Config.") {
		return path
	}
	model := path
	p.FuncOf(config).OwnStmts(func(n pyast.Node) {
		a, ok := n.(*pyast.Assign)
		if !ok || len(a.Targets) != 1 || !lint.Before(config, a) {
			return
		}
		c, ok := a.Value.(*pyast.Call)
		if !ok {
			return
		}
		gets := pyast.Path(c.Keyword("config")) == path
		for _, arg := range c.Args {
			gets = gets || pyast.Path(arg) == path
		}
		if gets && model == path && owner(a.Targets[0]) != "" {
			model = owner(a.Targets[0])
		}
	})
	return model
}

// item is the value of use_cache in a dict, or nil.
func item(e pyast.Expr) pyast.Expr {
	d, ok := e.(*pyast.Dict)
	if !ok {
		return nil
	}
	for i, k := range d.Keys {
		if k != nil && lint.ConstText(k) == "use_cache" {
			return d.Values[i]
		}
	}
	return nil
}

func orThe(model string) string {
	if model == "" {
		return "the model"
	}
	return model
}

// owner is the model that a path leads to: of model.config it is model, of a
// wrapped one the wrapper.
func owner(e pyast.Expr) string {
	path := pyast.Path(e)
	for _, inner := range []string{".generation_config", ".config", ".model", ".module", ".base_model", ".transformer"} {
		if i := strings.Index(path, inner); i > 0 && path[:i] != "self" {
			path = path[:i]
		}
	}
	return path
}

// belongs reports whether a switch and a request are of one model, in one
// training: before it, and not in different branches.
func belongs(p *lint.Pass, on cacheOn, r request) bool {
	fn := p.FuncOf(on.report)
	if p.FuncOf(r.at) != fn && (fn.Class == nil || p.FuncOf(r.at).Class != fn.Class || !strings.HasPrefix(on.model, "self.") || on.model != r.model) {
		return false
	}
	if on.model != "" && r.model != "" && on.model != r.model && !config(on.model) && !config(r.model) {
		return false
	}
	if on.model != "" && r.model == "" && frozenName(on.model) {
		return false
	}
	if lint.Exclusive(on.report, r.at) || p.InTest(on.report) {
		return false
	}
	return !over(p, fn, on, r)
}

func config(path string) bool { return strings.HasSuffix(strings.ToLower(path), "config") }

// frozenName reports whether a model is one of those that only answer.
func frozenName(path string) bool {
	for _, w := range []string{"ref", "teacher", "reward", "draft", "judge"} {
		if strings.Contains(strings.ToLower(path), w) {
			return true
		}
	}
	return false
}

// over reports whether the training lies before the switch, checkpointing ends
// before it, or the cache is switched off again after it.
func over(p *lint.Pass, fn *lint.Func, on cacheOn, r request) bool {
	done := false
	fn.OwnStmts(func(n pyast.Node) {
		switch n := n.(type) {
		case *pyast.Call:
			name, _ := p.Method(n)
			before := lint.Before(n, on.report)
			switch name {
			case "train", "fit":
				done = done || before && lint.Before(r.at, n) && (p.Value(n.Func.(*pyast.Attribute).Value).Kind == lint.Trainer || strings.Contains(pyast.Path(n.Func), "trainer"))
			case "backward", "gradient_checkpointing_disable":
				done = done || before && lint.Before(r.at, n)
			}
		case *pyast.Assign:
			for _, t := range n.Targets {
				if a, ok := t.(*pyast.Attribute); ok && a.Attr == "use_cache" && n.Value != nil && lint.IsFalse(n.Value) && lint.Before(on.report, n) && owner(a.Value) == on.model {
					done = true
				}
			}
		}
	})
	return done
}
