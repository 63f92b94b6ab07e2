package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// A File is one source with its facts.
type File struct {
	Path     string // as the user sees it
	Name     string // dotted module name within the project, with a leading dot
	Module   *pyast.Module
	Notebook *pyast.Notebook   // nil for a .py file
	Encoding string            // of the file, see pyast.Decode
	Imports  map[string]string // imported name to qualified name
	Top      *Func             // the module's own statements
	Funcs    []*Func           // all functions and methods, without Top
	Classes  []*Class
	Loops    []*Loop // for and while, outer before inner

	project  *Project
	imported []string
	stars    []string
	defined  map[string]bool // functions and classes at top level
	funcs    map[*pyast.FuncDef]*Func
	loops    map[pyast.Stmt]*Loop
	values   []Value                     // by node
	modes    []mode                      // by statement and call
	attrs    map[string]map[string]Value // of instances, by class
	exports  []export
	calls    []calling // once they were asked for
}

// A Func is a function or method, or a file's top level.
type Func struct {
	Name   string // "train"; "" for the top level
	Qual   string // ".pkg.mod.Class.train"
	Node   *pyast.FuncDef
	Class  *Class
	Outer  *Func // the function around it; Top for functions at top level
	File   *File
	Refs   map[string][]Ref // by path, in the order of the source
	Locals map[string]bool  // names that the function itself binds

	*Facts

	backwarded map[string]bool     // paths that .backward() is called on
	flows      map[string][]string // path to the paths whose values it got
	methods    map[string]int      // which telling methods are called on a path
	hooked     bool                // a framework calls it, with a model that it has put on a device
}

// A Ref is one use or assignment of a path.
type Ref struct {
	Node  pyast.Expr
	Store bool // assigned, also by for, with and +=
	Del   bool
}

// A Class is a class of the file.
type Class struct {
	Name    string
	Qual    string
	Node    *pyast.ClassDef
	Bases   []string // qualified, as far as they are known
	Methods map[string]*Func
	File    *File
}

// newFile collects what needs no evaluation: functions, classes, loops, names.
func newFile(p *Project, path, name string, m *pyast.Module) *File {
	f := &File{
		Path: path, Name: name, Module: m, project: p,
		funcs: map[*pyast.FuncDef]*Func{}, loops: map[pyast.Stmt]*Loop{}, defined: map[string]bool{},
	}
	for _, s := range m.Body {
		switch s := s.(type) {
		case *pyast.FuncDef:
			f.defined[s.Name] = true
		case *pyast.ClassDef:
			f.defined[s.Name] = true
		}
	}
	f.collectImports()
	f.Top = &Func{File: f, Qual: name, Refs: map[string][]Ref{}, Facts: &Facts{qual: name}}
	for _, s := range m.Body {
		f.collect(s, f.Top, nil, nil)
	}
	for _, fn := range append(f.Funcs, f.Top) {
		fn.prepare()
	}
	return f
}

// collect walks n, which is in function fn, class c and loop l.
func (f *File) collect(n pyast.Node, fn *Func, c *Class, l *Loop) {
	switch n := n.(type) {
	case *pyast.FuncDef:
		f.collectFunc(n, fn, c, l)
		return
	case *pyast.ClassDef:
		class := &Class{Name: n.Name, Qual: fn.Qual + "." + n.Name, Node: n, File: f, Methods: map[string]*Func{}}
		for _, b := range n.Bases {
			class.Bases = append(class.Bases, f.Qual(b))
		}
		f.Classes = append(f.Classes, class)
		for _, s := range n.Body {
			f.collect(s, fn, class, nil)
		}
		return
	case *pyast.For:
		inner := f.addLoop(n, fn, l)
		f.collect(n.Target, fn, nil, inner)
		f.collect(n.Iter, fn, nil, l)
		f.collectAll(n.Body, fn, inner)
		f.collectAll(n.Else, fn, l)
		return
	case *pyast.While:
		inner := f.addLoop(n, fn, l)
		f.collect(n.Test, fn, nil, inner)
		f.collectAll(n.Body, fn, inner)
		f.collectAll(n.Else, fn, l)
		return
	case *pyast.Delete:
		for _, t := range n.Targets {
			if p := pyast.Path(t); p != "" {
				fn.Refs[p] = append(fn.Refs[p], Ref{Node: t, Del: true})
			}
		}
		return
	case *pyast.Name:
		fn.Refs[n.Ident] = append(fn.Refs[n.Ident], Ref{Node: n, Store: n.Store})
	case *pyast.Attribute:
		if p := pyast.Path(n); p != "" {
			fn.Refs[p] = append(fn.Refs[p], Ref{Node: n, Store: n.Store})
		}
	}
	pyast.Children(n, func(child pyast.Node) { f.collect(child, fn, nil, l) })
}

