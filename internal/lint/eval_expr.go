package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// expr evaluates an expression and notes its value.
func (ev *evaluator) expr(e pyast.Expr) Value {
	v := ev.value(e)
	ev.f.values[e.ID()] = v
	return v
}

func (ev *evaluator) value(e pyast.Expr) Value {
	switch e := e.(type) {
	case *pyast.Name, *pyast.Attribute:
		return ev.load(e)
	case *pyast.Constant:
		return constant(e)
	case *pyast.FString:
		for _, p := range e.Parts {
			ev.expr(p)
		}
		return Value{Kind: Number}
	case *pyast.Call:
		ev.f.modes[e.ID()] = ev.mode
		return ev.call(e)
	case *pyast.Subscript:
		v := ev.expr(e.Value)
		for _, i := range e.Index {
			ev.expr(i)
		}
		return indexed(v, e)
	case *pyast.BinOp:
		v := ev.binary(ev.expr(e.Left), ev.expr(e.Right))
		if v.Kind == Tensor {
			v.Origin = e
		}
		return v
	case *pyast.BoolOp:
		return join(ev.expr(e.Left), ev.expr(e.Right))
	case *pyast.Unary:
		v := ev.expr(e.Operand)
		if e.Op == "not" {
			return Value{Kind: Number}
		}
		return v
	case *pyast.Compare:
		return ev.compare(e)
	case *pyast.IfExp:
		ev.expr(e.Test)
		return join(ev.expr(e.Body), ev.expr(e.Else))
	default:
		return ev.display(e)
	}
}

func constant(e *pyast.Constant) Value {
	switch e.Kind {
	case pyast.None:
		return Value{Kind: NoneValue}
	case pyast.String:
		return Value{Kind: Number, Place: placeOf(e.Str)}
	}
	return Value{Kind: Number}
}

// placeOf is where a device's name points.
func placeOf(s string) Place {
	switch {
	case s == "cpu":
		return CPU
	case strings.HasPrefix(s, "cuda"), s == "mps", s == "gpu", s == "xla", s == "hpu", s == "npu", s == "xpu":
		return GPU
	}
	return Anywhere
}

// indexed is an element or slice of v.
func indexed(v Value, e *pyast.Subscript) Value {
	if v.Kind == TupleKind && len(e.Index) == 1 {
		if k, ok := e.Index[0].(*pyast.Constant); ok && len(k.Text) == 1 && k.Text[0] >= '0' && int(k.Text[0]-'0') < len(v.Items) {
			return v.Items[k.Text[0]-'0']
		}
	}
	if len(e.Index) == 1 {
		if _, slice := e.Index[0].(*pyast.Slice); slice && (v.Kind == ListKind || v.Kind == Loader || v.Kind == DatasetKind) {
			return v
		}
		if k, ok := e.Index[0].(*pyast.Constant); ok && v.Kind == Tensor && strings.Contains(k.Str, "loss") {
			v.Loss = true
		}
	}
	if v.Kind == Module {
		return Value{Kind: Module, Place: v.Place, Frozen: v.Frozen}
	}
	return v.element()
}

// load is a name's or an attribute's value.
func (ev *evaluator) load(e pyast.Expr) Value {
	path := pyast.Path(e)
	if path != "" {
		if v, ok := ev.get(path); ok {
			if a, isAttr := e.(*pyast.Attribute); isAttr {
				ev.expr(a.Value)
			}
			return v
		}
	}
	switch e := e.(type) {
	case *pyast.Name:
		return ev.free(e)
	case *pyast.Attribute:
		if q := ev.f.Qual(e); q != "" && !ev.bound(e) {
			return ev.qualified(q)
		}
		base := ev.expr(e.Value)
		return ev.attribute(base, e)
	case *pyast.Subscript, *pyast.List, *pyast.Starred:
		return ev.expr(e)
	}
	return Value{}
}

// bound reports whether the first name of a path is a variable here, which
// hides an import of that name.
func (ev *evaluator) bound(e pyast.Expr) bool {
	first, _ := cut(pyast.Path(e))
	v, ok := ev.get(first)
	return ok && v.Kind != FuncKind && v.Kind != ClassKind
}

