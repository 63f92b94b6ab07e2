package lint

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/pyast"
)

// A Loop is a for or while statement.
type Loop struct {
	Node   pyast.Stmt // *pyast.For or *pyast.While
	Body   []pyast.Stmt
	Target pyast.Expr // nil for while
	Iter   pyast.Expr // nil for while
	Over   Value      // what it iterates over; a Loader behind enumerate, zip or tqdm counts as itself
	Func   *Func
	Outer  *Loop // the loop around it in the same function, or nil
	*LoopFacts
}

func (f *File) addLoop(s pyast.Stmt, fn *Func, outer *Loop) *Loop {
	l := &Loop{Node: s, Func: fn, Outer: outer, LoopFacts: &LoopFacts{fn: fn.Facts}}
	if outer != nil {
		l.outer = outer.LoopFacts
	}
	switch s := s.(type) {
	case *pyast.For:
		l.Target, l.Iter, l.Body = s.Target, s.Iter, s.Body
		l.named = strings.Contains(strings.ToLower(pyast.Path(s.Target)), "epoch")
	case *pyast.While:
		l.Body = s.Body
	}
	fn.loops = append(fn.loops, l.LoopFacts)
	f.Loops = append(f.Loops, l)
	f.loops[s] = l
	return l
}

// LoopOf is the innermost loop whose body n is in, within n's function, or nil.
func (f *File) LoopOf(n pyast.Node) *Loop {
	child := n
	for n = n.Parent(); n != nil; child, n = n, n.Parent() {
		switch s := n.(type) {
		case *pyast.FuncDef, *pyast.ClassDef, *pyast.Lambda:
			return nil
		case *pyast.For:
			if inBody(s.Body, child) {
				return f.loops[s]
			}
		case *pyast.While:
			if child == pyast.Node(s.Test) || inBody(s.Body, child) {
				return f.loops[s]
			}
		}
	}
	return nil
}

func inBody(body []pyast.Stmt, n pyast.Node) bool {
	if len(body) == 0 {
		return false
	}
	s := n.Span().Start
	return s >= body[0].Span().Start && s < max(body[len(body)-1].Span().End, body[0].Span().Start+1)
}

// StepOf tells whether n runs each training step: it is in a step loop, behind
// no condition that holds only at times (see Guards), or in a function that
// runs each step. loop is the loop, or nil where only the function is hot.
func (f *File) StepOf(n pyast.Node) (loop *Loop, hot bool) {
	for l := f.LoopOf(n); l != nil; l = l.Outer {
		if l.Epoch() {
			return nil, false
		}
		if l.Step() {
			return l, Always(f.Guards(n, l.Node))
		}
	}
	fn := f.FuncOf(n)
	if fn.Node == nil || !fn.Hot {
		return nil, false
	}
	return nil, Always(f.Guards(n, fn.Node))
}

// A GuardKind says when a guarded statement runs.
type GuardKind uint8

// The kinds of guards, the rarer the later.
const (
	Setting  GuardKind = iota // holds in every step or in none
	Certain                   // a test of types or None: as good as always
	Rank                      // in one process only
	Periodic                  // every so many steps
	First                     // in one step only
	Rare                      // an exception's handler, or a way out of the loop
	Data                      // anything else
)

// A Guard is a condition between a node and a loop or function around it.
type Guard struct {
	Kind GuardKind
	Node pyast.Node // the condition, or the handler
}

// Always reports whether guards leave a node in every step: there are none, or
// only checks, settings and tests of the rank.
func Always(gs []Guard) bool {
	for _, g := range gs {
		if g.Kind > Rank {
			return false
		}
	}
	return true
}

// Guards lists the conditions under which n runs in each round of around (a
// loop's or a function's node), innermost first.
func (f *File) Guards(n pyast.Node, around pyast.Node) []Guard {
	var out []Guard
	child := n
	for p := n.Parent(); p != nil && child != around; child, p = p, p.Parent() {
		if s, ok := child.(pyast.Stmt); ok {
			out = append(out, f.leavesBefore(p, s)...)
		}
		switch s := p.(type) {
		case *pyast.If:
			if child == pyast.Node(s.Test) {
				break
			}
			in := s.Body
			if !inBody(s.Body, child) {
				in = s.Else
			}
			kind := f.classify(s.Test, !inBody(s.Body, child))
			if kind < Periodic && inBody(s.Body, child) && moved(s) {
				kind = Periodic
			}
			out = append(out, Guard{kind, s.Test})
			if leaves(in) {
				out = append(out, Guard{Rare, s})
			}
		case *pyast.IfExp:
			if child != pyast.Node(s.Test) {
				out = append(out, Guard{f.classify(s.Test, child == pyast.Node(s.Else)), s.Test})
			}
		case *pyast.BoolOp:
			if child == pyast.Node(s.Right) {
				out = append(out, Guard{f.classify(s.Left, s.Op == "or"), s.Left})
			}
		case *pyast.Handler:
			out = append(out, Guard{Rare, s})
		case *pyast.Case:
			out = append(out, Guard{Data, s})
		case *pyast.For:
			if p != around && inBody(s.Else, child) {
				out = append(out, Guard{Rare, s})
			}
		}
	}
	return out
}

