package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// A mode is the context in which a node runs.
type mode struct {
	grad     Tri // Yes: gradients on; No: off; Maybe: a setting decides
	autocast bool
}

// An evaluator runs a function abstractly, in the order of its statements.
// Branches are joined, loops run twice so that what one round leaves for the
// next is seen.
type evaluator struct {
	f     *File
	p     *Project
	fn    *Func
	env   map[string]Value
	log   []change // how to undo assignments since a mark
	outer *evaluator
	mode  mode
	loops []*Loop
	later []*pyast.FuncDef
	rets  Value
	ret   bool
	dead  bool // the rest of the block is not reached
}

type change struct {
	path string
	old  Value
	had  bool
}

// evaluate fills in the values and modes of the file, and its facts.
func (f *File) evaluate() {
	f.values = make([]Value, f.Module.Nodes)
	f.modes = make([]mode, f.Module.Nodes)
	for _, fn := range f.Funcs {
		fn.calls = nil
	}
	f.Top.calls = nil
	top := f.newEvaluator(f.Top, nil)
	top.run(f.Module.Body)
	f.Top.globals(top)
	f.calls = nil // what was asked meanwhile was not whole
}

func (f *File) newEvaluator(fn *Func, outer *evaluator) *evaluator {
	ev := &evaluator{f: f, p: f.project, fn: fn, env: map[string]Value{}, outer: outer, mode: mode{grad: Yes}}
	if fn.Node != nil {
		ev.enter(fn)
	}
	return ev
}

// run runs a function's body, then the functions defined in it.
func (ev *evaluator) run(body []pyast.Stmt) {
	ev.block(body)
	for len(ev.later) > 0 {
		d := ev.later[0]
		ev.later = ev.later[1:]
		inner := ev.f.newEvaluator(ev.f.funcs[d], ev)
		inner.run(d.Body)
		if fn := inner.fn; inner.ret {
			fn.returns = forget(inner.rets, 0)
		}
	}
}

// enter binds parameters and finds out in which context the function runs.
func (ev *evaluator) enter(fn *Func) {
	fn.params = fn.params[:0]
	for i, p := range fn.Node.Params {
		fn.params = append(fn.params, p.Name)
		v := fn.hint(p.Name)
		if a, ok := fn.args[p.Name]; ok {
			v = join(a, v)
		}
		if t := ev.f.Qual(annotated(p.Annotation)); t != "" {
			if k := ev.instance(t, nil); k.Kind != Unknown {
				v = k
			}
		}
		if i == 0 && fn.Class != nil && (p.Name == "self" || p.Name == "cls") {
			v = Value{Class: fn.Class.Qual}
			if ev.isModule(fn.Class.Qual) {
				v.Kind = Module
			}
		}
		if p.Star != "" {
			v = Value{Kind: ListKind}
		}
		ev.env[p.Name] = v
	}
	for _, d := range fn.Node.Decorators {
		v := ev.contextOf(d)
		switch v.Class {
		case "no_grad":
			ev.mode.grad = No
			fn.GradOff = true
		case "autocast":
			ev.mode.autocast = true
		}
	}
	ev.hooks(fn)
	if fn.GradOff {
		ev.mode.grad = No
	}
}

// contextOf is the context a decorator makes; "no_grad" is known by name, too,
// for projects that wrap it.
func (ev *evaluator) contextOf(d pyast.Expr) Value {
	c, ok := d.(*pyast.Call)
	callee := d
	if ok {
		callee = c.Func
	}
	q := ev.f.Qual(callee)
	if q == "" {
		q = pyast.Path(callee)
	}
	if v, ok := contextFor(q, c, ev); ok {
		return v
	}
	last := strings.ToLower(q[strings.LastIndexByte(q, '.')+1:])
	if strings.Contains(last, "no_grad") || strings.Contains(last, "inference_mode") {
		return Value{Kind: Context, Class: "no_grad"}
	}
	return Value{}
}

// annotated is the type that an annotation names, of Optional[T] and T | None
// as well.
func annotated(e pyast.Expr) pyast.Expr {
	switch e := e.(type) {
	case *pyast.Subscript:
		if len(e.Index) == 1 && pyast.Path(e.Value) != "" && strings.HasSuffix(pyast.Path(e.Value), "Optional") {
			return e.Index[0]
		}
		return e.Value
	case *pyast.BinOp:
		return annotated(e.Left)
	case nil:
		return &pyast.BadExpr{}
	}
	return e
}

