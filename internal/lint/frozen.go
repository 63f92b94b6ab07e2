package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// Freezes reports whether the file switches off the gradients of a module's
// parameters, wherever it does: m.requires_grad_(False), a loop over its
// parameters, its weight, or a helper named after freezing.
func (f *File) Freezes(module pyast.Expr) bool { return f.freezes(module, 0) }

// freezes follows names through a few assignments.
func (f *File) freezes(module pyast.Expr, depth int) bool {
	path := pyast.Path(module)
	if path == "" {
		return false
	}
	if f.Value(module).Frozen {
		return true
	}
	found := false
	pyast.Walk(f.Module, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.FuncDef, *pyast.ClassDef:
			return !found
		case pyast.Stmt:
			if !f.sameName(n, module, path) {
				return true
			}
		}
		switch n := n.(type) {
		case *pyast.Call:
			found = found || f.sameName(n, module, path) && f.freezing(n, path)
		case *pyast.Assign:
			found = found || weightOff(n, path) || depth < 3 && f.alias(n, path, depth+1)
		case *pyast.For:
			found = found || parametersOff(n, path)
		}
		return !found
	})
	return found
}

// freezing reports whether a call freezes what the path is: m.requires_grad_(False),
// path = m.requires_grad_(False), freeze(m), Embedding.from_pretrained(...).
func (f *File) freezing(c *pyast.Call, path string) bool {
	a, method := c.Func.(*pyast.Attribute)
	name := strings.ToLower(last(pyast.Path(c.Func)))
	switch {
	case method && a.Attr == "requires_grad_":
		off := len(c.Args) == 1 && IsFalse(c.Args[0]) || IsFalse(orBad(c.Keyword("requires_grad")))
		return off && (pyast.Path(a.Value) == path || assignsTo(c, path))
	case strings.HasPrefix(name, "freeze") || strings.Contains(name, "requires_grad") || name == "toggle_grad":
		return len(c.Args) > 0 && pyast.Path(c.Args[0]) == path && (len(c.Args) == 1 || IsFalse(c.Args[1])) || method && name == "freeze" && pyast.Path(a.Value) == path
	case name == "from_pretrained" && strings.HasSuffix(f.Qual(c.Func), "Embedding.from_pretrained"):
		k := c.Arg(1, "freeze")
		return (k == nil || IsTrue(k)) && assignsTo(c, path)
	}
	return false
}

// alias reports whether an assignment gives the path a name that is frozen:
// embed.requires_grad_(False); self.embed = embed.
func (f *File) alias(s *pyast.Assign, path string, depth int) bool {
	if len(s.Targets) != 1 || s.Value == nil {
		return false
	}
	targets, values := []pyast.Expr{s.Targets[0]}, []pyast.Expr{s.Value}
	if t, ok := s.Targets[0].(*pyast.List); ok {
		v, both := s.Value.(*pyast.List)
		if !both || len(v.Elts) != len(t.Elts) {
			return false
		}
		targets, values = t.Elts, v.Elts
	}
	for i, t := range targets {
		n, name := values[i].(*pyast.Name)
		if pyast.Path(t) == path && name && n.Ident != path && f.freezes(n, depth) {
			return true
		}
	}
	return false
}

// sameName reports whether a path means the same at two places: an attribute in
// one class, a name in one function or at top level.
func (f *File) sameName(a, b pyast.Node, path string) bool {
	x, y := f.FuncOf(a), f.FuncOf(b)
	if strings.HasPrefix(path, "self.") {
		return x.Class == y.Class
	}
	first, _ := cut(path)
	return x == y || x == f.Top && !y.Locals[first]
}

func orBad(e pyast.Expr) pyast.Expr {
	if e == nil {
		return &pyast.BadExpr{}
	}
	return e
}

// assignsTo reports whether a call's statement assigns the path.
func assignsTo(c *pyast.Call, path string) bool {
	s, ok := pyast.StmtOf(c).(*pyast.Assign)
	if !ok {
		return false
	}
	for i, t := range s.Targets {
		if pyast.Path(t) == path {
			return true
		}
		tuple, ok := t.(*pyast.List)
		values, both := s.Value.(*pyast.List)
		if !ok || !both || i > 0 || len(tuple.Elts) != len(values.Elts) {
			continue
		}
		for j, x := range tuple.Elts {
			if pyast.Path(x) == path && Inside(c, values.Elts[j]) {
				return true
			}
		}
	}
	return false
}

// weightOff is path.weight.requires_grad = False.
func weightOff(s *pyast.Assign, path string) bool {
	for _, t := range s.Targets {
		a, ok := t.(*pyast.Attribute)
		if !ok || a.Attr != "requires_grad" || s.Value == nil || !IsFalse(s.Value) {
			continue
		}
		if p := pyast.Path(a.Value); p == path || p == path+".weight" {
			return true
		}
	}
	return false
}

// parametersOff is "for p in path.parameters(): p.requires_grad = False".
func parametersOff(l *pyast.For, path string) bool {
	c, ok := l.Iter.(*pyast.Call)
	if !ok {
		return false
	}
	a, ok := c.Func.(*pyast.Attribute)
	if !ok || a.Attr != "parameters" && a.Attr != "named_parameters" || pyast.Path(a.Value) != path {
		return false
	}
	for _, s := range l.Body { // without a condition: all of them
		switch s := s.(type) {
		case *pyast.Assign:
			for _, t := range s.Targets {
				if a, ok := t.(*pyast.Attribute); ok && a.Attr == "requires_grad" && s.Value != nil && IsFalse(s.Value) {
					return true
				}
			}
		case *pyast.ExprStmt:
			if c, ok := s.Value.(*pyast.Call); ok {
				if a, ok := c.Func.(*pyast.Attribute); ok && a.Attr == "requires_grad_" && len(c.Args) == 1 && IsFalse(c.Args[0]) {
					return true
				}
			}
		}
	}
	return false
}
