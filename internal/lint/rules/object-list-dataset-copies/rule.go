// Package objectlistdatasetcopies finds datasets that hold many Python objects.
package objectlistdatasetcopies

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

// Rule is GPU040.
var Rule = &lint.Rule{
	Code:       "GPU040",
	Name:       "object-list-dataset-copies",
	Severity:   lint.Warning,
	Title:      "A dataset's list of Python objects is copied into each worker",
	Why:        "reading an object changes its reference count, and that copies the page it lies on; so step by step each worker process gets a copy of the list that it shared after fork",
	Cost:       "the size of the list, for each worker: a dict of a JSON line takes 0.5 to 2 KB, so 10 million lines and 16 workers some 80 to 300 GB of host memory (order of size, derived)",
	Misses:     "lists that are read in another file than that of the class; lists of tensors, arrays and of file names; lists that are put into another object; loaders without workers",
	Fix:        lint.NoFix,
	References: []string{"pytorch/pytorch#13246", "https://ppwwyyxx.com/blog/2022/Demystify-RAM-Usage-in-Multiprocess-DataLoader/"},
	Bad:        bad,
	Good:       good,
	Run:        run,
}

func run(p *lint.Pass) {
	for _, c := range p.Classes {
		init := c.Methods["__init__"]
		if init == nil || c.Methods["__getitem__"] == nil || !p.IsDataset(c) {
			continue
		}
		if !p.LoadedByWorkers(c) || p.Measures(c.Node) {
			continue
		}
		for _, fn := range setup(c, init) {
			inFunc(p, c, fn)
		}
		fromCaller(p, c, init)
	}
}

// see shows the loader with workers, if it is in this file.
func see(p *lint.Pass, class *lint.Class) []lint.Option {
	for _, c := range p.LoadersOf(class) {
		if p.Workers(c) {
			return []lint.Option{lint.See(c, "this loader has workers")}
		}
	}
	return nil
}

// setup is __init__ and the methods that it calls on self.
func setup(c *lint.Class, init *lint.Func) []*lint.Func {
	out := []*lint.Func{init}
	init.OwnStmts(func(n pyast.Node) {
		if call, ok := n.(*pyast.Call); ok {
			if a, ok := call.Func.(*pyast.Attribute); ok && pyast.Path(a.Value) == "self" && c.Methods[a.Attr] != nil && c.Methods[a.Attr] != init {
				out = append(out, c.Methods[a.Attr])
			}
		}
	})
	return out
}

// indexed reports whether the samples come from an attribute: self.items[i].
func indexed(c *lint.Class, path string) bool {
	found := false
	for _, fn := range c.WorkerFuncs() {
		fn.OwnStmts(func(n pyast.Node) {
			if s, ok := n.(*pyast.Subscript); ok && pyast.Path(s.Value) == path && !s.Store && len(s.Index) == 1 && lint.ConstText(s.Index[0]) == "" {
				found = true
			}
		})
	}
	return found
}

// inFunc looks for self.items = objects, self.items.append(object) and for
// objects that are returned to be assigned so.
func inFunc(p *lint.Pass, c *lint.Class, fn *lint.Func) {
	report := func(n pyast.Node, path string) {
		p.Report(n, fmt.Sprintf("%s holds many Python objects in %s, and each worker comes to copy them all", c.Name, path), see(p, c)...)
	}
	fn.OwnStmts(func(n pyast.Node) {
		switch n := n.(type) {
		case *pyast.Assign:
			for _, t := range n.Targets {
				if path := pyast.Path(t); strings.HasPrefix(path, "self.") && indexed(c, path) && objects(p, fn, n.Value, 0) {
					report(n, path)
				}
			}
			if path := item(n); strings.HasPrefix(path, "self.") && indexed(c, path) && inRows(p, fn, n, n.Value) {
				report(n, path)
			}
		case *pyast.AugAssign:
			if path := pyast.Path(n.Target); strings.HasPrefix(path, "self.") && indexed(c, path) && objects(p, fn, n.Value, 0) {
				report(n, path)
			}
		case *pyast.Call:
			a, ok := n.Func.(*pyast.Attribute)
			if !ok || a.Attr != "append" && a.Attr != "extend" || len(n.Args) != 1 {
				return
			}
			path := pyast.Path(a.Value)
			if strings.HasPrefix(path, "self.") && indexed(c, path) && (inRows(p, fn, n, n.Args[0]) || a.Attr == "extend" && objects(p, fn, n.Args[0], 0)) {
				report(n, path)
			}
		}
	})
}

