// Package optimizerbeforemove finds optimizers that are built before FSDP shards their parameters.
package optimizerbeforemove

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

// Rule is GPU033.
var Rule = &lint.Rule{
	Code:       "GPU033",
	Name:       "optimizer-before-move",
	Severity:   lint.Warning,
	Title:      "The optimizer is built before FSDP shards the parameters",
	Why:        "sharding replaces the parameters; the optimizer keeps the whole ones alive and updates what the model no longer uses",
	Cost:       "the whole parameters on each GPU beside their shard, 4 bytes each in fp32 (derived), and a training that changes nothing",
	Of:         lint.Weights,
	Misses:     "models that are wrapped in another function; .to(device) after the optimizer, which keeps the parameters in today's PyTorch and is no mistake",
	Fix:        lint.NoFix,
	References: []string{"https://docs.pytorch.org/docs/stable/fsdp.html", "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.Calls(func(c *pyast.Call) {
		q := p.Callee(c)
		if !strings.HasPrefix(q, "torch.optim.") || strings.Count(q, ".") != 2 || p.InTest(c) {
			return
		}
		for _, path := range models(p, c) {
			if wrap := shardedAfter(p, path, c); wrap != nil && !rebuilt(p, c, wrap) {
				p.Report(c, fmt.Sprintf("the optimizer holds the parameters that %s had before it is sharded", path), lint.See(wrap, "sharded here"))
			}
		}
	})
}

// models lists the paths whose parameters() a call is given.
func models(p *lint.Pass, c *pyast.Call) []string {
	var out []string
	lint.Each(c, func(inner *pyast.Call) {
		if name, on := p.Method(inner); name == "parameters" || name == "named_parameters" {
			if path := pyast.Path(on); path != "" {
				out = append(out, path)
			}
		}
	})
	return out
}

// shardedAfter is the call after c, in its function, that shards the model at a
// path.
func shardedAfter(p *lint.Pass, path string, c *pyast.Call) pyast.Node {
	var found pyast.Node
	p.CallsOf(func(w *pyast.Call) {
		model := moved(p, w.Arg(0, "module"))
		if found == nil && pyast.Path(model) == path && p.FuncOf(w) == p.FuncOf(c) && lint.Before(c, w) && !lint.Exclusive(c, w) {
			found = w
		}
	}, "torch.distributed.fsdp.FullyShardedDataParallel", "torch.distributed.fsdp.fully_shard", "torch.distributed._composable.fsdp.fully_shard",
		"torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel")
	return found
}

// moved is the model behind model.cuda() and model.to(device).
func moved(p *lint.Pass, e pyast.Expr) pyast.Expr {
	if c, ok := e.(*pyast.Call); ok {
		if name, on := p.Method(c); name == "cuda" || name == "to" {
			return on
		}
	}
	return e
}

// rebuilt reports whether the optimizer's name is assigned anew after sharding.
func rebuilt(p *lint.Pass, c *pyast.Call, wrap pyast.Node) bool {
	s, ok := pyast.StmtOf(c).(*pyast.Assign)
	if !ok || len(s.Targets) != 1 {
		return false
	}
	for _, r := range p.FuncOf(c).Refs[pyast.Path(s.Targets[0])] {
		if r.Store && lint.Before(wrap, r.Node) {
			return true
		}
	}
	return false
}
