package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// Forwards visits the calls that run a model: model(x), model.forward(x).
func (f *File) Forwards(visit func(c *pyast.Call)) {
	f.Calls(func(c *pyast.Call) {
		if f.IsForward(c) {
			visit(c)
		}
	})
}

// IsForward reports whether a call runs a model.
func (f *File) IsForward(c *pyast.Call) bool {
	if f.Value(c.Func).Kind == Module {
		return true
	}
	name, on := f.Method(c)
	return name == "forward" && f.Value(on).Kind == Module
}

// Backwards visits the calls that compute gradients: loss.backward(),
// scaler.scale(loss).backward(), accelerator.backward(loss).
func (f *File) Backwards(visit func(c *pyast.Call)) {
	f.MethodCalls(func(c *pyast.Call, _ pyast.Expr) { visit(c) }, "backward", "manual_backward")
}

// Appends visits what puts a value into a container: xs.append(v), xs.add(v),
// xs[k] = v, xs += [v]. path is the container's.
func (f *File) Appends(visit func(at pyast.Node, path string, value pyast.Expr)) {
	pyast.Walk(f.Module, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.Call:
			a, ok := n.Func.(*pyast.Attribute)
			if ok && !f.ofProject(a.Value) && (a.Attr == "append" || a.Attr == "appendleft" || a.Attr == "add" || a.Attr == "extend") && len(n.Args) == 1 {
				if p := Base(a.Value); p != "" && f.Qual(a) == "" {
					visit(n, p, n.Args[0])
				}
			}
		case *pyast.Assign:
			for _, t := range n.Targets {
				if s, ok := t.(*pyast.Subscript); ok && n.Value != nil && Base(s) != "" && f.Value(s.Value).Kind != Tensor && !fixed(s) {
					visit(n, Base(s), n.Value)
				}
			}
		case *pyast.AugAssign:
			if l, ok := n.Value.(*pyast.List); ok && n.Op == "+" && Base(n.Target) != "" {
				for _, e := range l.Elts {
					visit(n, Base(n.Target), e)
				}
			}
		}
		return true
	})
}

// fixed reports whether an item is always the same one, xs["loss"]: what is put
// there replaces what was.
func fixed(s *pyast.Subscript) bool {
	for _, i := range s.Index {
		if _, ok := i.(*pyast.Constant); !ok {
			return false
		}
	}
	return true
}

// ofProject reports whether an expression is an object of a class of the project
// that is no list or dict: its append() or add() does what its author wrote.
func (f *File) ofProject(e pyast.Expr) bool {
	v := f.Value(e)
	return v.Kind != ListKind && strings.HasPrefix(v.Class, ".")
}

// EnvSets visits where the environment of the process is set: os.environ[k] = v,
// os.environ.setdefault(k, v), os.putenv(k, v).
func (f *File) EnvSets(visit func(at pyast.Node, name string, value pyast.Expr)) {
	pyast.Walk(f.Module, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.Assign:
			for _, t := range n.Targets {
				if s, ok := t.(*pyast.Subscript); ok && len(s.Index) == 1 && f.Qual(s.Value) == "os.environ" && n.Value != nil {
					visit(n, ConstText(s.Index[0]), n.Value)
				}
			}
		case *pyast.Call:
			if q := f.Qual(n.Func); (q == "os.environ.setdefault" || q == "os.putenv") && len(n.Args) == 2 {
				visit(n, ConstText(n.Args[0]), n.Args[1])
			}
		}
		return true
	})
}

// lazy are names below torch.cuda that do not open a CUDA context.
var lazy = words("is_available device_count is_initialized set_device manual_seed manual_seed_all amp is_bf16_supported Stream Event memory CUDAGraph")

// InitsCUDA reports whether a call opens a CUDA context on the current GPU:
// x.cuda(), x.to("cuda"), torch.zeros(..., device="cuda"), models with a
// device_map, most of torch.cuda, and collectives of torch.distributed.
func (f *File) InitsCUDA(c *pyast.Call) bool {
	q := f.Callee(c)
	if rest, ok := strings.CutPrefix(q, "torch.cuda."); ok {
		first, _ := cut(rest)
		return !lazy[first]
	}
	switch q {
	case "torch.distributed.barrier", "torch.distributed.all_reduce", "torch.distributed.broadcast", "torch.distributed.all_gather", "torch.distributed.all_gather_object", "torch.distributed.broadcast_object_list":
		return true
	}
	switch name, _ := f.Method(c); name {
	case "cuda":
		return true
	case "to":
		return f.Value(c).Place == GPU
	}
	if last(pyast.Path(c.Func)) == "from_pretrained" { // Transformers and Accelerate place the weights
		where := ConstText(c.Keyword("device_map"))
		return placeOf(where) == GPU || where == "auto" || strings.HasPrefix(where, "balanced")
	}
	return strings.HasPrefix(q, "torch.") && f.Value(c).Kind == Tensor && f.Value(c).Place == GPU && c.Keyword("device") != nil
}

// Contexts are the context managers of the with statements around n, innermost
// first; their Class is "no_grad", "autocast", "no_sync" and so on.
func (f *File) Contexts(n pyast.Node) []Value {
	var out []Value
	for child, p := n, n.Parent(); p != nil; child, p = p, p.Parent() {
		switch w := p.(type) {
		case *pyast.With:
			if inBody(w.Body, child) {
				for _, i := range w.Items {
					out = append(out, f.Value(i))
				}
			}
		case *pyast.FuncDef, *pyast.ClassDef, *pyast.Lambda:
			return out
		}
	}
	return out
}