// item is x in x[i] = value, or "".
func item(a *pyast.Assign) string {
	if s, ok := a.Targets[0].(*pyast.Subscript); ok {
		return pyast.Path(s.Value)
	}
	return ""
}

// fromCaller looks for Captions(objects), where __init__ keeps the parameter.
func fromCaller(p *lint.Pass, c *lint.Class, init *lint.Func) {
	kept := map[string]int{}
	for i, param := range init.Node.Params {
		init.OwnStmts(func(n pyast.Node) {
			a, ok := n.(*pyast.Assign)
			if !ok || pyast.Path(a.Value) != param.Name {
				return
			}
			for _, t := range a.Targets {
				if path := pyast.Path(t); strings.HasPrefix(path, "self.") && indexed(c, path) {
					kept[param.Name] = i - 1
				}
			}
		})
	}
	p.CallsOf(func(call *pyast.Call) {
		for name, i := range kept {
			e := call.Arg(i, name)
			if e == nil || !objects(p, p.FuncOf(call), e, 0) {
				continue
			}
			at := pyast.Node(call)
			if a := p.Assigned(e); a != nil {
				at = a
			}
			p.Report(at, fmt.Sprintf("%s is given many Python objects, and each worker comes to copy them all", c.Name), see(p, c)...)
		}
	}, c.Qual)
}

// readers make many Python objects of a file.
var readers = map[string]bool{
	"json.load": true, "json.loads": true, "pickle.load": true, "yaml.safe_load": true, "yaml.load": true, "ujson.load": true, "orjson.loads": true,
	"csv.reader": true, "csv.DictReader": true, "jsonlines.open": true, "open": true, "gzip.open": true, "codecs.open": true,
}

// objects reports whether an expression is a list or dict of many objects that
// were read from a file.
func objects(p *lint.Pass, fn *lint.Func, e pyast.Expr, depth int) bool {
	if e == nil || depth > 4 {
		return false
	}
	switch e := e.(type) {
	case *pyast.Comp:
		return e.Kind != "generator" && len(e.Clauses) > 0 && (rows(p, fn, e.Clauses[0].Iter, depth+1) || decodes(p, e.Elt) || isDict(e.Elt))
	case *pyast.Call:
		return made(p, fn, e, depth)
	case *pyast.Subscript:
		return objects(p, fn, e.Value, depth+1) // json.load(f)["annotations"], rows[:n]
	case *pyast.Name:
		return named(p, fn, e, depth)
	}
	return false
}

// isDict reports whether an element is a dict display.
func isDict(e pyast.Expr) bool {
	_, ok := e.(*pyast.Dict)
	return ok
}

// made judges what a call gives.
func made(p *lint.Pass, fn *lint.Func, c *pyast.Call, depth int) bool {
	q := p.Callee(c)
	if q == "json.load" || q == "pickle.load" || q == "yaml.safe_load" || q == "yaml.load" || q == "json.loads" && len(c.Args) == 1 && isRead(c.Args[0]) {
		return true
	}
	if name := pyast.Path(c.Func); (name == "list" || name == "sorted" || name == "tuple") && len(c.Args) == 1 {
		if m, ok := c.Args[0].(*pyast.Call); ok && pyast.Path(m.Func) == "map" && len(m.Args) == 2 {
			return rows(p, fn, m.Args[1], depth+1) || readers[p.Qual(m.Args[0])]
		}
		if g, ok := c.Args[0].(*pyast.Comp); ok && len(g.Clauses) > 0 {
			return rows(p, fn, g.Clauses[0].Iter, depth+1) || decodes(p, g.Elt)
		}
		return rows(p, fn, c.Args[0], depth+1) || objects(p, fn, c.Args[0], depth+1)
	}
	name, on := p.Method(c)
	switch name {
	case "readlines":
		return true
	case "splitlines", "split":
		return isRead(on)
	case "to_dict":
		return lint.ConstText(c.Arg(0, "orient")) == "records"
	case "tolist", "to_list":
		return table(p, on, 0)
	case "items", "values":
		return objects(p, fn, on, depth+1)
	}
	if made := p.Resolve(c.Func); made != nil && depth < 3 {
		found := false
		made.OwnStmts(func(n pyast.Node) {
			if r, ok := n.(*pyast.Return); ok && r.Value != nil {
				found = found || objects(p, made, r.Value, depth+1)
			}
		})
		return found
	}
	return false
}