// leavesBefore finds "if test: continue" (or return, break, raise) in front of
// a statement of its block: the statement runs where the test does not hold.
func (f *File) leavesBefore(block pyast.Node, s pyast.Stmt) []Guard {
	var out []Guard
	switch block.(type) {
	case *pyast.Module, *pyast.ClassDef:
		return nil
	}
	pyast.Children(block, func(c pyast.Node) {
		i, ok := c.(*pyast.If)
		if !ok || i.Span().Start >= s.Span().Start || len(i.Else) > 0 || !leaves(i.Body) || !sameBlock(block, i, s) {
			return
		}
		kind := f.classify(i.Test, true)
		if _, raises := i.Body[len(i.Body)-1].(*pyast.Raise); raises || f.asksFinite(i.Test) {
			kind = min(kind, Certain) // what all is well for
		}
		out = append(out, Guard{kind, i.Test})
	})
	return out
}

// asksFinite reports whether a test is about values that are not finite.
func (f *File) asksFinite(test pyast.Expr) bool {
	found := false
	Each(test, func(c *pyast.Call) {
		path := pyast.Path(c.Func)
		switch path[strings.LastIndexByte(path, '.')+1:] {
		case "isnan", "isinf", "isfinite":
			found = true
		}
	})
	return found
}

// moved reports whether the body of an if assigns a name that a comparison of
// its test asks for: "if step >= due: due += 100" holds at times.
func moved(s *pyast.If) bool {
	c, ok := s.Test.(*pyast.Compare)
	if !ok {
		return false
	}
	found := false
	note := func(t pyast.Expr) {
		for _, o := range c.Operands {
			found = found || pyast.Path(o) != "" && pyast.Path(o) == pyast.Path(t)
		}
	}
	for _, x := range s.Body {
		switch x := x.(type) {
		case *pyast.Assign:
			for _, t := range x.Targets {
				note(t)
			}
		case *pyast.AugAssign:
			note(x.Target)
		}
	}
	return found
}

// sameBlock reports whether two children of a statement are in the same of its
// blocks.
func sameBlock(block pyast.Node, a, b pyast.Stmt) bool {
	switch s := block.(type) {
	case *pyast.If:
		return inBody(s.Body, a) == inBody(s.Body, b)
	case *pyast.For:
		return inBody(s.Body, a) == inBody(s.Body, b)
	case *pyast.While:
		return inBody(s.Body, a) == inBody(s.Body, b)
	case *pyast.Try:
		return inBody(s.Body, a) == inBody(s.Body, b)
	}
	return true
}

// leaves reports whether a block ends by leaving the loop's round.
func leaves(body []pyast.Stmt) bool {
	if len(body) == 0 {
		return false
	}
	switch s := body[len(body)-1].(type) {
	case *pyast.Return, *pyast.Raise:
		return true
	case *pyast.Simple:
		return s.Word == "break" || s.Word == "continue"
	}
	return false
}

// periodic judges tests of counters: i % n == 0, i == 0, i in marks.
func periodic(test pyast.Expr, negated bool) (GuardKind, bool) {
	modulo := false
	pyast.Walk(test, func(n pyast.Node) bool {
		if b, ok := n.(*pyast.BinOp); ok && b.Op == "%" {
			if _, text := b.Left.(*pyast.Constant); !text {
				modulo = true
			}
		}
		return true
	})
	c, ok := test.(*pyast.Compare)
	if modulo {
		_, bare := test.(*pyast.BinOp) // "if i % n:" is "if i % n != 0:"
		if (bare || everyRest(c)) != negated {
			return Certain, true // all but every n-th
		}
		return Periodic, true
	}
	if !ok || len(c.Ops) != 1 {
		return 0, false
	}
	if !counter(c.Operands[0]) && !counter(c.Operands[1]) {
		return 0, false
	}
	switch c.Ops[0] {
	case "==":
		if negated {
			return Certain, true
		}
		return First, true
	case "!=":
		if negated {
			return First, true
		}
		return Certain, true
	case "in", "not in":
		if (c.Ops[0] == "in") != negated {
			return Periodic, true
		}
		return Certain, true
	}
	if early(c) != negated && (c.Ops[0] == "<" || c.Ops[0] == "<=" || c.Ops[0] == ">" || c.Ops[0] == ">=") && few(c) {
		return First, true
	}
	return Certain, true // before or after some step
}

