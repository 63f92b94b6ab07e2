package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// A Pass is one rule at work on one file.
type Pass struct {
	*File
	Rule     *Rule
	findings []Finding
	seen     map[pyast.Span]bool
}

// Report tells of a mistake at n. A second report at the same place is dropped.
func (p *Pass) Report(n pyast.Node, message string, opts ...Option) {
	if p.seen[n.Span()] {
		return
	}
	if p.seen == nil {
		p.seen = map[pyast.Span]bool{}
	}
	p.seen[n.Span()] = true
	f := Finding{Rule: p.Rule, Severity: p.Rule.Severity, File: p.File, Span: n.Span(), Message: message, Why: p.Rule.Why, Cost: p.Rule.Cost, Of: p.Rule.Of}
	for _, o := range opts {
		o(&f)
	}
	p.findings = append(p.findings, f)
}

// Value is what is known of an expression, as of the last time it runs.
func (f *File) Value(e pyast.Expr) Value {
	if e == nil || e.ID() >= len(f.values) {
		return Value{}
	}
	return f.values[e.ID()]
}

// GradOff reports whether n runs without gradients: in a context, decorator or
// hook, or because all callers have one.
func (f *File) GradOff(n pyast.Node) bool { return f.modeOf(n).grad == No }

// GradOn reports whether n surely runs with gradients, as far as is seen.
func (f *File) GradOn(n pyast.Node) bool { return f.modeOf(n).grad == Yes }

// Autocast reports whether n runs under autocast.
func (f *File) Autocast(n pyast.Node) bool { return f.modeOf(n).autocast }

// modeOf is the mode of the nearest call or statement.
func (f *File) modeOf(n pyast.Node) mode {
	for ; n != nil; n = n.Parent() {
		switch n.(type) {
		case *pyast.Call, pyast.Stmt:
			if m := f.modes[n.ID()]; m != (mode{}) {
				return m
			}
		}
	}
	return mode{}
}

// Callee is the qualified name of what a call calls, through imports and
// through names that were assigned a function or class; "" if it is not known.
func (f *File) Callee(c *pyast.Call) string {
	if v := f.Value(c.Func); (v.Kind == FuncKind || v.Kind == ClassKind) && v.Class != "" {
		return v.Class
	}
	return f.Qual(c.Func)
}

// Method is the name of the method that a call calls and the expression it is
// called on; "" for a call of a function of a module.
func (f *File) Method(c *pyast.Call) (name string, on pyast.Expr) {
	a, ok := c.Func.(*pyast.Attribute)
	if !ok || f.Qual(a) != "" {
		return "", nil
	}
	return a.Attr, a.Value
}

// A calling is a call and what it calls, which most rules ask.
type calling struct {
	*pyast.Call
	callee string
	method string
	on     pyast.Expr
}

// callings lists the calls of the file.
func (f *File) callings() []calling {
	if f.calls == nil {
		f.calls = []calling{}
		Each(f.Module, func(c *pyast.Call) {
			method, on := f.Method(c)
			f.calls = append(f.calls, calling{c, f.Callee(c), method, on})
		})
	}
	return f.calls
}

// Calls visits all calls of the file.
func (f *File) Calls(visit func(*pyast.Call)) {
	for _, c := range f.callings() {
		visit(c.Call)
	}
}

// CallsOf visits the calls of functions or classes by qualified name.
func (f *File) CallsOf(visit func(c *pyast.Call), names ...string) {
	for _, c := range f.callings() {
		if within(c.callee, names) {
			visit(c.Call)
		}
	}
}

// MethodCalls visits the calls of methods by name, whatever they are called on.
func (f *File) MethodCalls(visit func(c *pyast.Call, on pyast.Expr), names ...string) {
	for _, c := range f.callings() {
		if c.on != nil && within(c.method, names) {
			visit(c.Call, c.on)
		}
	}
}

// Each visits all nodes of one type at or below n, in the order of the source.
func Each[N pyast.Node](n pyast.Node, visit func(N)) {
	for _, x := range pyast.ModuleOf(n).Subtree(n) {
		if x, ok := x.(N); ok {
			visit(x)
		}
	}
}

// EachIn is Each over a block.
func EachIn[N pyast.Node](body []pyast.Stmt, visit func(N)) {
	for _, s := range body {
		Each(s, visit)
	}
}

// OwnStmts visits the statements and expressions of a function, without the
// functions and classes defined in it.
func (fn *Func) OwnStmts(visit func(pyast.Node)) {
	for _, s := range fn.body() {
		pyast.Walk(s, func(n pyast.Node) bool {
			switch n.(type) {
			case *pyast.FuncDef, *pyast.ClassDef:
				return false
			}
			visit(n)
			return true
		})
	}
}