// isRead reports whether e is handle.read() or path.read_text().
func isRead(e pyast.Expr) bool {
	c, ok := e.(*pyast.Call)
	if !ok {
		return false
	}
	a, ok := c.Func.(*pyast.Attribute)
	if ok && a.Attr == "strip" {
		return isRead(a.Value)
	}
	return ok && (a.Attr == "read" || a.Attr == "read_text")
}

// decodes reports whether an element is an object of a line or of a file:
// json.loads(line).
func decodes(p *lint.Pass, e pyast.Expr) bool {
	c, ok := e.(*pyast.Call)
	q := ""
	if ok {
		q = p.Callee(c)
	}
	return strings.HasSuffix(q, "json.loads") || q == "json.load" || q == "pickle.load" || q == "yaml.safe_load" || q == "yaml.load"
}

// rows reports whether an expression goes over the lines or rows of a file.
func rows(p *lint.Pass, fn *lint.Func, e pyast.Expr, depth int) bool {
	if depth > 4 {
		return false
	}
	switch e := e.(type) {
	case *pyast.Call:
		name := pyast.Path(e.Func)
		if name == "enumerate" || name == "tqdm" || name == "tqdm.tqdm" || name == "zip" {
			return len(e.Args) > 0 && rows(p, fn, e.Args[0], depth+1)
		}
		if readers[p.Callee(e)] || name == "open" {
			return true
		}
		m, on := p.Method(e)
		return m == "readlines" || m == "iterrows" || m == "itertuples" || m == "open" && on != nil || (m == "splitlines" || m == "split") && isRead(on) || objects(p, fn, e, depth+1)
	case *pyast.Name:
		return handle(p, fn, e.Ident, depth)
	case *pyast.Subscript:
		return objects(p, fn, e, depth+1) // json.load(f)["images"]
	}
	return false
}

// table reports whether an expression is a column or part of a table that
// pandas has read.
func table(p *lint.Pass, e pyast.Expr, depth int) bool {
	if e == nil || depth > 4 {
		return false
	}
	switch e := e.(type) {
	case *pyast.Call:
		if strings.HasPrefix(p.Callee(e), "pandas.read_") {
			return true
		}
		_, on := p.Method(e)
		return table(p, on, depth+1)
	case *pyast.Subscript:
		return table(p, e.Value, depth+1)
	case *pyast.Attribute:
		return table(p, e.Value, depth+1)
	case *pyast.Name:
		a := p.Assigned(e)
		return a != nil && table(p, a.Value, depth+1)
	}
	return false
}

// handle reports whether a name is a file or reader: with open(...) as name,
// name = csv.reader(...), or a list of objects.
func handle(p *lint.Pass, fn *lint.Func, name string, depth int) bool {
	for _, r := range fn.Refs[name] {
		if !r.Store {
			continue
		}
		switch at := r.Node.Parent().(type) {
		case *pyast.WithItem:
			if rows(p, fn, at.Context, depth+1) {
				return true
			}
		case *pyast.Assign:
			if rows(p, fn, at.Value, depth+1) || objects(p, fn, at.Value, depth+1) {
				return true
			}
		}
	}
	return false
}

// named judges a list that the function builds under a name.
func named(p *lint.Pass, fn *lint.Func, e *pyast.Name, depth int) bool {
	for _, r := range fn.Refs[e.Ident] {
		if a, ok := r.Node.Parent().(*pyast.Assign); ok && r.Store && objects(p, fn, a.Value, depth+1) {
			return true
		}
		if a, ok := r.Node.Parent().(*pyast.Attribute); ok && a.Attr == "append" {
			if c, ok := a.Parent().(*pyast.Call); ok && len(c.Args) == 1 && inRows(p, fn, c, c.Args[0]) {
				return true
			}
		}
	}
	return false
}

// inRows reports whether what puts a value into a container stands in a loop
// over lines or rows, and the value is no tensor or array; or it is a dict.
func inRows(p *lint.Pass, fn *lint.Func, at pyast.Node, value pyast.Expr) bool {
	_, dict := value.(*pyast.Dict)
	for l := p.LoopOf(at); l != nil; l = l.Outer {
		if l.Iter != nil && (dict || rows(p, fn, l.Iter, 0)) {
			k := p.Value(value).Kind
			return k != lint.Tensor && k != lint.Array
		}
	}
	return decodes(p, value)
}
