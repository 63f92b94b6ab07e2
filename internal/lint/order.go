package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// In which order things run, as far as one file tells.

// Inside reports whether n is outer or below it.
func Inside(n, outer pyast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if n == outer {
			return true
		}
	}
	return false
}

// InBlock reports whether n is in one of a block's statements.
func InBlock(block []pyast.Stmt, n pyast.Node) bool {
	for ; n != nil; n = n.Parent() {
		for _, s := range block {
			if n == pyast.Node(s) {
				return true
			}
		}
	}
	return false
}

// Exclusive reports whether two nodes are in different branches of one if, so
// that one pass runs only one of them.
func Exclusive(a, b pyast.Node) bool {
	for child, p := a, a.Parent(); p != nil; child, p = p, p.Parent() {
		switch s := p.(type) {
		case *pyast.If:
			if InBlock(s.Body, child) && InBlock(s.Else, b) || InBlock(s.Else, child) && InBlock(s.Body, b) {
				return true
			}
		case *pyast.IfExp:
			if child == pyast.Node(s.Body) && Inside(b, s.Else) || child == pyast.Node(s.Else) && Inside(b, s.Body) {
				return true
			}
		case *pyast.FuncDef:
			return false
		}
	}
	return false
}

// StoreBefore is the last assignment to a path in the function that stands
// before n and is no part of n's statement, or nil.
func (fn *Func) StoreBefore(path string, n pyast.Node) pyast.Expr {
	var found pyast.Expr
	s := pyast.StmtOf(n)
	for _, r := range fn.Refs[path] {
		if r.Store && r.Node.Span().Start < s.Span().Start && pyast.StmtOf(r.Node) != s {
			if found == nil || r.Node.Span().Start > found.Span().Start {
				found = r.Node
			}
		}
	}
	return found
}

// AnyGraph reports whether v, or something in it, surely carries a graph.
func (v Value) AnyGraph() bool {
	if v.HasGraph() || v.Elem != nil && v.Elem.AnyGraph() {
		return true
	}
	for _, x := range v.Items {
		if x.AnyGraph() {
			return true
		}
	}
	return false
}

// maxRuns bounds how many nodes Runs visits: functions that are called often
// are visited at each call.
const maxRuns = 200_000

// Runs visits what runs when root runs, in the order in which it does: a call
// after its arguments, and after it the body of the function of this file that
// it calls. Branches follow each other, loops run once. It stops when visit
// says so.
func (f *File) Runs(root *Func, visit func(n pyast.Node) (goOn bool)) {
	r := &runs{f: f, visit: visit, left: maxRuns}
	r.body(root)
}

type runs struct {
	f     *File
	visit func(pyast.Node) bool
	stack []*Func
	left  int
}

func (r *runs) body(fn *Func) bool {
	for _, on := range r.stack {
		if on == fn {
			return true
		}
	}
	if len(r.stack) > 6 {
		return true
	}
	r.stack = append(r.stack, fn)
	defer func() { r.stack = r.stack[:len(r.stack)-1] }()
	for _, s := range fn.body() {
		if !r.node(s) {
			return false
		}
	}
	return true
}

func (r *runs) node(n pyast.Node) bool {
	if r.left--; r.left < 0 {
		return false
	}
	switch n := n.(type) {
	case *pyast.FuncDef, *pyast.Lambda:
		return true
	case *pyast.Assign: // the value before the targets
		if n.Value != nil && !r.node(n.Value) {
			return false
		}
		for _, t := range n.Targets {
			if !r.node(t) {
				return false
			}
		}
		return r.visit(n)
	}
	goOn := true
	pyast.Children(n, func(c pyast.Node) { goOn = goOn && r.node(c) })
	if !goOn || !r.visit(n) {
		return false
	}
	if c, ok := n.(*pyast.Call); ok {
		return r.callee(c)
	}
	return true
}

// callee goes on in the function, or the constructor, that a call runs.
func (r *runs) callee(c *pyast.Call) bool {
	if fn := r.f.Resolve(c.Func); fn != nil {
		return r.body(fn)
	}
	if class := r.f.ClassNamed(r.f.Callee(c)); class != nil && class.Methods["__init__"] != nil {
		return r.body(class.Methods["__init__"])
	}
	return true
}

// Roots are the functions where a run of this file can begin: its top level and
// all functions that nothing in it calls.
func (f *File) Roots() []*Func {
	called := map[*Func]bool{}
	f.Calls(func(c *pyast.Call) {
		if fn := f.Resolve(c.Func); fn != nil && f.FuncOf(c) != fn {
			called[fn] = true
		}
	})
	roots := []*Func{f.Top}
	for _, fn := range f.Funcs {
		if !called[fn] {
			roots = append(roots, fn)
		}
	}
	return roots
}

// Env visits all that sets variables of the environment: what EnvSets does, and
// os.environ.update(...).
func (f *File) Env(visit func(at pyast.Node, name string, value pyast.Expr)) {
	f.EnvSets(visit)
	f.CallsOf(func(c *pyast.Call) {
		for _, k := range c.Keywords {
			if k.Name != "" {
				visit(k, k.Name, k.Value)
			}
		}
		for _, a := range c.Args {
			d, ok := a.(*pyast.Dict)
			if !ok {
				continue
			}
			for i, k := range d.Keys {
				if k != nil {
					visit(k, ConstText(k), d.Values[i])
				}
			}
		}
	}, "os.environ.update")
}

// ImportedBeside reports whether a file of the project that imports something of
// this one also imports a name, by qualified name.
func (f *File) ImportedBeside(name string) bool {
	for _, module := range f.project.users[f.Name] {
		if module == f.Name {
			continue
		}
		for _, q := range f.project.imports[module] {
			if q = Canonical(q); q == name || strings.HasPrefix(q, name+".") {
				return true
			}
		}
	}
	return false
}

// Empties reports whether the loop itself empties a list, or starts it anew.
func (l *Loop) Empties(path string) bool {
	for _, r := range l.Func.Refs[path] {
		if !Inside(r.Node, l.Node) {
			continue
		}
		if _, assigned := r.Node.Parent().(*pyast.Assign); r.Del || r.Store && assigned {
			return true
		}
		if m, ok := r.Node.Parent().(*pyast.Attribute); ok && (m.Attr == "clear" || m.Attr == "pop" || m.Attr == "popleft") {
			return true
		}
	}
	return false
}