// early reports whether a comparison of a counter with a limit holds below it.
func early(c *pyast.Compare) bool {
	below := c.Ops[0] == "<" || c.Ops[0] == "<="
	return counter(c.Operands[0]) == below
}

// few reports whether a comparison is with a number of one or two digits: some
// steps of the many that a training has.
func few(c *pyast.Compare) bool {
	for _, o := range c.Operands {
		if k, ok := o.(*pyast.Constant); ok && k.Kind == pyast.Int && len(k.Text) <= 2 {
			return true
		}
	}
	return false
}

// everyRest reports whether a test of a remainder holds in most steps: % n != 0,
// or % n > 0.
func everyRest(c *pyast.Compare) bool {
	return c != nil && len(c.Ops) == 1 && (c.Ops[0] == "!=" || c.Ops[0] == ">")
}

var counters = map[string]bool{
	"i": true, "j": true, "k": true, "n": true, "it": true, "idx": true, "iter": true, "iteration": true, "iterations": true,
	"step": true, "steps": true, "batch_idx": true, "batch_index": true, "batch_i": true, "global_step": true, "count": true,
	"epoch": true, "counter": true, "n_iter": true, "cur_iter": true, "current_step": true, "iter_num": true, "num_updates": true,
}

func counter(e pyast.Expr) bool {
	p := pyast.Path(e)
	if i := strings.LastIndexByte(p, '.'); i >= 0 {
		p = p[i+1:]
	}
	return counters[p] || strings.HasSuffix(p, "_step") || strings.HasSuffix(p, "_iter")
}

var rankWords = []string{"rank", "is_main", "is_master", "master_process", "is_local_main", "is_world", "is_global_zero", "is_root", "is_primary"}

// classifyWords judges a test by what it names.
func classifyWords(test pyast.Expr, negated bool) GuardKind {
	kind := Setting
	calls := false
	pyast.Walk(test, func(n pyast.Node) bool {
		switch n := n.(type) {
		case *pyast.Name, *pyast.Attribute:
			p := strings.ToLower(pyast.Path(n.(pyast.Expr)))
			last := p[strings.LastIndexByte(p, '.')+1:]
			for _, w := range rankWords {
				if strings.Contains(p, w) {
					kind = Rank
				}
			}
			if (strings.Contains(last, "debug") || strings.Contains(last, "profil")) && !negated {
				kind = Rare
			}
			return p == ""
		case *pyast.Call:
			name := pyast.Path(n.Func)
			last := name[strings.LastIndexByte(name, '.')+1:]
			switch last {
			case "isinstance", "hasattr", "callable", "is_available", "len", "getattr", "get", "get_rank", "is_main_process", "is_initialized":
			default:
				calls = true
			}
		case *pyast.Subscript:
			calls = true
		}
		return true
	})
	if calls && kind == Setting {
		return Data
	}
	if c, ok := test.(*pyast.Compare); ok && kind == Setting {
		return compareKind(c)
	}
	return kind
}

// compareKind judges a comparison without calls: with None or a text it is a
// check, with a number it is about data.
func compareKind(c *pyast.Compare) GuardKind {
	for _, o := range c.Operands[1:] {
		k, ok := o.(*pyast.Constant)
		if !ok {
			continue
		}
		switch k.Kind {
		case pyast.None, pyast.String, pyast.True, pyast.False:
			return Certain
		}
	}
	setting := func(e pyast.Expr) bool {
		p := pyast.Path(e)
		return strings.Contains(p, "args.") || strings.Contains(p, "cfg.") || strings.Contains(p, "config.") || strings.Contains(p, "opt.") || p == strings.ToUpper(p) && p != ""
	}
	if setting(c.Operands[0]) {
		return Setting
	}
	return Data
}
