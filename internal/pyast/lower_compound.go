package pyast

func (l *lowerer) compound(i int32) Stmt {
	switch l.kind(i) {
	case "if_statement":
		return l.ifStmt(i)
	case "for_statement":
		return &For{
			stmtBase: l.s(i), Target: store(l.field(i, "left")), Iter: l.field(i, "right"),
			Body: l.body(i, "body"), Else: l.elseBody(i), Async: l.has(i, "async"),
		}
	case "while_statement":
		return &While{stmtBase: l.s(i), Test: l.field(i, "condition"), Body: l.body(i, "body"), Else: l.elseBody(i)}
	case "with_statement":
		return l.with(i)
	case "try_statement":
		return l.try(i)
	case "function_definition":
		return l.function(i)
	case "class_definition":
		return l.class(i)
	case "decorated_definition":
		return l.decorated(i)
	case "match_statement":
		return l.match(i)
	}
	return nil
}

func (l *lowerer) elseBody(i int32) []Stmt {
	if c := l.child(i, "alternative"); c != 0 && l.kind(c) == "else_clause" {
		return l.body(c, "body")
	}
	return nil
}

// maxElifs bounds a chain of elif, whose nodes nest.
const maxElifs = 1000

func (l *lowerer) ifStmt(i int32) Stmt {
	s := &If{stmtBase: l.s(i), Test: l.field(i, "condition"), Body: l.body(i, "consequence")}
	tail := s
	for k, c := range l.withField(i, "alternative") {
		if l.kind(c) == "else_clause" || k == maxElifs {
			tail.Else = l.body(c, "body")
			break
		}
		next := &If{stmtBase: l.s(c), Test: l.field(c, "condition"), Body: l.body(c, "consequence")}
		tail.Else = []Stmt{next}
		tail = next
	}
	return s
}

func (l *lowerer) with(i int32) Stmt {
	w := &With{stmtBase: l.s(i), Async: l.has(i, "async")}
	for _, clause := range l.named(i) {
		if l.kind(clause) != "with_clause" {
			continue
		}
		for _, item := range l.named(clause) {
			w.Items = append(w.Items, l.withItems(item)...)
		}
	}
	w.Body = l.body(i, "body")
	return w
}

// withItems lowers one item; a parenthesised tuple of items is several.
func (l *lowerer) withItems(item int32) []*WithItem {
	v := l.child(item, "value")
	if v == 0 {
		return []*WithItem{{exprBase: l.e(item), Context: &BadExpr{l.e(item)}}}
	}
	if l.kind(v) == "tuple" {
		var out []*WithItem
		for _, c := range l.named(v) {
			out = append(out, l.withItem(c))
		}
		return out
	}
	return []*WithItem{l.withItem(v)}
}

func (l *lowerer) withItem(v int32) *WithItem {
	w := &WithItem{exprBase: l.e(v)}
	if l.kind(v) != "as_pattern" {
		w.Context = l.expr(v)
		return w
	}
	n := l.named(v)
	if len(n) == 0 {
		w.Context = &BadExpr{l.e(v)}
		return w
	}
	w.Context = l.expr(n[0])
	if a := l.child(v, "alias"); a != 0 {
		w.Target = store(l.aliasTarget(a))
	}
	return w
}

func (l *lowerer) aliasTarget(a int32) Expr {
	if n := l.named(a); l.kind(a) == "as_pattern_target" && len(n) > 0 {
		return l.expr(n[0])
	}
	return l.expr(a)
}

func (l *lowerer) try(i int32) Stmt {
	t := &Try{stmtBase: l.s(i), Body: l.body(i, "body")}
	for _, c := range l.named(i) {
		switch l.kind(c) {
		case "except_clause", "except_group_clause":
			t.Handlers = append(t.Handlers, l.handler(c))
		case "else_clause":
			t.Else = l.body(c, "body")
		case "finally_clause":
			t.Finally = l.firstBlock(c)
		}
	}
	return t
}

func (l *lowerer) firstBlock(i int32) []Stmt {
	for _, c := range l.named(i) {
		if l.kind(c) == "block" {
			return l.stmts(c)
		}
	}
	return nil
}

