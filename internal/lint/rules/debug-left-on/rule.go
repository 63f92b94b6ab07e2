// Package debuglefton finds debugging aids that slow training down.
package debuglefton

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

// Rule is GPU130.
var Rule = &lint.Rule{
	Code:       "GPU130",
	Name:       "debug-left-on",
	Severity:   lint.Warning,
	Title:      "A debugging aid is on",
	Why:        "these check or serialise every operation, and are meant for the search of a fault",
	Cost:       "2 to 10 times the step's time for anomaly detection, launches one by one for CUDA_LAUNCH_BLOCKING, op by op for eager Keras (PyTorch tuning guide; order of size)",
	Misses:     "settings in shell scripts and configuration files; what is behind a debug flag, in tests, or switched off again is left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html", "https://docs.pytorch.org/docs/stable/autograd.html", "https://www.tensorflow.org/api_docs/python/tf/config/run_functions_eagerly"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	report := func(n pyast.Node, what string, opts ...lint.Option) {
		if !p.Measures(n) && !wanted(p, n) {
			p.Report(n, what, opts...)
		}
	}
	p.Calls(func(c *pyast.Call) {
		q := p.Callee(c)
		switch {
		case q == "torch.autograd.set_detect_anomaly" && lint.IsTrue(c.Arg(0, "mode")), q == "torch.autograd.detect_anomaly" && !lint.IsFalse(c.Arg(0, "check_nan")),
			q == "torch.autograd.anomaly_mode.set_detect_anomaly" && lint.IsTrue(c.Arg(0, "mode")):
			report(c, "autograd's anomaly detection is on: each operation keeps its stack trace, and each gradient is searched for NaN", off(p, c)...)
		case q == "tensorflow.config.run_functions_eagerly" && lint.IsTrue(c.Arg(0, "run_eagerly")):
			report(c, "tf.function is off: every operation runs by itself", off(p, c)...)
		case q == "lightning.pytorch.Trainer" && lint.IsTrue(c.Keyword("detect_anomaly")):
			report(c.Keyword("detect_anomaly"), "autograd's anomaly detection is on for the whole training")
		}
		if name, on := p.Method(c); name == "compile" && on != nil && lint.IsTrue(c.Keyword("run_eagerly")) {
			report(c.Keyword("run_eagerly"), "the Keras model runs op by op")
		}
		if q == "jax.config.update" && len(c.Args) == 2 && slowJAX[lint.ConstText(c.Args[0])] && lint.IsTrue(c.Args[1]) {
			report(c, lint.ConstText(c.Args[0])+" is on", off(p, c)...)
		}
	})
	p.EnvSets(func(at pyast.Node, name string, value pyast.Expr) {
		v := lint.ConstText(value)
		switch {
		case (name == "CUDA_LAUNCH_BLOCKING" || name == "HIP_LAUNCH_BLOCKING") && v == "1":
			report(at, name+"=1 makes every launch wait for its kernel", off(p, at)...)
		case name == "TORCH_DISTRIBUTED_DEBUG" && v == "DETAIL":
			report(at, "TORCH_DISTRIBUTED_DEBUG=DETAIL checks every collective", off(p, at)...)
		}
	})
}

var slowJAX = map[string]bool{"jax_debug_nans": true, "jax_debug_infs": true, "jax_disable_jit": true}

// off removes the statement that n is, or is alone in.
func off(p *lint.Pass, n pyast.Node) []lint.Option {
	s, ok := n.(pyast.Stmt)
	if !ok {
		s, ok = n.Parent().(*pyast.ExprStmt)
	}
	if !ok {
		return nil
	}
	return []lint.Option{lint.Unsafely("switch it off", p.DeleteStmt(s))}
}

// wanted reports whether n stands behind a condition.
func wanted(p *lint.Pass, n pyast.Node) bool {
	for m := n.Parent(); m != nil; m = m.Parent() {
		switch i := m.(type) {
		case *pyast.If:
			if t := p.Text(i.Test); !strings.Contains(t, "is_available") && !strings.Contains(t, "__name__") {
				return true
			}
		case *pyast.IfExp, *pyast.Handler:
			return true
		case *pyast.FuncDef:
			return strings.Contains(strings.ToLower(i.Name), "debug") || strings.Contains(strings.ToLower(i.Name), "determin")
		}
	}
	return false
}