// free is a name that no function around binds.
func (ev *evaluator) free(e *pyast.Name) Value {
	if q := ev.f.Qual(e); q != "" {
		return ev.qualified(q)
	}
	if ev.fn.backwarded[e.Ident] {
		return Value{Kind: Tensor, Grad: Yes, Loss: true}
	}
	return ev.fn.hint(e.Ident)
}

// qualified is what an imported name is.
func (ev *evaluator) qualified(q string) Value {
	if strings.HasPrefix(q, ".") {
		q = ev.p.follow(q)
		if ev.p.classes[q] != nil {
			return Value{Kind: ClassKind, Class: q}
		}
		if ev.p.funcs[q] != nil {
			return Value{Kind: FuncKind, Class: q}
		}
		if len(ev.p.funcs) == 0 { // the first reading: what calls what is noted, known later
			return unread(q)
		}
		return ev.p.globals[q]
	}
	if v, ok := constants[q]; ok {
		return v
	}
	if strings.HasPrefix(q, "torch.nn.functional.") {
		return Value{Kind: FuncKind, Class: q}
	}
	if n := last(q); n != "" && n[0] >= 'A' && n[0] <= 'Z' {
		return Value{Kind: ClassKind, Class: q}
	}
	return Value{Kind: FuncKind, Class: q}
}

// unread is a name of a file of the project that is not read yet, by how it is
// written: a class, a constant, a function.
func unread(q string) Value {
	name := last(q)
	switch {
	case name == "" || name == strings.ToUpper(name):
		return Value{}
	case name[0] >= 'A' && name[0] <= 'Z':
		return Value{Kind: ClassKind, Class: q}
	}
	return Value{Kind: FuncKind, Class: q}
}

func (ev *evaluator) attribute(base Value, e *pyast.Attribute) Value {
	if base.Class != "" && (base.Kind == Module || base.Kind == Unknown || base.Kind == DatasetKind) {
		if v, ok := ev.f.attrs[base.Class][e.Attr]; ok {
			if v.Kind == Unknown && v.Class == "" {
				return ev.fn.hint(pyast.Path(e))
			}
			return v
		}
		if v := ev.p.attr(base.Class, e.Attr, 0); v.Kind != Unknown {
			return v
		}
		if base.Kind == Module && !moduleAttrs[e.Attr] || base.Kind == Unknown {
			return ev.fn.hint(pyast.Path(e))
		}
	}
	switch base.Kind {
	case Tensor:
		switch {
		case plainAttrs[e.Attr]:
			return Value{Kind: Number}
		case e.Attr == "grad" || e.Attr == "data":
			base.Grad = No
		case strings.Contains(e.Attr, "loss"):
			base.Loss = true
		}
		return base
	case Module:
		if v := hint(e.Attr); v.Kind == Module || v.Kind == Criterion {
			v.Place, v.Frozen = base.Place, base.Frozen
			return v
		}
		if e.Attr == "module" {
			return base
		}
		return Value{}
	case Unknown:
		return ev.fn.hint(pyast.Path(e))
	case Loader:
		if e.Attr == "dataset" {
			return Value{Kind: DatasetKind}
		}
	}
	return Value{}
}

// binary is the value of an arithmetic operation.
func (ev *evaluator) binary(a, b Value) Value {
	if a.Kind != Tensor && b.Kind != Tensor {
		if a.Kind == b.Kind && (a.Kind == Number || a.Kind == Array || a.Kind == ListKind) {
			return join(a, b)
		}
		if a.Kind == Array || b.Kind == Array {
			return Value{Kind: Array}
		}
		if a.Kind == Number && b.Kind == Module || a.Kind == Module {
			return Value{}
		}
		return Value{}
	}
	v := Value{Kind: Tensor, Grad: ev.limit(gradOf(a, b)), Place: placeJoin(a, b), Loss: a.Loss || b.Loss}
	return v
}