func (l *lowerer) handler(i int32) *Handler {
	h := &Handler{stmtBase: l.s(i)}
	for k, c := range l.named(i) {
		switch kind := l.kind(c); {
		case kind == "block":
			h.Body = l.stmts(c)
		case h.Type != nil && k > 0: // Python 2: except E, name
			h.Name = l.text(c)
		case kind == "as_pattern":
			n := l.named(c)
			if len(n) > 0 {
				h.Type = l.expr(n[0])
			}
			h.Name = l.textOf(c, "alias")
		default:
			h.Type = l.expr(c)
		}
	}
	if h.Type != nil {
		h.TypeList = flat(h.Type)
	}
	return h
}

func (l *lowerer) decorated(i int32) Stmt {
	d := l.child(i, "definition")
	if d == 0 {
		return &BadStmt{l.s(i)}
	}
	var decorators []Expr
	for _, c := range l.named(i) {
		if l.kind(c) == "decorator" {
			if e := l.only(c); e != nil {
				decorators = append(decorators, e)
			}
		}
	}
	s := l.compound(d)
	switch s := s.(type) {
	case *FuncDef:
		s.Decorators = decorators
		s.span.Start = l.span(i).Start
	case *ClassDef:
		s.Decorators = decorators
		s.span.Start = l.span(i).Start
	case nil:
		return &BadStmt{l.s(i)}
	}
	return s
}

func (l *lowerer) function(i int32) Stmt {
	f := &FuncDef{stmtBase: l.s(i), Async: l.has(i, "async")}
	if n := l.child(i, "name"); n != 0 {
		f.Name, f.NameSpan = l.text(n), l.span(n)
	}
	if p := l.child(i, "parameters"); p != 0 {
		f.Params = l.params(p)
	}
	if r := l.child(i, "return_type"); r != 0 {
		f.Returns = l.expr(r)
	}
	f.Body = l.body(i, "body")
	return f
}

func (l *lowerer) params(i int32) []*Param {
	var out []*Param
	for _, c := range l.named(i) {
		p := &Param{base: l.at(c)}
		l.param(c, p)
		if p.Name != "" || p.Star != "" {
			out = append(out, p)
		}
	}
	return out
}

func (l *lowerer) param(c int32, p *Param) {
	switch l.kind(c) {
	case "identifier":
		p.Name = l.text(c)
	case "default_parameter", "typed_default_parameter":
		if n := l.child(c, "name"); n != 0 && l.kind(n) == "identifier" {
			p.Name = l.text(n)
		}
		if v := l.child(c, "value"); v != 0 {
			p.Default = l.expr(v)
		}
		if t := l.child(c, "type"); t != 0 {
			p.Annotation = l.expr(t)
		}
	case "typed_parameter":
		if t := l.child(c, "type"); t != 0 {
			p.Annotation = l.expr(t)
		}
		if n := l.named(c); len(n) > 0 {
			l.param(n[0], p)
		}
	case "list_splat_pattern", "dictionary_splat_pattern":
		p.Star = "*"
		if l.kind(c) == "dictionary_splat_pattern" {
			p.Star = "**"
		}
		if n := l.named(c); len(n) > 0 {
			p.Name = l.text(n[0])
		}
	case "keyword_separator":
		p.Star = "*"
	}
}

func (l *lowerer) class(i int32) Stmt {
	c := &ClassDef{stmtBase: l.s(i)}
	if n := l.child(i, "name"); n != 0 {
		c.Name, c.NameSpan = l.text(n), l.span(n)
	}
	if a := l.child(i, "superclasses"); a != 0 {
		c.Bases, c.Keywords = l.arguments(a)
	}
	c.Body = l.body(i, "body")
	return c
}

func (l *lowerer) match(i int32) Stmt {
	m := &Match{stmtBase: l.s(i)}
	if s := l.child(i, "subject"); s != 0 {
		m.Subject = l.expr(s)
	}
	block := l.child(i, "body")
	if block == 0 {
		block = i
	}
	for _, c := range l.named(block) {
		if l.kind(c) != "case_clause" {
			continue
		}
		k := &Case{stmtBase: l.s(c)}
		if g := l.child(c, "guard"); g != 0 {
			k.Guard = l.only(g)
		}
		k.Body = l.body(c, "consequence")
		m.Cases = append(m.Cases, k)
	}
	return m
}