func (f *File) collectAll(body []pyast.Stmt, fn *Func, l *Loop) {
	for _, s := range body {
		f.collect(s, fn, nil, l)
	}
}

func (f *File) collectFunc(n *pyast.FuncDef, outer *Func, c *Class, l *Loop) {
	fn := &Func{Name: n.Name, Node: n, Class: c, Outer: outer, File: f, Refs: map[string][]Ref{}, Facts: &Facts{}}
	if c != nil {
		fn.Qual = c.Qual + "." + n.Name
		c.Methods[n.Name] = fn
	} else {
		fn.Qual = outer.Qual + "." + n.Name
	}
	fn.qual, fn.Eval = fn.Qual, evalName(n.Name)
	f.Funcs = append(f.Funcs, fn)
	f.funcs[n] = fn
	for _, d := range n.Decorators {
		f.collect(d, outer, nil, l)
	}
	for _, p := range n.Params {
		if p.Default != nil {
			f.collect(p.Default, outer, nil, l)
		}
	}
	f.collectAll(n.Body, fn, nil)
}

// prepare fills in what a function's own statements say.
func (fn *Func) prepare() {
	fn.Locals = map[string]bool{}
	fn.backwarded = map[string]bool{}
	fn.flows = map[string][]string{}
	fn.methods = map[string]int{}
	if fn.Node != nil {
		for _, p := range fn.Node.Params {
			fn.Locals[p.Name] = true
		}
	}
	for path, refs := range fn.Refs {
		for _, r := range refs {
			if r.Store && !strings.Contains(path, ".") {
				fn.Locals[path] = true
			}
		}
	}
	for _, s := range fn.body() {
		pyast.Walk(s, func(n pyast.Node) bool {
			switch n := n.(type) {
			case *pyast.FuncDef, *pyast.ClassDef:
				return false
			case *pyast.Global:
				for _, name := range n.Names {
					delete(fn.Locals, name)
				}
			case *pyast.Call:
				fn.witness(n)
				for _, p := range backwardOf(n) {
					fn.backwarded[p] = true
				}
				fn.flowsByAppend(n)
			case *pyast.Assign:
				for _, t := range n.Targets {
					fn.flow(t, n.Value)
				}
			case *pyast.AugAssign:
				fn.flow(n.Target, n.Value)
			}
			return true
		})
	}
}

// body is the function's statements.
func (fn *Func) body() []pyast.Stmt {
	if fn.Node == nil {
		return fn.File.Module.Body
	}
	return fn.Node.Body
}

var evalWords = map[string]bool{
	"eval": true, "evaluate": true, "evaluation": true, "val": true, "valid": true, "validate": true, "validation": true,
	"test": true, "testing": true, "predict": true, "prediction": true, "predictions": true, "infer": true, "inference": true,
	"sample": true, "generate": true, "demo": true,
}

// evalName reports whether a function's name says that it evaluates.
func evalName(name string) bool {
	eval := false
	for _, w := range strings.Split(strings.ToLower(name), "_") {
		if w == "train" || w == "training" || w == "fit" {
			return false
		}
		eval = eval || evalWords[w]
	}
	return eval
}

// backwardOf lists the paths whose graph a call frees: x.backward(),
// scaler.scale(x).backward(), accelerator.backward(x), (x / n).backward().
func backwardOf(c *pyast.Call) []string {
	a, ok := c.Func.(*pyast.Attribute)
	if !ok {
		return nil
	}
	switch a.Attr {
	case "backward", "manual_backward":
		var paths []string
		if len(c.Args) > 0 {
			paths = append(paths, pathsIn(c.Args[0])...)
			if strings.Contains(last(pyast.Path(c.Args[0])), "loss") {
				return paths // engine.backward(loss): the engine is no loss
			}
		}
		return append(paths, pathsIn(a.Value)...)
	case "grad":
		if len(c.Args) > 0 && (pyast.Path(a) == "torch.autograd.grad" || pyast.Path(a) == "autograd.grad") {
			return pathsIn(c.Args[0])
		}
	case "minimize":
		if len(c.Args) > 0 {
			return pathsIn(c.Args[0])
		}
	}
	return nil
}

// cutters end a graph: what goes through them does not reach backward.
var cutters = map[string]bool{
	"item": true, "detach": true, "tolist": true, "numpy": true, "cpu_item": true, "size": true, "argmax": true,
	"float": true, "int": true, "len": true, "str": true, "range": true, "print": true, "isinstance": true,
}