// gradOf is whether something computed from values has a graph.
func gradOf(vs ...Value) Tri {
	g := No
	for _, v := range vs {
		if v.Kind == ListKind || v.Kind == TupleKind {
			v = v.element()
		}
		switch {
		case v.Kind == Tensor && v.Grad == Yes:
			return Yes
		case v.Kind == Unknown, v.Kind == Tensor && v.Grad == Maybe, v.Kind == Module:
			g = Maybe
		}
	}
	return g
}

func placeJoin(vs ...Value) Place {
	p := CPU
	for _, v := range vs {
		if v.Kind == ListKind || v.Kind == TupleKind {
			v = v.element()
		}
		if v.Kind == Number || v.Kind == NoneValue {
			continue
		}
		if v.Place == GPU {
			return GPU
		}
		if v.Place == Anywhere {
			p = Anywhere
		}
	}
	return p
}

// limit is a graph under the present mode.
func (ev *evaluator) limit(g Tri) Tri {
	switch ev.mode.grad {
	case No:
		return No
	case Maybe:
		if g == Yes {
			return Maybe
		}
	}
	return g
}

func (ev *evaluator) compare(e *pyast.Compare) Value {
	tensor := Value{Kind: Number}
	var all []Value
	for _, o := range e.Operands {
		v := ev.expr(o)
		all = append(all, v)
		if v.Kind == Tensor && e.Ops[0] != "is" && e.Ops[0] != "is not" && e.Ops[0] != "in" && e.Ops[0] != "not in" {
			tensor = Value{Kind: Tensor, Grad: No}
		}
	}
	if tensor.Kind == Tensor {
		tensor.Place = placeJoin(all...)
	}
	return tensor
}

func (ev *evaluator) display(e pyast.Expr) Value {
	switch e := e.(type) {
	case *pyast.List:
		v := Value{Kind: ListKind}
		if e.Kind == "tuple" {
			v = Value{Kind: TupleKind}
		}
		for i, x := range e.Elts {
			item := ev.expr(x)
			switch {
			case v.Kind == TupleKind:
				v.Items = append(v.Items, forgetDeep(item))
			case i < 64:
				v = grown(v, item)
			}
		}
		return v
	case *pyast.Dict:
		v := Value{Kind: ListKind}
		for i, x := range e.Values {
			if e.Keys[i] != nil {
				ev.expr(e.Keys[i])
			}
			if item := ev.expr(x); i < 64 {
				v = grown(v, item)
			}
		}
		return v
	case *pyast.Comp:
		return ev.comp(e)
	case *pyast.Starred:
		return ev.expr(e.Value)
	case *pyast.Await:
		return ev.expr(e.Value)
	case *pyast.Yield:
		if e.Value != nil {
			ev.expr(e.Value)
		}
	case *pyast.Walrus:
		v := ev.expr(e.Value)
		ev.bind(e.Target, v, e.Value)
		return v
	case *pyast.Slice:
		for _, p := range e.Parts {
			ev.expr(p)
		}
		return Value{Kind: Number}
	case *pyast.Lambda:
		left := ev.branch(func() {
			for _, p := range e.Params {
				ev.set(p.Name, Value{})
			}
			ev.expr(e.Body)
		})
		_ = left
		return Value{Kind: FuncKind}
	case *pyast.Keyword:
		return ev.expr(e.Value)
	}
	return Value{}
}

func (ev *evaluator) comp(e *pyast.Comp) Value {
	v := Value{Kind: ListKind}
	loader, ran := false, ev.fn.Forward
	ev.fn.Forward = false
	ev.branch(func() {
		for _, c := range e.Clauses {
			over := ev.expr(c.Iter)
			loader = loader || behind(over).Kind == Loader
			ev.bind(c.Target, over.element(), nil)
			for _, t := range c.Ifs {
				ev.expr(t)
			}
		}
		if e.Key != nil {
			ev.expr(e.Key)
		}
		v = grown(v, ev.expr(e.Elt))
	})
	ev.fn.sweeps = ev.fn.sweeps || loader && ev.fn.Forward
	ev.fn.Forward = ev.fn.Forward || ran
	return v
}
