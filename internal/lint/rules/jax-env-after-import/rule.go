// Package jaxenvafterimport finds settings of JAX's memory that come too late.
package jaxenvafterimport

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

// Rule is GPU042.
var Rule = &lint.Rule{
	Code:     "GPU042",
	Name:     "jax-env-after-import",
	Severity: lint.Error,
	Title:    "JAX's memory variables are set after its backend was started",
	Why:      "JAX reads them when the backend starts, at the first question for a device or the first array; set later they do nothing, and JAX takes its share of the GPU as if they were not there",
	Cost:     "75 % of the GPU's memory is taken at once, whatever the script needs (JAX's documentation of GPU memory allocation)",
	Misses:   "backends that an imported module of the project starts; a variable that is set after the import but before the first use still works and is left alone",
	References: []string{"adityab/CrossQ#7", "jax-ml/jax#5555",
		"https://docs.jax.dev/en/latest/gpu_memory_allocation.html"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

var variables = map[string]bool{
	"XLA_PYTHON_CLIENT_MEM_FRACTION": true, "XLA_PYTHON_CLIENT_PREALLOCATE": true, "XLA_PYTHON_CLIENT_ALLOCATOR": true,
	"XLA_CLIENT_MEM_FRACTION": true, "XLA_FLAGS": true, "JAX_PLATFORMS": true, "TF_GPU_ALLOCATOR": true,
}

func run(p *lint.Pass) {
	if !p.Uses("jax") {
		return
	}
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
			if c, ok := n.(*pyast.Call); ok && first == nil && (starts(p.Callee(c)) || compiled(p, c)) {
				first = c
			}
			if name := sets[n]; name != "" && first != nil && !lint.Exclusive(n, first) {
				p.Report(n, fmt.Sprintf("%s is set after %s has started JAX's backend", name, p.Text(first.Func)), lint.See(first, "the backend starts here"))
			}
			return true
		})
	}
}

// compiled reports whether a call is of a function that JAX compiles, which it
// does for the device: one under @jax.jit, or what jax.jit(f) gave.
func compiled(p *lint.Pass, c *pyast.Call) bool {
	if fn := p.Resolve(c.Func); fn != nil && fn.Node != nil {
		for _, d := range fn.Node.Decorators {
			if jit(p, d) {
				return true
			}
		}
	}
	if inner, ok := c.Func.(*pyast.Call); ok {
		return jit(p, inner)
	}
	if pyast.Path(c.Func) == "" {
		return false
	}
	a := p.Assigned(c.Func)
	return a != nil && a.Value != nil && jit(p, a.Value)
}

// jit reports whether an expression is jax.jit, jax.jit(...) or
// partial(jax.jit, ...).
func jit(p *lint.Pass, e pyast.Expr) bool {
	if c, ok := e.(*pyast.Call); ok {
		if q := p.Callee(c); q == "functools.partial" && len(c.Args) > 0 {
			return jit(p, c.Args[0])
		}
		e = c.Func
	}
	q := p.Qual(e)
	return q == "jax.jit" || q == "jax.pmap"
}

// starts reports whether a function of JAX needs its backend.
func starts(q string) bool {
	rest, ok := strings.CutPrefix(q, "jax.")
	if !ok {
		return false
	}
	switch rest {
	case "devices", "local_devices", "device_count", "local_device_count", "default_backend", "device_put", "device_get",
		"process_index", "process_count", "block_until_ready", "device_put_replicated", "device_put_sharded", "live_arrays",
		"lax.psum", "make_mesh", "experimental.mesh_utils.create_device_mesh", "sharding.Mesh", "lib.xla_bridge.get_backend", "extend.backend.get_backend":
		return true
	}
	if f, ok := strings.CutPrefix(rest, "numpy."); ok {
		return !types[f]
	}
	return strings.HasPrefix(rest, "random.")
}

// types are calls in jax.numpy that tell of types and need no device.
var types = map[string]bool{"dtype": true, "finfo": true, "iinfo": true, "issubdtype": true, "result_type": true, "promote_types": true, "set_printoptions": true}
