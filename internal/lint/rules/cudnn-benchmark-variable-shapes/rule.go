// Package cudnnbenchmarkvariableshapes finds cuDNN autotuning where batches change their size.
package cudnnbenchmarkvariableshapes

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

// Rule is GPU142.
var Rule = &lint.Rule{
	Code:       "GPU142",
	Name:       "cudnn-benchmark-variable-shapes",
	Severity:   lint.Warning,
	Title:      "cudnn.benchmark is on while batches change their size",
	Why:        "for each new shape cuDNN times its algorithms for every convolution before it runs, and the workspaces that it tries also break up the allocator's memory",
	Cost:       "a trial of all algorithms for each convolution and each new size: seconds for the first step of a size in a network of 50 convolutions, against some 10 ms for a step (order of size; cuDNN runs up to 8 algorithms for each of forward and two backward passes)",
	Misses:     "sizes that change in another file; sizes that only follow the data (images of different sizes, padding to the longest) where no collate function in the file shows it; random places of a crop of fixed size are no change, and a size drawn once before the loop is none",
	Fix:        lint.UnsafeFix,
	References: []string{"pytorch/pytorch#2759", "pytorch/vision#5985", "https://docs.pytorch.org/docs/stable/backends.html"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	var why pyast.Node
	looked := false
	report := func(at, value pyast.Node, on pyast.Expr) {
		if !lint.IsTrue(on) || p.InTest(at) {
			return
		}
		if !looked {
			why, looked = changes(p), true
		}
		if why != nil {
			p.Report(at, "cuDNN tries its algorithms anew for each size of batch, and batches change their size", lint.See(why, "the size changes here"),
				lint.Unsafely("turn it off", lint.Replace(value, "False")))
		}
	}
	lint.Each(p.Module, func(a *pyast.Assign) {
		for _, t := range a.Targets {
			pairs(t, a.Value, func(t, v pyast.Expr) {
				if p.Qual(t) == "torch.backends.cudnn.benchmark" {
					report(a, v, v)
				}
			})
		}
	})
	p.CallsOf(func(c *pyast.Call) {
		if b := c.Keyword("benchmark"); b != nil {
			report(b, b, b)
		}
	}, "lightning.pytorch.Trainer")
	p.Calls(func(c *pyast.Call) {
		if pyast.Path(c.Func) == "setattr" && len(c.Args) == 3 && p.Qual(c.Args[0]) == "torch.backends.cudnn" && lint.ConstText(c.Args[1]) == "benchmark" {
			report(c, c.Args[2], c.Args[2])
		}
	})
}

// pairs visits a target and its value, one by one where both are tuples.
func pairs(t, v pyast.Expr, visit func(t, v pyast.Expr)) {
	ts, ok := t.(*pyast.List)
	vs, both := v.(*pyast.List)
	if !ok || !both || len(ts.Elts) != len(vs.Elts) {
		visit(t, v)
		return
	}
	for i := range ts.Elts {
		visit(ts.Elts[i], vs.Elts[i])
	}
}

// changes is a place where the size of a batch changes from step to step, or nil.
func changes(p *lint.Pass) pyast.Node {
	var found pyast.Node
	collates := collateFuncs(p)
	pyast.Walk(p.Module, func(n pyast.Node) bool {
		if found != nil {
			return false
		}
		if c, ok := n.(*pyast.Call); ok && strings.HasPrefix(p.Callee(c), "torchvision.models.detection.") {
			found = n // it scales each image by its longer side
			return false
		}
		fn := p.FuncOf(n)
		collate := collates[fn]
		if collate && pads(p, n) {
			found = n
			return false
		}
		if size := sizeOf(p, n); size != nil && varies(p, fn, size, n, collate) && !settled(p, fn, n, collate) && (collate || p.EachStep(n) || hot(p, n)) {
			found = n
		}
		return true
	})
	return found
}

// settled reports whether what n resizes under a name is later in the function
// brought to one size, or padded.
func settled(p *lint.Pass, fn *lint.Func, n pyast.Node, collate bool) bool {
	a, ok := pyast.StmtOf(n).(*pyast.Assign)
	if !ok || len(a.Targets) != 1 || pyast.Path(a.Targets[0]) == "" {
		return false
	}
	found := false
	fn.OwnStmts(func(m pyast.Node) {
		c, ok := m.(*pyast.Call)
		if !ok || len(c.Args) == 0 || pyast.Path(c.Args[0]) != pyast.Path(a.Targets[0]) || !lint.Before(a, c) {
			return
		}
		size := sizeOf(p, c)
		found = found || p.Callee(c) == "torch.nn.functional.pad" || size != nil && c.Keyword("scale_factor") == nil && !varies(p, fn, size, c, collate)
	})
	return found
}

// hot reports whether n is in a loop over a training step behind a condition:
// a size that changes every 10 steps changes.
func hot(p *lint.Pass, n pyast.Node) bool {
	for l := p.LoopOf(n); l != nil; l = l.Outer {
		if l.Step() {
			return true
		}
	}
	fn := p.FuncOf(n)
	return fn.Node != nil && (fn.Hot || fn.Name == "forward" && fn.Class != nil)
}

// collateFuncs are the functions that make batches for the file's loaders.
func collateFuncs(p *lint.Pass) map[*lint.Func]bool {
	out := map[*lint.Func]bool{}
	p.CallsOf(func(c *pyast.Call) {
		options, _ := p.Options(c)
		e := options["collate_fn"]
		if e == nil {
			return
		}
		if fn := p.Resolve(e); fn != nil {
			out[fn] = true
		} else if class := p.ClassNamed(p.Value(e).Class); class != nil && class.Methods["__call__"] != nil {
			out[class.Methods["__call__"]] = true
		}
	}, "torch.utils.data.DataLoader")
	return out
}

// resizers change the size of images; size is by position or name.
var resizers = map[string]bool{
	"torch.nn.functional.interpolate": true, "torch.nn.functional.upsample": true, "torchvision.transforms.functional.resize": true,
	"torchvision.transforms.v2.functional.resize": true, "torchvision.transforms.Resize": true, "torchvision.transforms.v2.Resize": true,
	"torchvision.transforms.functional.center_crop": true, "torchvision.transforms.v2.functional.center_crop": true,
	"torchvision.transforms.RandomCrop": true, "torchvision.transforms.v2.RandomCrop": true, "torchvision.transforms.CenterCrop": true, "torchvision.transforms.v2.CenterCrop": true,
	"kornia.geometry.resize": true, "torch.nn.functional.adaptive_avg_pool2d": true, "torch.nn.Upsample": true,
}

// sizeOf is the expression that says which size n makes a tensor, or nil.
func sizeOf(p *lint.Pass, n pyast.Node) pyast.Node {
	switch n := n.(type) {
	case *pyast.Call:
		q := p.Callee(n)
		if !resizers[q] {
			return nil
		}
		if s := n.Keyword("scale_factor"); s != nil {
			return s
		}
		at := 1
		if strings.HasSuffix(q, "Resize") || strings.HasSuffix(q, "Crop") {
			at = 0
		}
		if s := n.Keyword("output_size"); s != nil {
			return s
		}
		if s := n.Arg(at, "size"); s != nil {
			return s
		}
	case *pyast.Subscript:
		if n.Store || p.Value(n.Value).Kind != lint.Tensor {
			return nil
		}
		return cut(p, n)
	}
	return nil
}

// cut is the upper end of a slice of the last dimensions that begins at 0:
// x[:, :, :h, :w].
func cut(p *lint.Pass, s *pyast.Subscript) pyast.Node {
	if len(s.Index) < 3 {
		return nil
	}
	for _, i := range s.Index[2:] {
		sl, ok := i.(*pyast.Slice)
		switch {
		case !ok || len(sl.Parts) == 0:
		case strings.HasPrefix(p.Text(sl), ":"):
			return sl.Parts[0]
		case len(sl.Parts) > 1 && isZero(sl.Parts[0]):
			return sl.Parts[1]
		case len(sl.Parts) > 1 && length(p, sl) != nil:
			return length(p, sl)
		}
	}
	return nil
}

// length is h in top:top + h, or nil.
func length(p *lint.Pass, sl *pyast.Slice) pyast.Node {
	b, ok := sl.Parts[1].(*pyast.BinOp)
	if !ok || b.Op != "+" {
		return nil
	}
	from := p.Text(sl.Parts[0])
	if p.Text(b.Left) == from {
		return b.Right
	} else if p.Text(b.Right) == from {
		return b.Left
	}
	return nil
}

func isZero(e pyast.Expr) bool {
	k, ok := e.(*pyast.Constant)
	return ok && k.Text == "0"
}

// varies reports whether an expression gives another value each time: it draws
// a number or picks by a counter, itself or through names that are assigned so
// within the same loop, or within the function where that runs each step.
func varies(p *lint.Pass, fn *lint.Func, e pyast.Node, at pyast.Node, whole bool) bool {
	loop := outermost(p, at)
	seen := map[string]bool{}
	var look func(pyast.Node) bool
	look = func(e pyast.Node) bool {
		found := false
		pyast.Walk(e, func(n pyast.Node) bool {
			switch n := n.(type) {
			case *pyast.Call:
				found = found || draws(p, n)
			case *pyast.Subscript:
				found = found || picks(n)
			case *pyast.BinOp:
				found = found || n.Op == "%" && counts(fn, n.Left)
			case *pyast.Name:
				if seen[n.Ident] {
					return false
				}
				seen[n.Ident] = true
				for _, r := range fn.Refs[n.Ident] {
					if !r.Store || loop != nil && !loop.Node.Span().Has(r.Node.Span()) && !whole {
						continue
					}
					if v := assigned(r.Node); v != nil && look(v) {
						found = true
					}
				}
			}
			return !found
		})
		return found
	}
	return look(e)
}

// counts reports whether e is a loop's variable, or counts up: "step += 1".
func counts(fn *lint.Func, e pyast.Expr) bool {
	for _, r := range fn.Refs[pyast.Path(e)] {
		switch s := pyast.StmtOf(r.Node).(type) {
		case *pyast.For:
			if r.Store {
				return true
			}
		case *pyast.AugAssign:
			if r.Node == s.Target {
				return true
			}
		}
	}
	return false
}

// assigned is what a name is assigned, alone or in a tuple.
func assigned(n pyast.Expr) pyast.Node {
	switch s := pyast.StmtOf(n).(type) {
	case *pyast.Assign:
		if s.Value != nil {
			return s.Value
		}
	case *pyast.AugAssign:
		return s.Value
	}
	return nil
}

// outermost is the outermost step loop around n, or nil.
func outermost(p *lint.Pass, n pyast.Node) *lint.Loop {
	var out *lint.Loop
	for l := p.LoopOf(n); l != nil; l = l.Outer {
		if l.Step() {
			out = l
		}
	}
	return out
}

// draws reports whether a call draws a number.
func draws(p *lint.Pass, c *pyast.Call) bool {
	q := p.Qual(c.Func)
	name := q[strings.LastIndexByte(q, '.')+1:]
	switch {
	case strings.HasPrefix(q, "random."), strings.HasPrefix(q, "numpy.random."):
		return name != "seed" && name != "shuffle" && name != "default_rng" && name != "Random"
	case q == "torch.randint", q == "torch.rand", q == "torch.randperm", q == "torch.multinomial":
		return true
	}
	if a, ok := c.Func.(*pyast.Attribute); ok && q == "" {
		switch a.Attr {
		case "randint", "integers", "choice", "uniform", "randrange":
			return true
		}
	}
	return false
}

// picks reports whether an index goes round with a counter: sizes[step % 3].
func picks(s *pyast.Subscript) bool {
	found := false
	for _, i := range s.Index {
		lint.Each(i, func(b *pyast.BinOp) { found = found || b.Op == "%" })
	}
	return found
}

// pads reports whether a collate function pads to the largest image of its
// batch: it takes a maximum of shapes and makes or pads a tensor by it.
func pads(p *lint.Pass, n pyast.Node) bool {
	c, ok := n.(*pyast.Call)
	if !ok {
		return false
	}
	q := p.Callee(c)
	name, _ := p.Method(c)
	if q == "torch.nn.utils.rnn.pad_sequence" {
		return convolves(p)
	}
	if q != "torch.nn.functional.pad" && q != "torch.zeros" && name != "new_zeros" && q != "torch.full" && name != "new_full" {
		return false
	}
	largest := false
	p.FuncOf(n).OwnStmts(func(m pyast.Node) {
		if f, ok := m.(*pyast.Call); ok && pyast.Path(f.Func) == "max" {
			lint.Each(f, func(a *pyast.Attribute) { largest = largest || a.Attr == "shape" || a.Attr == "size" })
		}
	})
	return largest
}

// convolves reports whether the file builds convolutions, which cuDNN tries its
// algorithms for.
func convolves(p *lint.Pass) bool {
	found := false
	p.CallsOf(func(*pyast.Call) { found = true }, "torch.nn.Conv1d", "torch.nn.Conv2d", "torch.nn.Conv3d", "torch.nn.ConvTranspose1d", "torch.nn.ConvTranspose2d")
	return found
}
