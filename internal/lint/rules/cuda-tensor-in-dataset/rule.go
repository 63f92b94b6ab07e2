// Package cudatensorindataset finds datasets that put samples on the GPU.
package cudatensorindataset

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

// Rule is GPU018.
var Rule = &lint.Rule{
	Code:       "GPU018",
	Name:       "cuda-tensor-in-dataset",
	Severity:   lint.Warning,
	Title:      "A dataset moves its samples to the GPU one by one",
	Why:        "each sample is a small copy that waits for the GPU, batches cannot be pinned, and a worker process that touches CUDA fails after fork or opens a context of its own on the GPU",
	Cost:       "300 to 600 MB of GPU memory for the CUDA context of each worker (by GPU and PyTorch version), and about 10 us and a wait for each sample's copy instead of one for the batch",
	Misses:     "devices that are not known to be a GPU; functions of other files that a dataset calls; datasets that hold all data on the GPU and are loaded without workers are a choice and left alone, and so are collate functions of loaders without workers",
	Fix:        lint.NoFix,
	References: []string{"pytorch/pytorch#77159", "pytorch/pytorch#40403", "https://docs.pytorch.org/docs/stable/notes/multiprocessing.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	told := map[*lint.Func]bool{}
	for _, c := range p.Classes {
		if !p.IsDataset(c) || p.Measures(c.Node) {
			continue
		}
		for _, fn := range c.WorkerFuncs() {
			sample(p, c, fn, told)
			fn.OwnStmts(func(n pyast.Node) {
				if call, ok := n.(*pyast.Call); ok {
					if helper := p.Resolve(call.Func); helper != nil && helper.Class == nil {
						sample(p, c, helper, told)
					}
				}
			})
		}
		if init := c.Methods["__init__"]; init != nil && p.LoadedByWorkers(c) {
			init.OwnStmts(func(n pyast.Node) {
				if moves(p, n) {
					p.Report(n, fmt.Sprintf("%s holds its data on the GPU, and its loader's workers would have to open it there", c.Name), see(p, c)...)
				}
			})
		}
	}
	p.CallsOf(func(c *pyast.Call) {
		collate(p, c)
		tensors(p, c)
	}, "torch.utils.data.DataLoader")
	p.CallsOf(func(c *pyast.Call) {
		if f, ok := c.Arg(0, "lambd").(*pyast.Lambda); ok {
			lint.Each(f.Body, func(m *pyast.Call) {
				if moves(p, m) {
					p.Report(m, "this transform moves each sample to the GPU")
				}
			})
		}
	}, "torchvision.transforms.Lambda", "torchvision.transforms.v2.Lambda")
}

// sample judges a function that runs for each sample of a dataset.
func sample(p *lint.Pass, c *lint.Class, fn *lint.Func, told map[*lint.Func]bool) {
	if told[fn] {
		return
	}
	told[fn] = true
	fn.OwnStmts(func(n pyast.Node) {
		if moves(p, n) {
			p.Report(n, fmt.Sprintf("%s moves each sample of %s to the GPU: return CPU tensors and move the batch in the training loop", fn.Name, c.Name))
		}
	})
}

// see shows the loader with workers, if it is in this file.
func see(p *lint.Pass, class *lint.Class) []lint.Option {
	for _, c := range p.LoadersOf(class) {
		if p.Workers(c) {
			return []lint.Option{lint.See(c, "this loader has workers")}
		}
	}
	return nil
}

// tensors judges a TensorDataset that is loaded by workers.
func tensors(p *lint.Pass, loader *pyast.Call) {
	dataset := loader.Arg(0, "dataset")
	if dataset == nil || !p.Workers(loader) {
		return
	}
	made := p.Maker(dataset)
	if made == nil || p.Callee(made) != "torch.utils.data.TensorDataset" {
		return
	}
	for _, a := range made.Args {
		if v := p.Value(a); v.Kind == lint.Tensor && v.Place == lint.GPU || moves(p, a) {
			p.Report(made, "the tensors of this dataset are on the GPU, and its loader's workers would have to open it there", lint.See(loader, "this loader has workers"))
			return
		}
	}
}

// collate judges the collate function of a loader with workers.
func collate(p *lint.Pass, c *pyast.Call) {
	options, _ := p.Options(c)
	e := options["collate_fn"]
	if e == nil || !p.Workers(c) {
		return
	}
	look := func(n pyast.Node) {
		if moves(p, n) {
			p.Report(n, "the collate function moves batches to the GPU in the loader's workers", lint.See(c, "this loader has workers"))
		}
	}
	if l, ok := e.(*pyast.Lambda); ok {
		lint.Each(l.Body, func(m *pyast.Call) { look(m) })
	} else if fn := p.Resolve(e); fn != nil {
		fn.OwnStmts(look)
	} else if class := p.ClassNamed(p.Value(e).Class); class != nil && class.Methods["__call__"] != nil {
		class.Methods["__call__"].OwnStmts(look)
	}
}

// moves reports whether n puts a tensor on the GPU.
func moves(p *lint.Pass, n pyast.Node) bool {
	c, ok := n.(*pyast.Call)
	if !ok {
		return false
	}
	name, on := p.Method(c)
	if on != nil && p.Value(on).Kind == lint.Module {
		return false
	}
	switch {
	case on != nil && name == "cuda":
		return true
	case on != nil && name == "to":
		target := c.Arg(0, "device")
		if a, ok := target.(*pyast.Attribute); ok && a.Attr == "device" && pyast.Path(a.Value) != "self" && p.Value(a.Value).Place != lint.GPU {
			return false // where another tensor is
		}
		return target != nil && p.Value(target).Place == lint.GPU && !defaultsToCPU(p, target)
	}
	device := c.Keyword("device")
	q := p.Callee(c)
	return device != nil && strings.HasPrefix(q, "torch.") && strings.Count(q, ".") == 1 && p.Value(device).Place == lint.GPU && !defaultsToCPU(p, device)
}

// defaultsToCPU reports whether a device is a parameter whose default is the
// CPU, or None.
func defaultsToCPU(p *lint.Pass, device pyast.Expr) bool {
	path := pyast.Path(device)
	name := path[strings.LastIndexByte(path, '.')+1:]
	fn := p.FuncOf(device)
	for _, f := range []*lint.Func{fn, initOf(fn)} {
		if f == nil || f.Node == nil {
			continue
		}
		for _, param := range f.Node.Params {
			if param.Name == name && param.Default != nil {
				return lint.ConstText(param.Default) == "cpu" || lint.IsNone(param.Default) || p.Value(param.Default).Place == lint.CPU
			}
		}
	}
	return false
}

func initOf(fn *lint.Func) *lint.Func {
	if fn.Class == nil {
		return nil
	}
	return fn.Class.Methods["__init__"]
}