// hooks gives functions of frameworks what they run in.
func (ev *evaluator) hooks(fn *Func) {
	if fn.Class == nil {
		return
	}
	for _, h := range hooks {
		if h.method != fn.Name || !ev.p.Is(fn.Class.Qual, h.class) && !derives(fn.Class, h.class) {
			continue
		}
		fn.Hot = fn.Hot || h.hot
		fn.GradOff = fn.GradOff || h.gradOff
		fn.Eval = fn.Eval || h.gradOff
		fn.Backward = fn.Backward || h.hot && h.gives == "loss"
		fn.hooked = true
		if h.gives == "outputs" && fn.isParam(h.gives) {
			ev.set(h.gives, Value{Kind: Tensor, Grad: No, Place: GPU})
		}
	}
}

func derives(c *Class, base string) bool {
	for _, b := range c.Bases {
		if b == base {
			return true
		}
	}
	return false
}

func (ev *evaluator) isModule(class string) bool {
	for _, base := range moduleBases {
		if ev.p.Is(class, base) {
			return true
		}
	}
	return false
}

// set assigns a path.
func (ev *evaluator) set(path string, v Value) {
	old, had := ev.env[path]
	ev.log = append(ev.log, change{path, old, had})
	ev.env[path] = v
}

// get is a path's value: of this function, of its class, of the functions
// around it, or what its name says.
func (ev *evaluator) get(path string) (Value, bool) {
	for e := ev; e != nil; e = e.outer {
		if v, ok := e.env[path]; ok {
			return v, true
		}
	}
	return Value{}, false
}

// branch runs body from the present state and undoes it; it returns what the
// branch left, or nil if it does not go on.
func (ev *evaluator) branch(body func()) map[string]Value {
	mark := len(ev.log)
	wasDead := ev.dead
	ev.dead = false
	body()
	dead := ev.dead
	ev.dead = wasDead
	left := map[string]Value{}
	for i := len(ev.log) - 1; i >= mark; i-- {
		c := ev.log[i]
		if _, seen := left[c.path]; !seen {
			left[c.path] = ev.env[c.path]
		}
	}
	for i := len(ev.log) - 1; i >= mark; i-- {
		c := ev.log[i]
		if c.had {
			ev.env[c.path] = c.old
		} else {
			delete(ev.env, c.path)
		}
	}
	ev.log = ev.log[:mark]
	if dead {
		return nil
	}
	return left
}

// merge joins what branches left. A nil branch did not go on; if none did, the
// code after them is dead.
func (ev *evaluator) merge(branches ...map[string]Value) {
	live := 0
	paths := map[string]bool{}
	for _, b := range branches {
		if b == nil {
			continue
		}
		live++
		for p := range b {
			paths[p] = true
		}
	}
	if live == 0 {
		ev.dead = true
		return
	}
	for p := range paths {
		old, had := ev.env[p]
		var v Value
		first := true
		for _, b := range branches {
			if b == nil {
				continue
			}
			x, ok := b[p]
			if !ok {
				if !had {
					continue
				}
				x = old
			}
			if first {
				v, first = x, false
			} else {
				v = join(v, x)
			}
		}
		ev.set(p, v)
	}
}

func (ev *evaluator) block(body []pyast.Stmt) {
	for _, s := range body {
		ev.f.modes[s.ID()] = ev.mode
		ev.stmt(s)
	}
}

// globals tells the project what the names of the top level are.
func (fn *Func) globals(ev *evaluator) {
	for name, v := range ev.env {
		if v.Kind != Unknown && !strings.Contains(name, ".") {
			ev.f.exports = append(ev.f.exports, export{name, forget(v, 0)})
		}
	}
}

type export struct {
	name  string
	value Value
}

// forget takes the tree out of a value, so that it can outlive the file.
func forget(v Value, depth int) Value {
	v.Origin = nil
	if depth > 3 {
		v.Elem, v.Items = nil, nil
		return v
	}
	if v.Elem != nil {
		e := forget(*v.Elem, depth+1)
		v.Elem = &e
	}
	if v.Items != nil {
		items := make([]Value, min(len(v.Items), 16))
		for i := range items {
			items[i] = forget(v.Items[i], depth+1)
		}
		v.Items = items
	}
	return v
}
