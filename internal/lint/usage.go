package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// EachStep reports whether n runs each training step (see StepOf).
func (f *File) EachStep(n pyast.Node) bool {
	_, hot := f.StepOf(n)
	return hot
}

// EachBatch reports whether n runs each training step or for each batch of an
// evaluation.
func (f *File) EachBatch(n pyast.Node) bool {
	if f.EachStep(n) {
		return true
	}
	for l := f.LoopOf(n); l != nil; l = l.Outer {
		if l.EvalLoop() && l.Over.Kind == Loader {
			return Always(f.Guards(n, l.Node))
		}
	}
	return false
}

// usesGPU reports whether something in a function is known to be on the GPU, or
// a framework puts it there.
func (f *File) usesGPU(fn *Func) bool {
	for _, pkg := range []string{"lightning", "pytorch_lightning", "accelerate"} {
		if f.Uses(pkg) {
			return true
		}
	}
	if fn.Class != nil && f.IsClass(fn.Class, "transformers.Trainer") {
		return true
	}
	found := false
	fn.OwnStmts(func(n pyast.Node) {
		if e, ok := n.(pyast.Expr); ok && !found {
			v := f.Value(e)
			found = v.Place == GPU && (v.Kind == Tensor || v.Kind == Module) || v.Kind == Accelerator || f.MovesToGPU(e)
		}
	})
	return found
}

// MovesToGPU reports whether e is x.cuda() or x.to(device), whatever x is.
func (f *File) MovesToGPU(e pyast.Expr) bool {
	c, ok := e.(*pyast.Call)
	if !ok {
		return false
	}
	name, on := f.Method(c)
	return on != nil && (name == "cuda" || name == "to" && f.Value(c.Arg(0, "device")).Place == GPU)
}

// OnDevice reports whether e is a tensor on the GPU: as far as is known, or, for
// what a training step computes with its graph, because its function or
// framework uses one.
func (f *File) OnDevice(e pyast.Expr) bool {
	v := f.Value(e)
	if v.Kind != Tensor || v.Place == CPU {
		return false
	}
	made, _ := v.Origin.(*pyast.Call)
	norm := made != nil && f.Callee(made) == "torch.nn.utils.clip_grad_norm_"
	return v.Place == GPU || (v.Loss || v.Grad == Yes || norm) && f.usesGPU(f.FuncOf(e))
}

// CalleeFacts are what the project knows of the function or method that a call
// calls, in whichever file it is; nil if it is not of the project.
func (f *File) CalleeFacts(c *pyast.Call) *Facts {
	q := f.Callee(c)
	if a, ok := c.Func.(*pyast.Attribute); ok && !strings.HasPrefix(q, ".") {
		class := f.Value(a.Value).Class
		if fn := f.FuncOf(c); class == "" && pyast.Path(a.Value) == "self" && fn.Class != nil {
			class = fn.Class.Qual
		}
		if strings.HasPrefix(class, ".") {
			q = f.project.method(class, a.Attr, 0)
		}
	}
	if !strings.HasPrefix(q, ".") {
		return nil
	}
	return f.project.funcs[f.project.callee(q)]
}

// ReadsData reports whether a function goes over a loader, or holds a loop that
// does and runs a model in it without training it: an evaluation.
func (fn *Facts) ReadsData() bool {
	for _, l := range fn.loops {
		if l.EvalLoop() {
			return true
		}
	}
	return fn.sweeps
}

// IsDataset reports whether a class of this file gives samples to loaders: by
// its base, or because a loader of the file is given one.
func (f *File) IsDataset(c *Class) bool {
	for _, base := range []string{"torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "torchvision.datasets.VisionDataset"} {
		if f.IsClass(c, base) {
			return true
		}
	}
	for _, base := range c.Bases {
		if strings.HasPrefix(base, "torchvision.datasets.") {
			return true
		}
	}
	return c.Methods["__getitem__"] != nil && len(f.LoadersOf(c)) > 0
}

// LoadersOf are the DataLoaders of this file that load from a class, itself or
// behind random_split, Subset and the like.
func (f *File) LoadersOf(class *Class) []*pyast.Call {
	var out []*pyast.Call
	f.CallsOf(func(c *pyast.Call) {
		if e := c.Arg(0, "dataset"); e != nil && f.DatasetClass(e) == class.Qual {
			out = append(out, c)
		}
	}, "torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader")
	return out
}

// LoaderCall is the DataLoader(...) that a loop goes over, behind enumerate and
// tqdm: made in its function, at top level, or in a method of its class as the
// only value of an attribute; or nil.
func (f *File) LoaderCall(l *Loop) *pyast.Call {
	const class = "torch.utils.data.DataLoader"
	e := l.Iter
	for range 4 {
		c, ok := e.(*pyast.Call)
		if !ok || len(c.Args) == 0 || f.Callee(c) == class {
			break
		}
		e = c.Args[0]
	}
	c := f.Maker(e)
	if c == nil {
		c = f.attrMaker(l.Func.Class, pyast.Path(e))
	}
	if c != nil && f.Callee(c) == class {
		return c
	}
	return nil
}

// attrMaker is the call that gave an attribute of self its only value, or nil.
func (f *File) attrMaker(class *Class, path string) *pyast.Call {
	if class == nil || !strings.HasPrefix(path, "self.") {
		return nil
	}
	var refs []Ref
	for _, fn := range class.Methods {
		refs = append(refs, fn.Refs[path]...)
	}
	a := onlyAssignment(refs)
	if a == nil {
		return nil
	}
	call, _ := a.Value.(*pyast.Call)
	return call
}

