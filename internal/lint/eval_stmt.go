package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

func (ev *evaluator) stmt(s pyast.Stmt) {
	switch s := s.(type) {
	case *pyast.ExprStmt:
		ev.expr(s.Value)
	case *pyast.Assign:
		ev.assign(s)
	case *pyast.AugAssign:
		left, right := ev.load(s.Target), ev.expr(s.Value)
		v := ev.binary(left, right)
		if left.Kind == ListKind {
			v = grown(left, right.element())
		}
		ev.bind(s.Target, v, s.Value)
	case *pyast.Return:
		v := Value{Kind: NoneValue}
		if s.Value != nil {
			v = ev.expr(s.Value)
		}
		if !ev.ret {
			ev.rets, ev.ret = v, true
		} else {
			ev.rets = join(ev.rets, v)
		}
		ev.dead = true
	case *pyast.Raise:
		ev.maybe(s.Value)
		ev.dead = true
	case *pyast.Simple:
		if s.Word != "pass" {
			ev.dead = true
		}
	case *pyast.Delete:
		for _, t := range s.Targets {
			if p := pyast.Path(t); p != "" {
				ev.set(p, Value{})
			} else {
				ev.expr(t)
			}
		}
	case *pyast.Assert:
		ev.maybe(s.Test)
		ev.maybe(s.Msg)
	case *pyast.Print:
		for _, a := range s.Args {
			ev.expr(a)
		}
	default:
		ev.compound(s)
	}
}

func (ev *evaluator) maybe(e pyast.Expr) {
	if e != nil {
		ev.expr(e)
	}
}

func (ev *evaluator) compound(s pyast.Stmt) {
	switch s := s.(type) {
	case *pyast.If:
		ev.expr(s.Test)
		ev.merge(ev.branch(func() { ev.block(s.Body) }), ev.branch(func() { ev.block(s.Else) }))
	case *pyast.For:
		ev.loop(ev.f.loops[s], s.Else)
	case *pyast.While:
		ev.expr(s.Test)
		ev.loop(ev.f.loops[s], s.Else)
	case *pyast.With:
		ev.with(s)
	case *pyast.Try:
		ev.try(s)
	case *pyast.Match:
		ev.maybe(s.Subject)
		branches := []map[string]Value{{}}
		for _, c := range s.Cases {
			branches = append(branches, ev.branch(func() { ev.maybe(c.Guard); ev.block(c.Body) }))
		}
		ev.merge(branches...)
	case *pyast.FuncDef:
		for _, d := range s.Decorators {
			ev.expr(d)
		}
		for _, p := range s.Params {
			ev.maybe(p.Default)
		}
		if ev.f.funcs[s] != nil {
			ev.later = append(ev.later, s)
			if fn := ev.f.funcs[s]; fn.Class == nil {
				ev.set(s.Name, Value{Kind: FuncKind, Class: fn.Qual})
			}
		}
	case *pyast.ClassDef:
		ev.class(s)
	}
}

func (ev *evaluator) class(s *pyast.ClassDef) {
	for _, d := range s.Decorators {
		ev.expr(d)
	}
	for _, b := range s.Bases {
		ev.expr(b)
	}
	for _, k := range s.Keywords {
		ev.expr(k.Value)
	}
	left := ev.branch(func() { ev.block(s.Body) }) // its names are not ours
	_ = left
	ev.set(s.Name, Value{Kind: ClassKind, Class: ev.fn.Qual + "." + s.Name})
}

func (ev *evaluator) assign(s *pyast.Assign) {
	if s.Value == nil {
		if p := pyast.Path(s.Targets[0]); p != "" && s.Annotation != nil {
			if q := ev.f.Qual(annotated(s.Annotation)); q != "" {
				ev.set(p, ev.instance(q, nil))
			}
		}
		return
	}
	v := ev.expr(s.Value)
	for _, t := range s.Targets {
		ev.bind(t, v, s.Value)
	}
}

// bind assigns v to a target. from is the expression that gave it, or nil.
func (ev *evaluator) bind(target pyast.Expr, v Value, from pyast.Expr) {
	ev.f.values[target.ID()] = v
	switch t := target.(type) {
	case *pyast.List:
		for i, x := range t.Elts {
			if _, star := x.(*pyast.Starred); star {
				ev.bind(x, Value{Kind: ListKind}, nil)
				continue
			}
			e := v.element()
			if v.Kind == TupleKind && i < len(v.Items) {
				e = v.Items[i]
			}
			ev.bind(x, e, nil)
		}
	case *pyast.Starred:
		ev.bind(t.Value, v, nil)
	case *pyast.Subscript:
		ev.expr(t.Value)
		for _, i := range t.Index {
			ev.expr(i)
		}
		if p := pyast.Path(t.Value); p != "" {
			if c, ok := ev.get(p); ok && (c.Kind == ListKind || c.Kind == TupleKind) {
				ev.set(p, grown(c, v))
			}
		}
	default:
		ev.bindPath(target, v, from)
	}
}

