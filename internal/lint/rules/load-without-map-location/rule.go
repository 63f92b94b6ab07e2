// Package loadwithoutmaplocation finds checkpoints that every process loads onto
// the GPU they were saved from.
package loadwithoutmaplocation

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

// Rule is GPU009.
var Rule = &lint.Rule{
	Code:     "GPU009",
	Name:     "load-without-map-location",
	Severity: lint.Error,
	Title:    "Every process loads the checkpoint onto the GPU that it was saved from",
	Why: "torch.load() puts tensors back where they were, which is GPU 0 for a checkpoint of rank 0: all ranks put a copy, and a CUDA context, there; " +
		"load_state_dict() copies to the right device anyway",
	Cost:   "on GPU 0, for each rank, the size of the checkpoint and 300 to 600 MB for a context (transformers#4403)",
	Misses: "programs that are not distributed as far as their imports tell: one process loads to its own GPU; loads whose options are behind variables; loads of what is no checkpoint of a model",
	Fix:    lint.SafeFix,
	References: []string{"NVIDIA/apex#222", "huggingface/transformers#4403",
		"https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html#save-and-load-checkpoints"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		options, all := p.Options(c)
		where := c.Arg(1, "map_location")
		if where == nil {
			where = options["map_location"]
		}
		if !all || where != nil && !lint.IsNone(where) || p.InTest(c) || lint.IsTrue(orBad(options["mmap"])) {
			return
		}
		if !distributed(p) || oneRank(p, c) || !isState(p, c) {
			return
		}
		edit := p.SetArg(c, "map_location", `"cpu"`)
		opt := lint.Unsafely("load it to the CPU", edit)
		if copied(p, c) {
			opt = lint.Safely("load it to the CPU", edit)
		}
		p.Report(c, "each process loads this checkpoint onto the GPU that it was saved from", opt)
	}, "torch.load")
}

func orBad(e pyast.Expr) pyast.Expr {
	if e == nil {
		return &pyast.BadExpr{}
	}
	return e
}

// distributed reports whether the program runs in several processes, each with
// a GPU: by what the file, or else another of the project, imports.
func distributed(p *lint.Pass) bool {
	for _, q := range p.Imports {
		switch q = lint.Canonical(q); {
		case q == "torch.distributed", strings.HasPrefix(q, "torch.distributed."), q == "torch.nn.parallel.DistributedDataParallel",
			q == "deepspeed", q == "accelerate.Accelerator", q == "horovod.torch", strings.HasPrefix(q, "apex.parallel"):
			return true
		}
	}
	found := false
	p.Calls(func(c *pyast.Call) {
		q := p.Callee(c)
		found = found || strings.HasPrefix(q, "torch.distributed.") || q == "torch.nn.parallel.DistributedDataParallel"
	})
	return found || near(p)
}

// near reports whether the file only helps others of the project, and one of
// those is distributed: it says so itself, by what it does with ranks.
func near(p *lint.Pass) bool {
	return p.Project().Imports("torch.nn.parallel.DistributedDataParallel") && !script(p)
}

// script reports whether the file is one to start.
func script(p *lint.Pass) bool {
	found := false
	lint.Each(p.Module, func(c *pyast.Constant) { found = found || c.Str == "__main__" })
	return found
}

// oneRank reports whether only one process loads.
func oneRank(p *lint.Pass, c *pyast.Call) bool {
	fn := p.FuncOf(c)
	if fn.Node == nil {
		return false
	}
	for _, g := range p.Guards(c, fn.Node) {
		if g.Kind == lint.Rank {
			return true
		}
	}
	return false
}

// isState reports whether what is loaded are weights: it goes to
// load_state_dict, or is called so.
func isState(p *lint.Pass, c *pyast.Call) bool {
	fn := p.FuncOf(c)
	if goesTo(p, c) {
		return true
	}
	a, ok := pyast.StmtOf(c).(*pyast.Assign)
	if ok && len(a.Targets) == 1 {
		path := pyast.Path(a.Targets[0])
		if stateName(path) {
			return true
		}
		found := false
		fn.OwnStmts(func(n pyast.Node) {
			call, ok := n.(*pyast.Call)
			if !ok || path == "" {
				return
			}
			if name, _ := p.Method(call); name == "load_state_dict" && len(call.Args) > 0 && strings.HasPrefix(p.Text(call.Args[0])+".", path) {
				found = true
			}
		})
		return found
	}
	_, ret := pyast.StmtOf(c).(*pyast.Return)
	return ret && stateName(fn.Name)
}

// goesTo reports whether a load is, or is a part of, an argument of
// load_state_dict.
func goesTo(p *lint.Pass, c *pyast.Call) bool {
	for n := c.Parent(); n != nil; n = n.Parent() {
		if call, ok := n.(*pyast.Call); ok {
			if name, _ := p.Method(call); name == "load_state_dict" {
				return true
			}
		}
		if _, ok := n.(pyast.Stmt); ok {
			break
		}
	}
	return false
}

func stateName(path string) bool {
	path = strings.ToLower(path)
	for _, w := range []string{"ckpt", "checkpoint", "state_dict", "weights", "pretrained", "snapshot"} {
		if strings.Contains(path, w) {
			return true
		}
	}
	return false
}

// copied reports whether all that is done with what is loaded is to copy it into
// a model or an optimizer, so that where it lies makes no difference.
func copied(p *lint.Pass, c *pyast.Call) bool {
	if goesTo(p, c) {
		return true
	}
	a, ok := pyast.StmtOf(c).(*pyast.Assign)
	if !ok || a.Value != pyast.Expr(c) || len(a.Targets) != 1 {
		return false
	}
	path := pyast.Path(a.Targets[0])
	for _, r := range p.FuncOf(c).Refs[path] {
		if r.Store || r.Del {
			continue
		}
		e := pyast.Node(r.Node)
		if s, ok := e.Parent().(*pyast.Subscript); ok {
			e = s
		}
		call, ok := e.Parent().(*pyast.Call)
		if !ok {
			return false
		}
		if name, _ := p.Method(call); name != "load_state_dict" {
			return false
		}
	}
	return path != "" && !strings.Contains(path, ".") && len(p.FuncOf(c).Refs[path]) > 1 && p.FuncOf(c).Node != nil
}
