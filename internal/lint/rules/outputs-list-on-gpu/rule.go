// Package outputslistongpu finds lists of a model's outputs that stay on the
// GPU for a whole pass over the data.
package outputslistongpu

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

// Rule is GPU003.
var Rule = &lint.Rule{
	Code:     "GPU003",
	Name:     "outputs-list-on-gpu",
	Severity: lint.Warning,
	Title:    "The outputs of every batch are collected on the GPU",
	Why:      "a list of tensors keeps each of them where it is, so the outputs of the whole data set pile up on the GPU, and joining them needs as much again",
	Cost:     "elements of one sample's output x samples x bytes: 1,000 classes and 50,000 images in fp32 are 190 MiB, dense outputs gigabytes (derived)",
	Of:       lint.Logits,
	Misses: "outputs that go into objects of other classes; losses and other numbers of one element a batch are left alone, " +
		"and loops over time steps or tokens",
	Fix: lint.UnsafeFix,
	References: []string{"Lightning-AI/pytorch-lightning#8453", "microsoft/hi-ml#293",
		"https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments.eval_accumulation_steps"},
	Bad:  bad,
	Good: good,
	Run:  run,
}

func run(p *lint.Pass) {
	p.Appends(func(at pyast.Node, path string, value pyast.Expr) { check(p, at, path, value) })
	lint.Each(p.Module, func(s *pyast.Assign) { joins(p, s) })
	lint.Each(p.Module, func(c *pyast.Comp) { comprehension(p, c) })
	for _, class := range p.Classes {
		if p.IsClass(class, "lightning.pytorch.LightningModule") {
			returns(p, class)
		}
	}
}

const advice = " stays on the GPU for every batch"

func check(p *lint.Pass, at pyast.Node, path string, value pyast.Expr) {
	fn := p.FuncOf(at)
	l := around(p, at)
	if l == nil && stepHook(p, fn) {
		if !onGPU(p, value) {
			return
		}
	} else if !large(p, value) {
		return
	}
	if p.InTest(at) {
		return
	}
	if l == nil {
		if !p.Uses("torch") && !p.Uses("lightning") && !p.Uses("pytorch_lightning") || !stepHook(p, fn) || !strings.HasPrefix(path, "self.") {
			return
		}
	} else if !batches(l) || !p.OutlivesRound(l, path) || emptied(l, path) || bounded(p, l) {
		return
	}
	p.Report(at, p.Text(value)+advice, fix(value)...)
}

// around is the loop over batches that n is in, beyond loops over the parts of
// one; else the innermost.
func around(p *lint.Pass, n pyast.Node) *lint.Loop {
	for l := p.LoopOf(n); l != nil; l = l.Outer {
		if batches(l) {
			return l
		}
	}
	return p.LoopOf(n)
}

// batches reports whether a loop evaluates batch by batch: over a loader, or in
// strides over the data. Time steps and tokens are no batches.
func batches(l *lint.Loop) bool {
	if l.EvalLoop() && l.Over.Kind == lint.Loader {
		return true
	}
	if !l.EvalLoop() || l.Func.Backward {
		return false
	}
	stride := false
	if l.Iter != nil {
		lint.Each(l.Iter, func(c *pyast.Call) {
			stride = stride || pyast.Path(c.Func) == "range" && len(c.Args) == 3
		})
	}
	return stride
}

// stepHook reports whether a function is what Lightning calls for each batch
// without gradients.
func stepHook(p *lint.Pass, fn *lint.Func) bool {
	if fn.Class == nil || !p.IsClass(fn.Class, "lightning.pytorch.LightningModule") {
		return false
	}
	return fn.Name == "validation_step" || fn.Name == "test_step"
}

// large reports whether an expression is a tensor on the GPU, without a graph,
// that is more than a number or two a batch.
func large(p *lint.Pass, e pyast.Expr) bool {
	switch e := e.(type) {
	case *pyast.List:
		for _, x := range e.Elts {
			if large(p, x) {
				return true
			}
		}
		return false
	case *pyast.Dict:
		for _, x := range e.Values {
			if large(p, x) {
				return true
			}
		}
		return false
	case *pyast.Starred:
		return large(p, e.Value)
	}
	v := p.Value(e)
	return v.Kind == lint.Tensor && v.Grad == lint.No && !v.Loss && !v.Batch && (v.Place == lint.GPU || v.Place == lint.Anywhere && moved(p, e, 0)) && !small(p, e, 0)
}

