// Package ddpnosetdevice finds processes that use CUDA before they choose their
// GPU.
package ddpnosetdevice

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

// Rule is GPU036.
var Rule = &lint.Rule{
	Code:     "GPU036",
	Name:     "ddp-no-set-device",
	Severity: lint.Error,
	Title:    "A process of a distributed run uses CUDA before it chooses its GPU",
	Why: "without torch.cuda.set_device() the current GPU is GPU 0 in every process: what names no GPU, collectives of NCCL among it, " +
		"opens a context there, and tensors pile up on it",
	Cost:   "300 to 600 MB on GPU 0 for each further process on the machine, before the first tensor: a CUDA context, whose size depends on GPU and driver",
	Misses: "CUDA calls in files that the script imports; runs whose launcher gives each process one visible GPU; calls behind a condition on ranks or on whether the run is distributed",
	References: []string{"pytorch/examples#969", "marcoamonteiro/pi-GAN#22", "pytorch/examples#1142",
		"https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	init := false
	p.CallsOf(func(*pyast.Call) { init = true }, "torch.distributed.init_process_group")
	if !init {
		return
	}
	limited := false // before any function runs
	p.Top.OwnStmts(func(n pyast.Node) { limited = limited || visible(p, n) })
	if limited {
		return
	}
	for _, root := range p.Roots() {
		check(p, root)
	}
}

// A course is what happened on the way through a run of the script.
type course struct {
	first *pyast.Call // that uses the current GPU
	nccl  bool        // collectives are on the GPU
	init  bool
	ready bool // a GPU was chosen before anything used one
}

func check(p *lint.Pass, root *lint.Func) {
	c := &course{}
	p.Runs(root, func(n pyast.Node) bool {
		call, ok := n.(*pyast.Call)
		switch {
		case !ok:
			c.ready = c.ready || c.first == nil && visible(p, n)
		case chooses(p, call):
			c.ready = c.first == nil // what is chosen after the first use is too late for it
		case p.Callee(call) == "torch.distributed.init_process_group":
			c.init = true
			c.nccl = nccl(p, call)
			c.ready = c.first == nil && call.Keyword("device_id") != nil
		case c.first == nil && current(p, call, c.nccl && c.init) && !conditional(p, call) && !p.InTest(call):
			c.first = call
		}
		return !c.ready && (c.first == nil || !c.init)
	})
	if c.first != nil && c.init && !c.ready {
		p.Report(c.first, fmt.Sprintf("%s uses GPU 0 in every process: none was chosen before", p.Text(c.first.Func)))
	}
}

// chooses reports whether a call makes a GPU the current one.
func chooses(p *lint.Pass, c *pyast.Call) bool {
	switch q := p.Callee(c); q {
	case "torch.cuda.set_device", "torch.cuda.device", "torch.set_default_device", "torch.accelerator.set_device_index", "torch.npu.set_device",
		"deepspeed.init_distributed", "accelerate.Accelerator", "torch.xpu.set_device", "torch.accelerator.set_device_idx":
		return true
	case "os.environ.setdefault", "os.environ.update", "os.putenv":
		return strings.Contains(p.Text(c), "CUDA_VISIBLE_DEVICES")
	case "":
		name := strings.ToLower(pyast.Path(c.Func))
		return strings.HasSuffix(name, "set_device") || strings.HasSuffix(name, "init_distributed_mode") || strings.HasSuffix(name, "init_distributed_device")
	default: // a helper of another file may choose
		name := strings.ToLower(q[strings.LastIndexByte(q, '.')+1:])
		return strings.HasPrefix(q, ".") && p.Resolve(c.Func) == nil &&
			(strings.Contains(name, "dist") || strings.Contains(name, "ddp") || strings.Contains(name, "device") || strings.Contains(name, "setup") || strings.Contains(name, "init"))
	}
}

// visible reports whether a statement limits the process to one GPU.
func visible(p *lint.Pass, n pyast.Node) bool {
	a, ok := n.(*pyast.Assign)
	if !ok || len(a.Targets) != 1 {
		return false
	}
	s, ok := a.Targets[0].(*pyast.Subscript)
	return ok && len(s.Index) == 1 && lint.ConstText(s.Index[0]) == "CUDA_VISIBLE_DEVICES" && p.Qual(s.Value) == "os.environ"
}

// nccl reports whether collectives run on the GPU.
func nccl(p *lint.Pass, c *pyast.Call) bool {
	backend := c.Arg(0, "backend")
	if backend == nil {
		return true // the default is NCCL for tensors on the GPU, and barrier() uses it
	}
	if k := p.Const(backend); k != nil {
		return strings.Contains(k.Str, "nccl")
	}
	return strings.Contains(p.Text(backend), "nccl")
}

var collectives = map[string]bool{"barrier": true, "all_reduce": true, "broadcast": true, "all_gather": true, "all_gather_object": true,
	"broadcast_object_list": true, "reduce": true, "gather_object": true, "scatter_object_list": true}

// current reports whether a call uses the current GPU: it names no other.
func current(p *lint.Pass, c *pyast.Call, onGPU bool) bool {
	q := p.Callee(c)
	if name, ok := strings.CutPrefix(q, "torch.distributed."); ok {
		if !onGPU || !collectives[name] || c.Keyword("device_ids") != nil {
			return false
		}
		return name == "barrier" || strings.Contains(name, "object")
	}
	if strings.HasPrefix(q, "torch.cuda.") {
		switch q {
		case "torch.cuda.empty_cache", "torch.cuda.synchronize", "torch.cuda.memory_allocated", "torch.cuda.mem_get_info", "torch.cuda.init",
			"torch.cuda.reset_peak_memory_stats", "torch.cuda.memory_reserved":
			return len(c.Args)+len(c.Keywords) == 0
		}
		return false
	}
	name, on := p.Method(c)
	switch {
	case name == "cuda" && on != nil:
		return len(c.Args)+len(c.Keywords) == 0
	case name == "to" && on != nil && len(c.Args) > 0:
		return plain(p, c.Args[0])
	case name == "to" && on != nil:
		return plain(p, c.Keyword("device"))
	case strings.HasPrefix(q, "torch.") && p.Value(c).Kind == lint.Tensor:
		return plain(p, c.Keyword("device"))
	}
	return false
}

// plain reports whether a device is "cuda", without a number.
func plain(p *lint.Pass, e pyast.Expr) bool {
	if e == nil {
		return false
	}
	if k := p.Const(e); k != nil {
		return k.Str == "cuda"
	}
	if a := p.Assigned(e); a != nil && a.Value != nil && a.Value != e {
		return plainDevice(p, a.Value)
	}
	return plainDevice(p, e)
}

func plainDevice(p *lint.Pass, e pyast.Expr) bool {
	c, ok := e.(*pyast.Call)
	if !ok || p.Callee(c) != "torch.device" || len(c.Args) != 1 || len(c.Keywords) > 0 {
		return false
	}
	k, ok := c.Args[0].(*pyast.Constant)
	if ok {
		return k.Str == "cuda"
	}
	i, ok := c.Args[0].(*pyast.IfExp) // "cuda" if torch.cuda.is_available() else "cpu"
	return ok && lint.ConstText(i.Body) == "cuda" && strings.Contains(p.Text(i.Test), "is_available")
}

// conditional reports whether a call is behind a condition that may mean one
// process only, or a run that is not distributed.
func conditional(p *lint.Pass, c *pyast.Call) bool {
	for n := c.Parent(); n != nil; n = n.Parent() {
		switch s := n.(type) {
		case *pyast.If:
			if !lint.Inside(c, s.Test) && ranks(p.Text(s.Test)) {
				return true
			}
		case *pyast.IfExp:
			if ranks(p.Text(s.Test)) {
				return true
			}
		case *pyast.Handler:
			return true
		case *pyast.FuncDef:
			return false
		}
	}
	return false
}

func ranks(test string) bool {
	test = strings.ToLower(test)
	for _, w := range []string{"rank", "distributed", "world", "ddp", "gpu", "parallel", "single", "is_initialized", "main_process", "debug"} {
		if strings.Contains(test, w) {
			return true
		}
	}
	return false
}
