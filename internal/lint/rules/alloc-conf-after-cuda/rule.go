// Package allocconfaftercuda finds settings of the CUDA allocator that come too
// late.
package allocconfaftercuda

import (
	_ "embed"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

var (
	//go:embed bad.py
	bad string
	//go:embed good.py
	good string
)

// Rule is GPU044.
var Rule = &lint.Rule{
	Code:     "GPU044",
	Name:     "alloc-conf-after-cuda",
	Severity: lint.Error,
	Title:    "The CUDA allocator's settings are set after CUDA was used",
	Why:      "PyTorch reads the variable once, when the allocator starts, which is at the first CUDA call; set later it does nothing, and nothing says so",
	Cost:     "all that the setting was to save: with segments that cannot grow, up to all reserved memory that is not allocated stays unusable by fragmentation",
	Misses:   "CUDA calls in modules of the project that are imported before; variables whose name is computed",
	References: []string{"axolotl-ai-cloud/axolotl#2183",
		"https://docs.pytorch.org/docs/stable/notes/cuda.html#environment-variables"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

var variables = map[string]bool{"PYTORCH_CUDA_ALLOC_CONF": true, "PYTORCH_ALLOC_CONF": true, "PYTORCH_HIP_ALLOC_CONF": true, "PYTORCH_NO_CUDA_MEMORY_CACHING": true}

func run(p *lint.Pass) {
	sets := map[pyast.Node]string{}
	p.Env(func(at pyast.Node, name string, _ pyast.Expr) {
		if variables[name] {
			sets[at] = name
		}
	})
	if len(sets) == 0 {
		return
	}
	for _, root := range p.Roots() {
		var first *pyast.Call
		p.Runs(root, func(n pyast.Node) bool {
			if c, ok := n.(*pyast.Call); ok && first == nil && opens(p, c) {
				first = c
			}
			if name := sets[n]; name != "" && first != nil && !lint.Exclusive(n, first) {
				p.Report(n, fmt.Sprintf("%s is set after %s has started CUDA", name, p.Text(first.Func)), lint.See(first, "CUDA starts here"))
			}
			return true
		})
	}
}

// opens reports whether a call starts CUDA's allocator.
func opens(p *lint.Pass, c *pyast.Call) bool {
	switch p.Callee(c) {
	case "torch.distributed.barrier", "torch.distributed.all_reduce", "torch.distributed.broadcast", "torch.distributed.all_gather",
		"torch.distributed.all_gather_object", "torch.distributed.broadcast_object_list":
		return false // may be of another backend
	case "torch.cuda.get_device_name", "torch.cuda.get_device_properties", "torch.cuda.get_device_capability":
		return false // start CUDA, but no allocator
	}
	return p.InitsCUDA(c)
}