// moved reports whether an expression comes from a model whose inputs are put on
// the GPU in the call.
func moved(p *lint.Pass, e pyast.Expr, depth int) bool {
	for { // out.logits, out["logits"]
		if a, ok := e.(*pyast.Attribute); ok {
			e = a.Value
		} else if s, ok := e.(*pyast.Subscript); ok {
			e = s.Value
		} else {
			break
		}
	}
	if n, ok := e.(*pyast.Name); ok && depth < 4 {
		if from := origin(p, n); from != nil {
			return moved(p, from, depth+1)
		}
		return false
	}
	found := false
	lint.Each(e, func(c *pyast.Call) {
		if fn := p.Resolve(c.Func); !p.IsForward(c) && (fn == nil || !fn.Forward) {
			return
		}
		for _, a := range c.Args {
			found = found || puts(p, a)
		}
		for _, k := range c.Keywords { // **{k: v.to(device) for k, v in batch.items()}
			found = found || puts(p, k.Value)
		}
	})
	return found
}

// puts reports whether an argument is put on the GPU where it is given, by
// itself or one by one in a comprehension.
func puts(p *lint.Pass, e pyast.Expr) bool {
	if c, ok := e.(*pyast.Comp); ok {
		return puts(p, c.Elt)
	}
	c, ok := e.(*pyast.Call)
	if !ok {
		return false
	}
	name, on := p.Method(c)
	return on != nil && (name == "cuda" || name == "to" && len(c.Args) > 0 && p.Value(c.Args[0]).Place == lint.GPU)
}

// reductions leave one number, or one for each sample.
var reductions = map[string]bool{"sum": true, "mean": true, "argmax": true, "argmin": true, "norm": true, "max": true, "min": true, "eq": true,
	"any": true, "all": true, "std": true, "var": true, "prod": true, "numel": true, "count_nonzero": true, "accuracy": true, "median": true, "bincount": true, "histc": true}

// small reports whether an expression reduces what it is computed from, or is a
// slice of it.
func small(p *lint.Pass, e pyast.Expr, depth int) bool {
	if depth > 4 {
		return false
	}
	switch e := e.(type) {
	case *pyast.Call:
		name := pyast.Path(e.Func)
		if a, ok := e.Func.(*pyast.Attribute); ok {
			name = a.Attr
			if small(p, a.Value, depth+1) {
				return true
			}
		}
		name = name[strings.LastIndexByte(name, '.')+1:]
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, "gather") && len(e.Args) > 0 { // of Accelerate
			return small(p, e.Args[0], depth+1)
		}
		if reductions[name] || strings.Contains(lower, "loss") || strings.Contains(lower, "metric") || strings.Contains(lower, "accuracy") || strings.Contains(lower, "score") {
			return true
		}
	case *pyast.Compare:
		return true
	case *pyast.BinOp:
		return small(p, e.Left, depth+1) || small(p, e.Right, depth+1)
	case *pyast.Subscript:
		return indexed(e) || small(p, e.Value, depth+1)
	case *pyast.Name:
		if from := origin(p, e); from != nil {
			return small(p, from, depth+1)
		}
	}
	return false
}

// indexed reports whether a subscript takes a part that is small: one element,
// or a slice to a fixed end.
func indexed(s *pyast.Subscript) bool {
	for _, i := range s.Index {
		if k, ok := i.(*pyast.Constant); ok && k.Kind == pyast.Int {
			return true
		}
		if sl, ok := i.(*pyast.Slice); ok {
			for _, part := range sl.Parts {
				if k, ok := part.(*pyast.Constant); ok && k.Kind == pyast.Int {
					return true
				}
			}
		}
	}
	return false
}

// origin is the expression that a name got last, or nil.
func origin(p *lint.Pass, e *pyast.Name) pyast.Expr {
	store := p.FuncOf(e).StoreBefore(e.Ident, e)
	if store == nil {
		return nil
	}
	a, ok := store.Parent().(*pyast.Assign)
	if !ok || a.Value == nil {
		return nil
	}
	return a.Value
}

