// Package synchronizeeverystep finds training steps that wait for the GPU.
package synchronizeeverystep

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

// Rule is GPU106.
var Rule = &lint.Rule{
	Code:       "GPU106",
	Name:       "synchronize-every-step",
	Severity:   lint.Warning,
	Off:        true, // on public code half of what it finds are workers that verify or measure
	Title:      "synchronize() drains the GPU's queue on every step",
	Why:        "Python may not prepare the next step while the GPU works on this one, so the GPU idles until the first kernels of the next step are launched",
	Cost:       "the launch time of a step's first kernels, 0.1 to 10 ms a step (launch latency times the kernels of a step, derived)",
	Misses:     "waits in functions of other packages; waits beside the reading of a clock or of the memory, in benchmarks and tests, behind an option named for them, or behind a condition that holds only at times, are left alone",
	Fix:        lint.UnsafeFix,
	References: []string{"https://docs.pytorch.org/docs/stable/notes/cuda.html", "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	p.CallsOf(func(c *pyast.Call) {
		if !p.EachStep(c) || p.Measures(c) || timed(c) || harness(p, c) || chosen(p, c) {
			return
		}
		var opts []lint.Option
		if s, ok := c.Parent().(*pyast.ExprStmt); ok {
			opts = append(opts, lint.Unsafely("do not wait", p.DeleteStmt(s)))
		}
		p.Report(c, "the GPU's queue is drained on every step", opts...)
	}, "torch.cuda.synchronize", "torch.mps.synchronize", "torch.xpu.synchronize", "torch.npu.synchronize", "torch.accelerator.synchronize")
}

// clocks are calls that read a time, or the memory at this moment.
var clocks = map[string]bool{
	"time": true, "perf_counter": true, "monotonic": true, "perf_counter_ns": true, "time_ns": true, "elapsed_time": true, "default_timer": true,
	"max_memory_allocated": true, "memory_allocated": true, "memory_reserved": true, "max_memory_reserved": true, "record": true,
}

// timed reports whether a clock is read beside the call, in its block: the wait
// is there to measure.
func timed(c *pyast.Call) bool {
	found := false
	stmt := pyast.StmtOf(c)
	for _, s := range beside(stmt) {
		lint.Each(s, func(m *pyast.Call) {
			if a, ok := m.Func.(*pyast.Attribute); ok && clocks[a.Attr] {
				found = true
			} else if n, ok := m.Func.(*pyast.Name); ok && clocks[n.Ident] {
				found = true
			}
		})
	}
	return found
}

// harness reports whether the loop around is there to be measured: its round
// reads a clock, or its function does and the loop repeats a step so many times,
// over no loader.
func harness(p *lint.Pass, c *pyast.Call) bool {
	loop, _ := p.StepOf(c)
	if loop == nil {
		return false
	}
	if reads(p, loop.Node, loop.Node) {
		return true
	}
	i, ok := loop.Iter.(*pyast.Call)
	repeats := ok && (pyast.Path(i.Func) == "range" || strings.HasSuffix(pyast.Path(i.Func), "trange")) && !fetches(loop.Node)
	fn := p.FuncOf(c)
	return repeats && fn.Node != nil && reads(p, fn.Node, fn.Node)
}

// reads reports whether a clock is read within n, each time that around runs.
func reads(p *lint.Pass, n, around pyast.Node) bool {
	found := false
	lint.Each(n, func(m *pyast.Call) {
		q := p.Callee(m)
		if q == "" {
			q = pyast.Path(m.Func)
		}
		found = found || clocks[q[strings.LastIndexByte(q, '.')+1:]] && lint.Always(p.Guards(m, around))
	})
	return found
}

// fetches reports whether a loop takes its batches from an iterator.
func fetches(n pyast.Node) bool {
	found := false
	lint.Each(n, func(m *pyast.Call) { found = found || pyast.Path(m.Func) == "next" })
	return found
}

// beside are the statements next to s in its block, and next to an if that
// holds s alone.
func beside(s pyast.Stmt) []pyast.Stmt {
	var block []pyast.Stmt
	pyast.Children(s.Parent(), func(n pyast.Node) {
		if x, ok := n.(pyast.Stmt); ok {
			block = append(block, x)
		}
	})
	var out []pyast.Stmt
	for i, x := range block {
		if x != s {
			continue
		}
		out = append(out, block[max(0, i-2):i]...)
		out = append(out, block[i+1:min(len(block), i+3)]...)
	}
	if i, ok := s.Parent().(*pyast.If); ok {
		out = append(out, beside(i)...)
	}
	return out
}

// chosen reports whether a setting that is named for it asks for the wait.
func chosen(p *lint.Pass, c *pyast.Call) bool {
	around := pyast.Node(p.Module)
	if fn := p.FuncOf(c); fn.Node != nil {
		around = fn.Node
	}
	for _, g := range p.Guards(c, around) {
		if strings.Contains(strings.ToLower(p.Text(g.Node)), "sync") {
			return true
		}
	}
	return false
}
