package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// A callArgs is a call with its arguments' values, in order, keywords after
// positions.
type callArgs struct {
	node   *pyast.Call
	values []Value
	names  []string // of the keywords
}

func (a callArgs) at(i int) Value {
	if i < len(a.values)-len(a.names) {
		return a.values[i]
	}
	return Value{}
}

func (a callArgs) named(name string) (Value, bool) {
	for i, n := range a.names {
		if n == name {
			return a.values[len(a.values)-len(a.names)+i], true
		}
	}
	return Value{}, false
}

func (ev *evaluator) call(c *pyast.Call) Value {
	// The receiver first: its value is what a method works on.
	var receiver Value
	attr, method := c.Func.(*pyast.Attribute)
	callee := ev.expr(c.Func)
	if method {
		receiver = ev.f.values[attr.Value.ID()]
	}
	a := callArgs{node: c}
	for _, x := range c.Args {
		a.values = append(a.values, ev.expr(x))
	}
	for _, k := range c.Keywords {
		v := ev.expr(k.Value)
		ev.f.values[k.ID()] = v
		if k.Name != "" {
			a.values, a.names = append(a.values, v), append(a.names, k.Name)
		}
	}
	ev.reaches(c, receiver)
	v := ev.result(c, callee, receiver, a)
	if v.Origin == nil {
		v.Origin = c
	}
	return v
}

func (ev *evaluator) result(c *pyast.Call, callee, receiver Value, a callArgs) Value {
	if callee.Kind == FuncKind || callee.Kind == ClassKind {
		return ev.named2(callee, a)
	}
	if attr, ok := c.Func.(*pyast.Attribute); ok && receiver.Kind != Unknown || ok && receiver.Class != "" {
		if v, ok := ev.method(receiver, attr, a); ok {
			return v
		}
	}
	switch callee.Kind {
	case Module:
		return ev.forward(callee, a)
	case Criterion:
		return Value{Kind: Tensor, Loss: true, Grad: ev.limit(lossGrad(a)), Place: placeJoin(a.values...)}
	case Tokenizer:
		return Value{Kind: Tensor, Grad: No, Place: CPU}
	}
	if n, ok := c.Func.(*pyast.Name); ok {
		if v, ok := ev.builtin(n.Ident, a); ok {
			return v
		}
	}
	return ev.guess(c, a)
}

// guess is what a call that is not known gives, by its name: a loss from
// something with a graph, a context.
func (ev *evaluator) guess(c *pyast.Call, a callArgs) Value {
	name := ""
	switch callee := c.Func.(type) {
	case *pyast.Name:
		name = callee.Ident
	case *pyast.Attribute:
		name = callee.Attr
	}
	lower := strings.ToLower(name)
	if strings.Contains(lower, "autocast") {
		return Value{Kind: Context, Class: "autocast"}
	}
	if strings.Contains(lower, "no_grad") || strings.Contains(lower, "inference_mode") {
		return Value{Kind: Context, Class: "no_grad"}
	}
	if strings.Contains(lower, "loss") && gradOf(a.values...) == Yes {
		return Value{Kind: Tensor, Loss: true, Grad: ev.limit(Yes), Place: placeJoin(a.values...)}
	}
	return Value{}
}

// lossGrad is whether a loss of these arguments has a graph.
func lossGrad(a callArgs) Tri {
	if g := gradOf(a.values...); g == Yes || g == No && len(a.values) > 0 {
		return g
	}
	return Maybe
}

// forward calls a model.
func (ev *evaluator) forward(m Value, a callArgs) Value {
	ev.mark(func(l *LoopFacts, fn *Facts) {
		if l != nil {
			l.Forward = true
		}
		fn.Forward = true
	})
	place := m.Place
	if place == Anywhere && (placeJoin(a.values...) == GPU || ev.fn.hooked) {
		place = GPU
	}
	if m.Class != "" {
		if v := ev.project(m.Class+".forward", a); v.Kind == Tensor || v.Kind == TupleKind {
			return placed(v, place)
		}
	}
	g := Yes
	if m.Frozen {
		g = gradOf(a.values...)
		if g != Yes {
			g = No
		}
	}
	return Value{Kind: Tensor, Grad: ev.limit(g), Place: place}
}

// placed is v with its tensors at a place, where theirs is not known.
func placed(v Value, place Place) Value {
	if v.Kind == Tensor && v.Place == Anywhere {
		v.Place = place
	}
	if v.Items != nil {
		items := make([]Value, len(v.Items))
		for i, x := range v.Items {
			items[i] = placed(x, place)
		}
		v.Items = items
	}
	return v
}

// mark changes the facts of the function and of the loops around.
func (ev *evaluator) mark(f func(*LoopFacts, *Facts)) {
	f(nil, ev.fn.Facts)
	for _, l := range ev.loops {
		f(l.LoopFacts, ev.fn.Facts)
	}
}