// DatasetClass is the qualified name of the class behind a dataset, through
// Subset, ConcatDataset and random_split; "" if it is not known.
func (f *File) DatasetClass(e pyast.Expr) string { return f.datasetClass(e, 0) }

var datasetWrappers = []string{"torch.utils.data.Subset", "torch.utils.data.random_split", "torch.utils.data.ConcatDataset"}

func (f *File) datasetClass(e pyast.Expr, depth int) string {
	if l, ok := e.(*pyast.List); ok && len(l.Elts) > 0 {
		e = l.Elts[0]
	}
	v := f.Value(e)
	c, _ := v.Origin.(*pyast.Call)
	if c == nil || !within(f.Callee(c), datasetWrappers) {
		if v.Class != "" && !within(v.Class, datasetWrappers) {
			return v.Class
		}
		c = f.splitOf(e)
	}
	if c == nil || depth > 4 || c.Arg(0, "dataset") == nil {
		return ""
	}
	return f.datasetClass(c.Arg(0, "dataset"), depth+1)
}

// splitOf is the random_split that gave the name that e is.
func (f *File) splitOf(e pyast.Expr) *pyast.Call {
	path := pyast.Path(e)
	if path == "" {
		return nil
	}
	for _, fn := range []*Func{f.FuncOf(e), f.Top} {
		for _, r := range fn.Refs[path] {
			a, ok := pyast.StmtOf(r.Node).(*pyast.Assign)
			if !ok || !r.Store {
				continue
			}
			if c, ok := a.Value.(*pyast.Call); ok && within(f.Callee(c), datasetWrappers) {
				return c
			}
		}
	}
	return nil
}

// Workers reports whether a loader surely has worker processes: it is given a
// number that is not the constant 0.
func (f *File) Workers(loader *pyast.Call) bool {
	options, _ := f.Options(loader)
	e := loader.Arg(5, "num_workers")
	if e == nil {
		e = options["num_workers"]
	}
	if e == nil {
		return false
	}
	k := f.Const(e)
	return k == nil || k.Text != "0"
}

// WorkerFuncs are the functions of a dataset that loaders run for each sample:
// __getitem__, __iter__ and what they call on self.
func (c *Class) WorkerFuncs() []*Func {
	var out []*Func
	seen := map[*Func]bool{}
	var add func(fn *Func)
	add = func(fn *Func) {
		if fn == nil || seen[fn] {
			return
		}
		seen[fn] = true
		out = append(out, fn)
		fn.OwnStmts(func(n pyast.Node) {
			if call, ok := n.(*pyast.Call); ok {
				if a, ok := call.Func.(*pyast.Attribute); ok && pyast.Path(a.Value) == "self" {
					add(c.Methods[a.Attr])
				}
			}
		})
	}
	for _, name := range []string{"__getitem__", "__getitems__", "__iter__", "__next__"} {
		add(c.Methods[name])
	}
	return out
}

// classify says when a condition holds (negated: when it does not), also where
// a name stands for it: "log_now = step % 50 == 0", "if log_now:".
func (f *File) classify(test pyast.Expr, negated bool) GuardKind {
	switch t := test.(type) {
	case *pyast.Unary:
		if t.Op == "not" {
			return f.classify(t.Operand, !negated)
		}
	case *pyast.BoolOp:
		a, b := f.classify(t.Left, negated), f.classify(t.Right, negated)
		if (t.Op == "and") != negated {
			return max(a, b) // both must hold: the rarer one decides
		}
		return min(a, b)
	case *pyast.Name:
		if a := f.Assigned(t); a != nil {
			switch a.Value.(type) {
			case *pyast.Compare, *pyast.BoolOp, *pyast.Unary, *pyast.BinOp:
				return f.classify(a.Value, negated)
			}
		}
		for _, w := range []string{"last_", "is_last", "first_", "is_first", "should_", "final_"} {
			if strings.HasPrefix(t.Ident, w) && !negated {
				return First
			}
		}
	}
	if kind, ok := periodic(test, negated); ok {
		return kind
	}
	return classifyWords(test, negated)
}

// measuring are parts of names of functions, and of files, that measure.
var measuring = []string{"profil", "calibrat", "measure", "timing", "bench_", "benchmark_"}

// Measures reports whether n is in a test or in code that measures, by the
// names of the file and of the functions around it.
func (f *File) Measures(n pyast.Node) bool {
	names := strings.ToLower(f.Path[strings.LastIndexByte(f.Path, '/')+1:])
	if strings.HasPrefix(names, "train") {
		names = "" // train_memory.py trains
	}
	for fn := f.FuncOf(n); fn != nil; fn = fn.Outer {
		names += " " + strings.ToLower(fn.Name)
	}
	for _, w := range measuring {
		if strings.Contains(names, w) {
			return true
		}
	}
	return f.InTest(n)
}

// needed is the parameter that conditions ask not to be None, or "".
func (fn *Func) needed(guards []Guard) string {
	for _, g := range guards {
		c, ok := g.Node.(*pyast.Compare)
		if !ok || len(c.Ops) != 1 || c.Ops[0] != "is not" || !IsNone(c.Operands[1]) {
			continue
		}
		if name := pyast.Path(c.Operands[0]); fn.isParam(name) {
			return name
		}
	}
	return ""
}
