package pyast

// stmts lowers a block's (or the module's) statements.
func (l *lowerer) stmts(block int32) []Stmt {
	l.depth++
	defer func() { l.depth-- }()
	if l.tooDeep() {
		return []Stmt{&BadStmt{l.s(block)}}
	}
	var out []Stmt
	for _, c := range l.named(block) {
		out = append(out, l.stmt(c)...)
	}
	return out
}

func (l *lowerer) body(i int32, field string) []Stmt {
	if b := l.child(i, field); b != 0 {
		return l.stmts(b)
	}
	return nil
}

// stmt lowers one child of a block; an error node gives what is readable in it.
func (l *lowerer) stmt(i int32) []Stmt {
	if l.t.nodes[i].flags&flagError != 0 {
		return l.broken(i)
	}
	if s := l.simple(i); s != nil {
		return []Stmt{s}
	}
	if s := l.compound(i); s != nil {
		return []Stmt{s}
	}
	switch l.kind(i) {
	case "expression_statement":
		return []Stmt{l.exprStmt(i)}
	case "block":
		return l.stmts(i)
	}
	return []Stmt{&ExprStmt{l.s(i), l.expr(i)}}
}

// broken keeps the statements that tree-sitter recognised in an error.
func (l *lowerer) broken(i int32) []Stmt {
	l.depth++
	defer func() { l.depth-- }()
	out := []Stmt{&BadStmt{l.s(i)}}
	if l.tooDeep() {
		return out
	}
	for _, c := range l.named(i) {
		if s := l.simple(c); s != nil {
			out = append(out, s)
		} else if s := l.compound(c); s != nil {
			out = append(out, s)
		} else if l.kind(c) == "expression_statement" {
			out = append(out, l.exprStmt(c))
		} else if k := l.kind(c); k == "call" || k == "ERROR" {
			out = append(out, l.stmt(c)...)
		}
	}
	return out
}

func (l *lowerer) simple(i int32) Stmt {
	switch l.kind(i) {
	case "pass_statement":
		return &Simple{l.s(i), "pass"}
	case "break_statement":
		return &Simple{l.s(i), "break"}
	case "continue_statement":
		return &Simple{l.s(i), "continue"}
	case "return_statement":
		return &Return{l.s(i), l.only(i)}
	case "raise_statement":
		r := &Raise{stmtBase: l.s(i)}
		if c := l.child(i, "cause"); c != 0 {
			r.Cause = l.expr(c)
		}
		if n := l.named(i); len(n) > 0 && l.fieldOf(n[0]) != "cause" {
			r.Value = l.expr(n[0])
		}
		return r
	case "delete_statement":
		d := &Delete{stmtBase: l.s(i)}
		for _, c := range l.named(i) {
			d.Targets = append(d.Targets, flat(l.expr(c))...)
		}
		return d
	case "assert_statement":
		a := &Assert{stmtBase: l.s(i)}
		for k, c := range l.named(i) {
			switch k {
			case 0:
				a.Test = l.expr(c)
			case 1:
				a.Msg = l.expr(c)
			}
		}
		return a
	case "global_statement", "nonlocal_statement":
		g := &Global{stmtBase: l.s(i)}
		for _, c := range l.named(i) {
			g.Names = append(g.Names, l.text(c))
		}
		return g
	case "print_statement":
		return &Print{l.s(i), l.exprs(l.named(i))}
	case "exec_statement":
		return &ExprStmt{l.s(i), &BadExpr{l.e(i)}}
	case "type_alias_statement":
		return &Simple{l.s(i), "pass"}
	case "import_statement", "import_from_statement", "future_import_statement":
		return l.imports(i)
	}
	return nil
}

func (l *lowerer) fieldOf(i int32) string {
	if f := l.t.nodes[i].field; f != 0 {
		return l.t.field[f]
	}
	return ""
}

// only lowers the one expression that a statement may have.
func (l *lowerer) only(i int32) Expr {
	if n := l.named(i); len(n) > 0 {
		return l.expr(n[0])
	}
	return nil
}

func flat(e Expr) []Expr {
	if t, ok := e.(*List); ok && t.Kind == "tuple" {
		return t.Elts
	}
	return []Expr{e}
}

func (l *lowerer) imports(i int32) Stmt {
	var names []Alias
	for _, c := range l.withField(i, "name") {
		if l.kind(c) == "aliased_import" {
			names = append(names, Alias{l.textOf(c, "name"), l.textOf(c, "alias")})
		} else {
			names = append(names, Alias{Name: l.text(c)})
		}
	}
	if l.kind(i) == "import_statement" {
		return &Import{l.s(i), names}
	}
	from := &ImportFrom{stmtBase: l.s(i), Names: names}
	if l.kind(i) == "future_import_statement" {
		from.Module = "__future__"
		return from
	}
	for _, c := range l.named(i) {
		if l.kind(c) == "wildcard_import" {
			from.Names = append(from.Names, Alias{Name: "*"})
		}
	}
	m := l.child(i, "module_name")
	switch {
	case m == 0:
	case l.kind(m) == "relative_import":
		for _, c := range l.named(m) {
			if l.kind(c) == "import_prefix" {
				for _, b := range l.text(c) {
					if b == '.' {
						from.Level++
					}
				}
			} else {
				from.Module = l.text(c)
			}
		}
	default:
		from.Module = l.text(m)
	}
	return from
}

func (l *lowerer) textOf(i int32, field string) string {
	if c := l.child(i, field); c != 0 {
		return l.text(c)
	}
	return ""
}

func (l *lowerer) exprStmt(i int32) Stmt {
	n := l.named(i)
	if len(n) == 0 {
		return &Simple{l.s(i), "pass"}
	}
	if len(n) > 1 {
		return &ExprStmt{l.s(i), &List{exprBase: l.e(i), Kind: "tuple", Elts: l.exprs(n)}}
	}
	switch l.kind(n[0]) {
	case "assignment":
		return l.assign(i, n[0])
	case "augmented_assignment":
		a := &AugAssign{stmtBase: l.s(i), Target: store(l.field(n[0], "left")), Value: l.field(n[0], "right")}
		if op := l.textOf(n[0], "operator"); len(op) > 1 {
			a.Op = op[:len(op)-1]
		}
		return a
	}
	return &ExprStmt{l.s(i), l.expr(n[0])}
}

// assign lowers a = b = c, which the grammar nests to the right.
func (l *lowerer) assign(i, n int32) Stmt {
	a := &Assign{stmtBase: l.s(i)}
	for range maxDepth {
		a.Targets = append(a.Targets, store(l.field(n, "left")))
		if t := l.child(n, "type"); t != 0 {
			a.Annotation = l.expr(t)
		}
		right := l.child(n, "right")
		if right == 0 {
			return a
		}
		if l.kind(right) != "assignment" {
			a.Value = l.expr(right)
			return a
		}
		n = right
	}
	a.Value = &BadExpr{l.e(n)}
	return a
}

// store marks the names of a target.
func store(e Expr) Expr {
	switch e := e.(type) {
	case *Name:
		e.Store = true
	case *Attribute:
		e.Store = true
	case *Subscript:
		e.Store = true
	case *Starred:
		store(e.Value)
	case *List:
		e.Store = true
		for _, x := range e.Elts {
			store(x)
		}
	}
	return e
}
