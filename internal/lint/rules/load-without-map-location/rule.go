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
	Cost:   "on GPU 0, for each rank, the size of the checkpoint and a CUDA context of 300 to 600 MB, depending on GPU and driver (derived: ranks x both)",
	Of:     lint.Weights,
	Misses: "programs that are not distributed as far as their imports tell: one process loads to its own GPU; loads whose options are behind variables; loads of what is no checkpoint of a model",
	Fix:    lint.SafeFix,
	References: []string{"NVIDIA/apex#222", "huggingface/transformers#4403",
		"https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html#save-and-load-checkpoints"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	if onCPU(p) {
		return
	}
	p.CallsOf(func(c *pyast.Call) {
		options, all := p.Options(c)
		where := c.Arg(1, "map_location")
		if where == nil {
			where = options["map_location"]
		}
		if !all || where != nil && !lint.IsNone(where) || p.InTest(c) || lint.IsTrue(orBad(options["mmap"])) {
			return
		}
		if !distributed(p, p.FuncOf(c), 0) || oneRank(p, c) || ownFile(p, c) || !isState(p, c) {
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

// onCPU reports whether the file's processes talk by gloo and nothing in it goes
// to a GPU.
func onCPU(p *lint.Pass) bool {
	gloo, gpu := false, false
	p.Calls(func(c *pyast.Call) {
		if p.Callee(c) == "torch.distributed.init_process_group" {
			gloo = gloo || lint.ConstText(c.Arg(0, "backend")) == "gloo"
		}
		gpu = gpu || p.Callee(c) == "torch.cuda.set_device" || p.MovesToGPU(c)
	})
	return gloo && !gpu
}

// distributed reports whether a load runs in several processes, each with a GPU:
// by what its function does and gets, what its callers do, or, where those are
// not known, by what the file imports or a file that imports it.
func distributed(p *lint.Pass, fn *lint.Func, depth int) bool {
	if depth > 4 || spawns(fn) {
		return false
	}
	if ranked(p, fn) {
		return true
	}
	called, yes := false, false
	p.Calls(func(c *pyast.Call) {
		if p.Resolve(c.Func) == fn && p.FuncOf(c) != fn {
			called = true
			yes = yes || distributed(p, p.FuncOf(c), depth+1)
		}
	})
	if called {
		return yes
	}
	for _, q := range p.Imports {
		if distributes(lint.Canonical(q)) {
			return fn != p.Top
		}
	}
	return p.ImportedBeside("torch.nn.parallel.DistributedDataParallel")
}

// distributes reports whether a name is of what makes a program one of several
// processes.
func distributes(q string) bool {
	return q == "torch.distributed" || strings.HasPrefix(q, "torch.distributed.") || q == "torch.nn.parallel.DistributedDataParallel" ||
		q == "accelerate.Accelerator" || q == "horovod.torch" || strings.HasPrefix(q, "apex.parallel")
}

// spawns reports whether a function starts the processes: it is in none of them.
func spawns(fn *lint.Func) bool {
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		if c, ok := n.(*pyast.Call); ok {
			name := pyast.Path(c.Func)
			found = found || strings.HasSuffix(name, ".spawn") || name == "spawn" || strings.HasSuffix(name, "start_processes")
		}
	})
	return found
}

// ranked reports whether a function is of one process of several: it gets a
// rank, or does what such a process does.
func ranked(p *lint.Pass, fn *lint.Func) bool {
	if fn.Node != nil {
		for _, param := range fn.Node.Params {
			switch param.Name {
			case "rank", "local_rank", "gpu", "process_index", "accelerator":
				return true
			}
		}
	}
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		if c, ok := n.(*pyast.Call); ok {
			q := p.Callee(c)
			found = found || distributes(q) || q == "torch.cuda.set_device"
		}
	})
	if found || fn.Class == nil || fn.Name == "__init__" {
		return found
	}
	init := fn.Class.Methods["__init__"]
	return init != nil && ranked(p, init)
}

// ownFile reports whether each process has a file of its own, or one that was
// saved from the CPU as those of FSDP are.
func ownFile(p *lint.Pass, c *pyast.Call) bool {
	fn := p.FuncOf(c)
	fsdp := false
	fn.OwnStmts(func(n pyast.Node) {
		if e, ok := n.(pyast.Expr); ok {
			path := strings.ToLower(pyast.Path(e))
			fsdp = fsdp || strings.Contains(path, "fsdp") || strings.Contains(path, "fullstatedict")
		}
	})
	if fsdp || len(c.Args) == 0 {
		return fsdp
	}
	path := c.Args[0]
	text := p.Text(path)
	for range 4 {
		store := fn.StoreBefore(pyast.Path(path), c)
		if store == nil {
			break
		}
		a, ok := store.Parent().(*pyast.Assign)
		if !ok || a.Value == nil || a.Value == path {
			break
		}
		text += p.Text(a.Value)
		path = a.Value
	}
	return strings.Contains(text, "rank") || strings.Contains(text, "process_index")
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
			name, on := p.Method(call)
			if name == "load_state_dict" && len(call.Args) > 0 && strings.HasPrefix(p.Text(call.Args[0])+".", path) && large(p, on) {
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
			if name, on := p.Method(call); name == "load_state_dict" {
				return large(p, on)
			}
		}
		if _, ok := n.(pyast.Stmt); ok {
			break
		}
	}
	return false
}

// large reports whether what loads a state has tensors of any size: not a
// scaler, a scheduler or a sampler.
func large(p *lint.Pass, e pyast.Expr) bool {
	switch p.Value(e).Kind {
	case lint.Scaler, lint.Scheduler, lint.Loader:
		return false
	}
	name := strings.ToLower(pyast.Path(e))
	return !strings.Contains(name, "sched") && !strings.Contains(name, "scaler") && !strings.Contains(name, "sampler")
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