// Maker is the call that made an expression's value, in this function or at top
// level (a constructor, torch.load, ...), or nil.
func (f *File) Maker(e pyast.Expr) *pyast.Call {
	c, _ := f.Value(e).Origin.(*pyast.Call)
	return c
}

// Resolve is the function of this file that an expression names, or nil.
func (f *File) Resolve(e pyast.Expr) *Func {
	q := ""
	if v := f.Value(e); v.Kind == FuncKind {
		q = v.Class
	}
	if a, ok := e.(*pyast.Attribute); ok && q == "" {
		if v := f.Value(a.Value); strings.HasPrefix(v.Class, ".") {
			q = f.project.method(v.Class, a.Attr, 0)
		}
	}
	for _, fn := range f.Funcs {
		if q != "" && fn.Qual == q {
			return fn
		}
	}
	return nil
}

// Const is the constant that an expression is, or that the name it is was
// assigned once, in the function or at top level; or nil.
func (f *File) Const(e pyast.Expr) *pyast.Constant {
	if k, ok := e.(*pyast.Constant); ok {
		return k
	}
	a := f.Assigned(e)
	if a == nil {
		return nil
	}
	k, _ := a.Value.(*pyast.Constant)
	return k
}

// Assigned is the only assignment to the name that e is, in its function or at
// top level, or nil.
func (f *File) Assigned(e pyast.Expr) *pyast.Assign {
	path := pyast.Path(e)
	if path == "" {
		return nil
	}
	fn := f.FuncOf(e)
	if fn.isParam(path) {
		return nil
	}
	if !fn.Locals[path] && !strings.Contains(path, ".") {
		fn = f.Top
	}
	return onlyAssignment(fn.Refs[path])
}

// onlyAssignment is the one that gives a path its value, nil where there are several
// or it gets one in another way, too.
func onlyAssignment(refs []Ref) *pyast.Assign {
	var found *pyast.Assign
	for _, r := range refs {
		if !r.Store {
			continue
		}
		a, ok := r.Node.Parent().(*pyast.Assign)
		if !ok || found != nil {
			return nil
		}
		found = a
	}
	return found
}

// Reads reports whether a path stands in an expression.
func Reads(e pyast.Expr, path string) bool {
	found := false
	pyast.Walk(e, func(n pyast.Node) bool {
		x, ok := n.(pyast.Expr)
		found = found || ok && pyast.Path(x) == path
		return !found
	})
	return found
}

// Options are a call's keyword arguments, those of **name included where name
// is a dict that the function builds from literals. all is false if there may
// be others.
func (f *File) Options(c *pyast.Call) (known map[string]pyast.Expr, all bool) {
	known, all = map[string]pyast.Expr{}, true
	if a := f.Assigned(c.Func); a != nil { // make = partial(DataLoader, num_workers=4)
		if made, ok := a.Value.(*pyast.Call); ok && f.Callee(made) == "functools.partial" {
			known, all = f.Options(made)
		}
	}
	for _, k := range c.Keywords {
		if k.Name != "" {
			known[k.Name] = k.Value
			continue
		}
		if !f.spread(k.Value, known, 0) {
			all = false
		}
	}
	for _, a := range c.Args {
		if _, star := a.(*pyast.Starred); star {
			all = false
		}
	}
	return known, all
}

// spread adds the items of a dict to known; false if it is not all there is.
func (f *File) spread(e pyast.Expr, known map[string]pyast.Expr, depth int) bool {
	if depth > 4 {
		return false
	}
	switch d := e.(type) {
	case *pyast.Dict:
		all := true
		for i, v := range d.Values {
			if d.Keys[i] == nil {
				all = f.spread(v, known, depth+1) && all
			} else if k := ConstText(d.Keys[i]); k != "" {
				known[k] = v
			} else {
				all = false
			}
		}
		return all
	case *pyast.Call:
		if pyast.Path(d.Func) != "dict" || len(d.Args) > 0 {
			return false
		}
		for _, k := range d.Keywords {
			if k.Name == "" {
				return false
			}
			known[k.Name] = k.Value
		}
		return true
	}
	return f.spreadName(e, known, depth)
}

// spreadName follows a name of a dict: its assignments, items and updates.
func (f *File) spreadName(e pyast.Expr, known map[string]pyast.Expr, depth int) bool {
	path := pyast.Path(e)
	fn := f.FuncOf(e)
	if path == "" || fn.isParam(path) {
		return false
	}
	if len(fn.Refs[path]) == 0 || !fn.Locals[path] {
		fn = f.Top
	}
	all, found := true, false
	for _, r := range fn.Refs[path] {
		if a, ok := r.Node.Parent().(*pyast.Assign); ok && r.Store && a.Value != nil {
			found = true
			all = f.spread(a.Value, known, depth+1) && all
			continue
		}
		all = f.spreadUse(r, known, depth) && all
	}
	return all && found
}

// spreadUse takes in d["k"] = v and d.update(...).
func (f *File) spreadUse(r Ref, known map[string]pyast.Expr, depth int) bool {
	all := true
	switch parent := r.Node.Parent().(type) {
	case *pyast.Subscript:
		if a, ok := parent.Parent().(*pyast.Assign); ok && parent.Store && len(parent.Index) == 1 {
			if k := ConstText(parent.Index[0]); k != "" {
				known[k] = a.Value
			} else {
				all = false
			}
		}
	case *pyast.Attribute:
		if u, ok := parent.Parent().(*pyast.Call); ok && parent.Attr == "update" {
			for _, k := range u.Keywords {
				known[k.Name] = k.Value
			}
			for _, a := range u.Args {
				all = f.spread(a, known, depth+1) && all
			}
		}
	}
	return all
}

// Before reports whether a stands before b in the source.
func Before(a, b pyast.Node) bool { return a.Span().End <= b.Span().Start }