// emptied reports whether the loop itself starts the list anew at times.
func emptied(l *lint.Loop, path string) bool {
	for _, r := range l.Func.Refs[path] {
		if !lint.Inside(r.Node, l.Node) {
			continue
		}
		a, assigned := pyast.StmtOf(r.Node).(*pyast.Assign)
		if r.Del || r.Store && assigned && !lint.Reads(a.Value, path) {
			return true
		}
		if m, ok := r.Node.Parent().(*pyast.Attribute); ok && (m.Attr == "clear" || m.Attr == "pop" || m.Attr == "popleft") {
			return true
		}
	}
	return false
}

// bounded reports whether the loop ends after some batches.
func bounded(p *lint.Pass, l *lint.Loop) bool {
	found := false
	lint.EachIn(l.Body, func(i *pyast.If) {
		for _, s := range i.Body {
			if b, ok := s.(*pyast.Simple); ok && b.Word == "break" && p.LoopOf(b) == l {
				found = true
			}
		}
	})
	return found
}

// joins finds all = torch.cat([all, outputs]).
func joins(p *lint.Pass, s *pyast.Assign) {
	value := s.Value
	if i, ok := value.(*pyast.IfExp); ok { // y if out is None else torch.cat([out, y])
		value = i.Else
		if _, call := value.(*pyast.Call); !call {
			value = i.Body
		}
	}
	c, ok := value.(*pyast.Call)
	if !ok || len(s.Targets) != 1 || len(c.Args) == 0 {
		return
	}
	switch p.Callee(c) {
	case "torch.cat", "torch.concat", "torch.vstack", "torch.hstack":
	default:
		return
	}
	path := pyast.Path(s.Targets[0])
	l := p.LoopOf(s)
	parts, ok := c.Args[0].(*pyast.List)
	if !ok || path == "" || l == nil || !batches(l) || !p.OutlivesRound(l, path) || p.InTest(s) || bounded(p, l) {
		return
	}
	grows := false
	var added pyast.Expr
	for _, e := range parts.Elts {
		if pyast.Path(e) == path {
			grows = true
		} else if large(p, e) {
			added = e
		}
	}
	if grows && added != nil {
		p.Report(s, p.Text(added)+advice, fix(added)...)
	}
}

// comprehension finds [model(x) for x in loader].
func comprehension(p *lint.Pass, c *pyast.Comp) {
	if c.Key != nil || c.Kind == "generator" && !listed(c) || len(c.Clauses) != 1 || !p.GradOff(c) || p.InTest(c) {
		return
	}
	if p.Value(c.Clauses[0].Iter).Kind != lint.Loader || !large(p, c.Elt) {
		return
	}
	p.Report(c, p.Text(c.Elt)+advice, fix(c.Elt)...)
}

// listed reports whether a generator is the argument of list or tuple.
func listed(c *pyast.Comp) bool {
	call, ok := c.Parent().(*pyast.Call)
	return ok && (pyast.Path(call.Func) == "list" || pyast.Path(call.Func) == "tuple")
}

// returns finds outputs that Lightning collects, because there is a hook that
// gets them all.
func returns(p *lint.Pass, class *lint.Class) {
	for _, stage := range []string{"validation", "test"} {
		step, end := class.Methods[stage+"_step"], class.Methods[stage+"_epoch_end"]
		if step == nil || end == nil || len(end.Node.Params) < 2 {
			continue
		}
		step.OwnStmts(func(n pyast.Node) {
			if r, ok := n.(*pyast.Return); ok && r.Value != nil && onGPU(p, r.Value) {
				p.Report(r, fmt.Sprintf("Lightning keeps what %s_step returns until %s_epoch_end, on the GPU", stage, stage))
			}
		})
	}
}

// onGPU is large for hooks: Lightning puts model and batch on the GPU.
func onGPU(p *lint.Pass, e pyast.Expr) bool {
	switch e := e.(type) {
	case *pyast.Dict:
		for _, x := range e.Values {
			if onGPU(p, x) {
				return true
			}
		}
		return false
	case *pyast.List:
		for _, x := range e.Elts {
			if onGPU(p, x) {
				return true
			}
		}
		return false
	}
	v := p.Value(e)
	return v.Kind == lint.Tensor && !v.Loss && !v.Batch && v.Place != lint.CPU && !small(p, e, 0)
}

// fix moves what is one tensor to the CPU.
func fix(e pyast.Expr) []lint.Option {
	switch e.(type) {
	case *pyast.Name, *pyast.Attribute, *pyast.Call, *pyast.Subscript:
		return []lint.Option{lint.Unsafely("move it to the CPU", lint.After(e, ".cpu()"))}
	}
	return nil
}