// bindPath assigns v to a name or an attribute.
func (ev *evaluator) bindPath(target pyast.Expr, v Value, from pyast.Expr) {
	p := pyast.Path(target)
	if p == "" {
		return
	}
	if a, ok := target.(*pyast.Attribute); ok {
		ev.expr(a.Value)
		if a.Attr == "requires_grad" {
			ev.freeze(pyast.Path(a.Value), from)
		}
	}
	if v.Kind == Unknown {
		class := v.Class // of an object that is none of the kinds
		if v = ev.named(p, from); v.Class == "" {
			v.Class = class
		}
	}
	if v.Kind == Tensor && strings.Contains(strings.ToLower(last(p)), "loss") {
		v.Loss = true
	}
	ev.f.values[target.ID()] = v
	ev.set(p, v)
	if strings.HasPrefix(p, "self.") && ev.fn.Class != nil {
		ev.f.attr(ev.fn.Class.Qual, p[len("self."):], v)
	}
}

func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// named is what a name says of a value that is not known otherwise: a loss,
// if its backward is called, or what people call models and loaders so.
func (ev *evaluator) named(path string, from pyast.Expr) Value {
	if ev.fn.backwarded[path] {
		return Value{Kind: Tensor, Grad: ev.mode.grad, Loss: true, Origin: from}
	}
	if _, call := from.(*pyast.Call); !call {
		return Value{}
	}
	v := ev.fn.hint(path)
	if v.Kind == Number {
		return Value{}
	}
	v.Origin = from
	return v
}

// freeze takes "for p in model.parameters(): p.requires_grad = False" as the
// freezing of the model.
func (ev *evaluator) freeze(path string, value pyast.Expr) {
	k, ok := value.(*pyast.Constant)
	if !ok || k.Kind != pyast.False || len(ev.loops) == 0 {
		return
	}
	l := ev.loops[len(ev.loops)-1]
	if l.Target == nil || !within(path, pathsIn(l.Target)) {
		return
	}
	c, ok := l.Iter.(*pyast.Call)
	if !ok {
		return
	}
	if a, ok := c.Func.(*pyast.Attribute); ok && (a.Attr == "parameters" || a.Attr == "named_parameters") {
		if p := pyast.Path(a.Value); p != "" {
			v := ev.load(a.Value)
			if v.Kind == Unknown {
				v.Kind = Module
			}
			v.Frozen = true
			ev.set(p, v)
			if strings.HasPrefix(p, "self.") && ev.fn.Class != nil {
				ev.f.attr(ev.fn.Class.Qual, p[len("self."):], v)
			}
		}
	}
}

func within(s string, list []string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// grown is a container after something was put into it.
func grown(c, v Value) Value {
	e := forgetDeep(v)
	if c.Elem != nil {
		e = joinElem(*c.Elem, e)
	}
	c.Elem = &e
	if c.Kind == TupleKind {
		c.Kind, c.Items = ListKind, nil
	}
	return c
}

// forgetDeep bounds how deep containers of containers are followed.
func forgetDeep(v Value) Value {
	if v.Elem != nil && v.Elem.Elem != nil {
		e := *v.Elem
		e.Elem, e.Items = nil, nil
		v.Elem = &e
	}
	return v
}

// maxLoops is how deep loops are run twice; deeper ones run once.
const maxLoops = 4

func (ev *evaluator) loop(l *Loop, orElse []pyast.Stmt) {
	if l == nil {
		return
	}
	var over Value
	if l.Iter != nil {
		over = ev.expr(l.Iter)
		l.Over = behind(over)
		l.data = l.data || l.Over.Kind == Loader
	}
	ev.loops = append(ev.loops, l)
	rounds := 2
	if len(ev.loops) > maxLoops {
		rounds = 1
	}
	for range rounds {
		left := ev.branch(func() {
			if l.Target != nil {
				ev.bind(l.Target, over.element(), nil)
			} else if w, ok := l.Node.(*pyast.While); ok {
				ev.expr(w.Test)
			}
			ev.block(l.Body)
			ev.dead = false
		})
		ev.merge(map[string]Value{}, left)
	}
	ev.loops = ev.loops[:len(ev.loops)-1]
	ev.block(orElse)
}

// behind is the loader in what enumerate, zip or tqdm made of it.
func behind(v Value) Value {
	if v.Kind == ListKind && v.Elem != nil && v.Elem.Kind == TupleKind {
		for _, x := range v.Elem.Items {
			if x.Batch {
				return Value{Kind: Loader, Origin: v.Origin, Place: x.Place}
			}
		}
	}
	return v
}

func (ev *evaluator) with(s *pyast.With) {
	before := ev.mode
	for _, item := range s.Items {
		v := ev.expr(item.Context)
		ev.f.values[item.ID()] = v
		if v.Kind == Context {
			switch v.Class {
			case "no_grad":
				ev.mode.grad = No
			case "grad":
				ev.mode.grad = Yes
			case "maybe_grad":
				ev.mode.grad = Maybe
			case "autocast":
				ev.mode.autocast = true
			}
		}
		if item.Target != nil {
			ev.bind(item.Target, v, nil)
		}
	}
	ev.block(s.Body)
	ev.mode = before
}

func (ev *evaluator) try(s *pyast.Try) {
	body := ev.branch(func() { ev.block(s.Body); ev.block(s.Else) })
	branches := []map[string]Value{body}
	for _, h := range s.Handlers {
		ev.f.modes[h.ID()] = ev.mode
		branches = append(branches, ev.branch(func() {
			if body != nil {
				ev.merge(map[string]Value{}, body)
			}
			ev.maybe(h.Type)
			ev.block(h.Body)
		}))
	}
	ev.merge(branches...)
	ev.block(s.Finally)
}