// pathsIn lists the paths that an expression's value is computed from, without
// what only its shape or a detached copy of it.
func pathsIn(e pyast.Expr) []string {
	var out []string
	pyast.Walk(e, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.Name:
			out = append(out, n.Ident)
		case *pyast.Attribute:
			if p := pyast.Path(n); p != "" {
				out = append(out, p)
				for q := n.Value; q != nil; { // a.b.c also comes from a.b and a
					out = append(out, pyast.Path(q))
					a, ok := q.(*pyast.Attribute)
					if !ok {
						break
					}
					q = a.Value
				}
				return false
			}
		case *pyast.Call:
			switch callee := n.Func.(type) {
			case *pyast.Attribute:
				if cutters[callee.Attr] && callee.Attr != "float" {
					return false
				}
			case *pyast.Name:
				if cutters[callee.Ident] {
					return false
				}
			}
		case *pyast.Lambda:
			return false
		}
		return true
	})
	return out
}

func (fn *Func) flow(target, value pyast.Expr) {
	if value == nil {
		return
	}
	if t, ok := target.(*pyast.List); ok {
		if v, ok := value.(*pyast.List); ok && len(v.Elts) == len(t.Elts) {
			for i, x := range t.Elts {
				fn.flow(x, v.Elts[i])
			}
			return
		}
		for _, x := range t.Elts {
			fn.flow(x, value)
		}
		return
	}
	if s, ok := target.(*pyast.Subscript); ok {
		target = s.Value
	}
	if p := pyast.Path(target); p != "" {
		fn.flows[p] = append(fn.flows[p], pathsIn(value)...)
	}
}

// flowsByAppend takes xs.append(y) as a flow from y to xs.
func (fn *Func) flowsByAppend(c *pyast.Call) {
	a, ok := c.Func.(*pyast.Attribute)
	if !ok || !growing[a.Attr] {
		return
	}
	if p := pyast.Path(a.Value); p != "" {
		for _, arg := range c.Args {
			fn.flows[p] = append(fn.flows[p], pathsIn(arg)...)
		}
	}
}

var growing = map[string]bool{"append": true, "extend": true, "insert": true, "add": true, "appendleft": true, "update": true}

// ReachesBackward reports whether the value of a path flows, in this function,
// to something that .backward() is called on.
func (fn *Func) ReachesBackward(path string) bool {
	seen := map[string]bool{}
	var reach func(string) bool
	reach = func(p string) bool {
		if p == path {
			return true
		}
		if seen[p] {
			return false
		}
		seen[p] = true
		for _, q := range fn.flows[p] {
			if reach(q) {
				return true
			}
		}
		return false
	}
	for p := range fn.backwarded {
		if reach(p) {
			return true
		}
	}
	return false
}

// Sources are the paths that the value of an expression is computed from in this
// function, as far as its gradients go: through assignments, and not through what
// cuts a graph.
func (fn *Func) Sources(e pyast.Expr) map[string]bool {
	seen := map[string]bool{}
	var follow func(paths []string)
	follow = func(paths []string) {
		for _, p := range paths {
			if !seen[p] {
				seen[p] = true
				follow(fn.flows[p])
			}
		}
	}
	follow(pathsIn(e))
	return seen
}

// Backwarded reports whether .backward() is called on the path itself.
func (fn *Func) Backwarded(path string) bool { return fn.backwarded[path] }

// FuncOf is the function that n is in (for a function's own node, the one
// around it); Top at top level.
func (f *File) FuncOf(n pyast.Node) *Func {
	if d := pyast.FuncOf(n); d != nil {
		if fn := f.funcs[d]; fn != nil {
			return fn
		}
	}
	return f.Top
}

// Func is the facts of a function's node.
func (f *File) Func(d *pyast.FuncDef) *Func { return f.funcs[d] }

// Telling methods: an optimizer is what has zero_grad and step, a model what
// has parameters or is put into a mode.
const (
	callsZeroGrad = 1 << iota
	callsStep
	callsParameters
)

var telling = map[string]int{
	"zero_grad": callsZeroGrad, "step": callsStep, "parameters": callsParameters, "named_parameters": callsParameters,
	"load_state_dict": 0, "eval": callsParameters,
}

func (fn *Func) witness(c *pyast.Call) {
	a, ok := c.Func.(*pyast.Attribute)
	if !ok || telling[a.Attr] == 0 || a.Attr == "eval" && len(c.Args) > 0 {
		return
	}
	if p := pyast.Path(a.Value); p != "" {
		fn.methods[p] |= telling[a.Attr]
	}
}

// hint is what a path's name, or else the methods that the function calls on
// it, say of its value.
func (fn *Func) hint(path string) Value {
	v := hint(last(path))
	if v.Kind != Unknown {
		return v
	}
	switch m := fn.methods[path]; {
	case m&callsParameters != 0:
		return Value{Kind: Module}
	case m&callsZeroGrad != 0 && m&callsStep != 0:
		return Value{Kind: Optimizer}
	}
	return Value{}
}