// reaches notes calls of backward and of an optimizer's step.
func (ev *evaluator) reaches(c *pyast.Call, receiver Value) {
	a, ok := c.Func.(*pyast.Attribute)
	if !ok {
		return
	}
	if a.Attr != "" && a.Attr[0] >= 'A' && a.Attr[0] <= 'Z' && strings.HasSuffix(pyast.Path(a.Value), ".optim") {
		ev.fn.builds = true // also where torch is a parameter
	}
	switch a.Attr {
	case "backward", "manual_backward":
		if receiver.Kind == FuncKind || ev.fn.Class != nil && ev.fn.Name == "backward" && receiver.Kind == Unknown {
			return
		}
		ev.mark(func(l *LoopFacts, fn *Facts) {
			if l != nil {
				l.Backward = true
			}
			fn.Backward = true
		})
	case "minimize":
		if len(c.Args) == 0 {
			return
		}
	case "step":
		first := Value{}
		if len(c.Args) > 0 {
			first = ev.f.values[c.Args[0].ID()]
		}
		if receiver.Kind == Optimizer || receiver.Kind == Scaler && first.Kind == Optimizer {
			ev.mark(func(l *LoopFacts, fn *Facts) {
				if l != nil {
					l.Steps = true
				}
				fn.Steps = true
			})
		}
	}
}

// named2 calls a function or class by qualified name.
func (ev *evaluator) named2(callee Value, a callArgs) Value {
	q := callee.Class
	if strings.HasPrefix(q, ".") {
		return ev.project(q, a)
	}
	ev.notes(q, a)
	if q == "functools.partial" && len(a.values) > 0 {
		return Value{Kind: a.values[0].Kind, Class: a.values[0].Class}
	}
	if v, ok := contextFor(q, a.node, ev); ok {
		return v
	}
	if v := ev.instance(q, &a); v.Kind != Unknown {
		ev.fn.builds = ev.fn.builds || v.Kind == Optimizer
		return v
	}
	ev.fn.builds = ev.fn.builds || q == "deepspeed.initialize"
	v := ev.torch(q, a)
	if v.Kind == Unknown && callee.Kind == ClassKind {
		v.Class = q // TrainingArguments and the like
	}
	return v
}

// project calls a function of the project, or makes an instance of its class.
func (ev *evaluator) project(q string, a callArgs) Value {
	q = ev.p.follow(q)
	var init Value
	if class := ev.p.classes[q]; class != nil || ev.f.classNamed(q) != nil {
		init = ev.instance(q, &a)
	}
	loop := (*LoopFacts)(nil)
	if len(ev.loops) > 0 {
		loop = ev.loops[len(ev.loops)-1].LoopFacts
	}
	site := callSite{callee: q, loop: loop, gradOff: ev.mode.grad == No}
	for i := len(ev.loops) - 1; i >= 0; i-- {
		site.seldom = append(site.seldom, !Always(ev.f.Guards(a.node, ev.loops[i].Node)))
	}
	around := pyast.Node(ev.f.Module)
	if ev.fn.Node != nil {
		around = ev.fn.Node
	}
	guards := ev.f.Guards(a.node, around)
	site.seldom, site.needs = append(site.seldom, !Always(guards)), ev.fn.needed(guards)
	for _, v := range a.values {
		site.args = append(site.args, forget(v, 1))
	}
	site.names = a.names
	ev.fn.calls = append(ev.fn.calls, site)
	callee := ev.p.funcs[ev.p.callee(q)]
	if init.Kind != Unknown || callee == nil {
		return init
	}
	reach(ev.fn.Facts, callee, loop)
	if init.Class != "" {
		return init // what __init__ returns is not what the call gives
	}
	v := callee.returns
	switch {
	case ev.mode.grad != Yes:
		v = stripped(v)
	case gradOf(a.values...) == Yes:
		v = graphed(v)
	}
	v.Origin = a.node
	return v
}

// classNamed is the class of this file with a qualified name.
func (f *File) classNamed(q string) *Class {
	for _, c := range f.Classes {
		if c.Qual == q {
			return c
		}
	}
	return nil
}

// instance is an instance of a class by qualified name.
func (ev *evaluator) instance(q string, a *callArgs) Value {
	var args callArgs
	if a != nil {
		args = *a
	}
	if strings.HasPrefix(q, ".") {
		q = ev.p.follow(q)
		if ev.isModule(q) || ev.localBase(q, moduleBases) {
			kind := Module
			if strings.HasSuffix(q, "Loss") || strings.HasSuffix(q, "Criterion") {
				kind = Criterion
			}
			return Value{Kind: kind, Class: q}
		}
		for _, b := range bases {
			if ev.p.Is(q, b.base) || ev.localBase(q, []string{b.base}) {
				return Value{Kind: b.kind, Class: q}
			}
		}
		if ev.p.classes[q] != nil || ev.f.classNamed(q) != nil {
			return Value{Class: q}
		}
		return Value{}
	}
	if isTokenizer(q) {
		return Value{Kind: Tokenizer, Class: q}
	}
	if make, ok := makers[q]; ok {
		v := make(ev, args)
		if v.Class == "" {
			v.Class = q
		}
		return v
	}
	name := last(q)
	for _, m := range makerPrefixes {
		if strings.HasPrefix(q, m.prefix) && (!m.class || name != "" && name[0] >= 'A' && name[0] <= 'Z') && (m.suffix == "" || strings.HasSuffix(name, m.suffix)) {
			return Value{Kind: m.kind, Class: q}
		}
	}
	return Value{}
}

// localBase is isModule for classes of this file that the project has not been
// told of yet.
func (ev *evaluator) localBase(q string, bases []string) bool {
	for range 6 {
		c := ev.f.classNamed(q)
		if c == nil {
			return false
		}
		next := ""
		for _, b := range c.Bases {
			if within(b, bases) {
				return true
			}
			if strings.HasPrefix(b, ".") {
				next = b
				if ev.p.classes[b] != nil {
					for _, base := range bases {
						if ev.p.Is(b, base) {
							return true
						}
					}
				}
			}
		}
		q = next
	}
	return false
}