// Text is a node's source.
func (f *File) Text(n pyast.Node) string { return f.Module.Text(n.Span()) }

// OutlivesRound reports whether what a path holds lives on when a round of the
// loop ends and was there before it: it is assigned before the loop (or is an
// attribute, a parameter, a global) and not assigned anew, other than by += and
// the like, at the start of each round.
func (f *File) OutlivesRound(l *Loop, path string) bool {
	body := l.Node.Span()
	before := false
	for _, r := range l.Func.Refs[path] {
		if r.Store && r.Node.Span().Start < body.Start {
			before = true
		}
	}
	top, dotted := cut(path)
	if !before && !dotted && l.Func.Locals[top] && !l.Func.isParam(top) {
		return false
	}
	return !f.resets(l, path)
}

// resets reports whether each round of the loop assigns the path afresh, from
// something that does not hold it.
func (f *File) resets(l *Loop, path string) bool {
	for _, s := range l.Body {
		a, ok := s.(*pyast.Assign)
		if !ok || a.Value == nil {
			continue
		}
		for _, t := range a.Targets {
			if pyast.Path(t) == path && !within(path, pathsIn(a.Value)) {
				return true
			}
		}
	}
	return false
}

// cut is the first name of a path, and whether there are more.
func cut(path string) (first string, dotted bool) {
	for i := range path {
		if path[i] == '.' {
			return path[:i], true
		}
	}
	return path, false
}

func (fn *Func) isParam(name string) bool {
	if fn.Node == nil {
		return false
	}
	for _, p := range fn.Node.Params {
		if p.Name == name {
			return true
		}
	}
	return false
}

// UsedAfter reports whether a path is read after a node in the same function,
// before nothing in particular: in the order of the source.
func (fn *Func) UsedAfter(path string, n pyast.Node) bool {
	for _, r := range fn.Refs[path] {
		if !r.Store && !r.Del && r.Node.Span().Start >= n.Span().End {
			return true
		}
	}
	return false
}

// LastUse is the last read of a path in the function, or nil.
func (fn *Func) LastUse(path string) pyast.Expr {
	var found pyast.Expr
	for _, r := range fn.Refs[path] {
		if !r.Store && !r.Del && (found == nil || r.Node.Span().Start > found.Span().Start) {
			found = r.Node
		}
	}
	return found
}

// IsClass reports whether a class of this file derives from base, by qualified
// name, also through classes of the project.
func (f *File) IsClass(c *Class, base string) bool {
	return f.project.Is(c.Qual, base) || derives(c, base)
}

// Project is what all files know of each other.
func (f *File) Project() *Project { return f.project }

// ConstText is the content of a string constant, or "".
func ConstText(e pyast.Expr) string {
	if k, ok := e.(*pyast.Constant); ok && k.Kind == pyast.String {
		return k.Str
	}
	return ""
}

// IsTrue reports whether e is the constant True.
func IsTrue(e pyast.Expr) bool { return isConst(e, pyast.True) }

// IsFalse reports whether e is the constant False.
func IsFalse(e pyast.Expr) bool { return isConst(e, pyast.False) }

// IsNone reports whether e is the constant None.
func IsNone(e pyast.Expr) bool { return isConst(e, pyast.None) }

func isConst(e pyast.Expr, k pyast.ConstKind) bool {
	c, ok := e.(*pyast.Constant)
	return ok && c.Kind == k
}

// Base is the path that a target grows or changes: of x[i] it is x.
func Base(target pyast.Expr) string {
	for {
		s, ok := target.(*pyast.Subscript)
		if !ok {
			return pyast.Path(target)
		}
		target = s.Value
	}
}

// ClassNamed is the class of this file with a qualified name, or nil. Classes
// of other files are known by what Project says of them.
func (f *File) ClassNamed(qual string) *Class { return f.classNamed(qual) }

// InTest reports whether n is in a test or benchmark, by the names of the file
// and the functions around it.
func (f *File) InTest(n pyast.Node) bool {
	path := "/" + strings.ToLower(f.Path)
	for _, w := range []string{"/test_", "/tests/", "/test/", "_test.py", "/bench", "/conftest.py"} {
		if strings.Contains(path, w) {
			return true
		}
	}
	fn := f.FuncOf(n)
	return strings.HasPrefix(fn.Name, "test_") || strings.HasPrefix(fn.Name, "bench")
}
