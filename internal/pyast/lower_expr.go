package pyast

import "strings"

func (l *lowerer) exprs(is []int32) []Expr {
	out := make([]Expr, 0, len(is))
	for _, i := range is {
		out = append(out, l.expr(i))
	}
	return out
}

// field lowers the child with a field; without one the node is bad.
func (l *lowerer) field(i int32, name string) Expr {
	if c := l.child(i, name); c != 0 {
		return l.expr(c)
	}
	return &BadExpr{l.e(i)}
}

func (l *lowerer) expr(i int32) Expr {
	l.depth++
	defer func() { l.depth-- }()
	if l.tooDeep() || l.t.nodes[i].flags&flagError != 0 {
		return &BadExpr{l.e(i)}
	}
	kind := l.kind(i)
	if e := l.atom(i, kind); e != nil {
		return e
	}
	if e := l.operator(i, kind); e != nil {
		return e
	}
	if e := l.display(i, kind); e != nil {
		return e
	}
	// What only wraps one thing: type, decorator, pattern.
	if n := l.named(i); len(n) == 1 {
		return l.expr(n[0])
	}
	return &BadExpr{l.e(i)}
}

func (l *lowerer) atom(i int32, kind string) Expr {
	switch kind {
	case "identifier", "keyword_identifier", "dotted_name":
		return l.name(i)
	case "integer":
		return l.constant(i, Int)
	case "float":
		return l.constant(i, Float)
	case "true":
		return l.constant(i, True)
	case "false":
		return l.constant(i, False)
	case "none":
		return l.constant(i, None)
	case "ellipsis":
		return l.constant(i, Ellipsis)
	case "string":
		return l.str(i)
	case "concatenated_string":
		return l.joined(i)
	case "attribute":
		a := &Attribute{exprBase: l.e(i), Value: l.field(i, "object")}
		if n := l.child(i, "attribute"); n != 0 {
			a.Attr, a.AttrSpan = l.text(n), l.span(n)
		}
		return a
	case "subscript":
		return &Subscript{exprBase: l.e(i), Value: l.field(i, "value"), Index: l.exprs(l.withField(i, "subscript"))}
	case "slice":
		return &Slice{l.e(i), l.exprs(l.named(i))}
	case "generic_type": // list[int], in an annotation
		n := l.named(i)
		if len(n) < 2 {
			return nil
		}
		return &Subscript{exprBase: l.e(i), Value: l.expr(n[0]), Index: l.exprs(l.named(n[1]))}
	case "union_type", "member_type", "constrained_type":
		return &List{exprBase: l.e(i), Kind: "tuple", Elts: l.exprs(l.named(i))}
	case "call":
		return l.call(i)
	case "keyword_argument":
		return l.keyword(i)
	}
	return nil
}

// name lowers an identifier, or a dotted name as attributes.
func (l *lowerer) name(i int32) Expr {
	parts := l.named(i)
	if len(parts) < 2 {
		return &Name{exprBase: l.e(i), Ident: l.text(i)}
	}
	var e Expr = &Name{exprBase: l.e(parts[0]), Ident: l.text(parts[0])}
	for _, p := range parts[1:] {
		b := l.e(p)
		b.span.Start = e.Span().Start
		e = &Attribute{exprBase: b, Value: e, Attr: l.text(p), AttrSpan: l.span(p)}
	}
	return e
}

func (l *lowerer) constant(i int32, k ConstKind) Expr {
	return &Constant{exprBase: l.e(i), Kind: k, Text: l.text(i)}
}

func (l *lowerer) str(i int32) Expr {
	var parts []Expr
	var content strings.Builder
	prefix := ""
	for _, c := range l.named(i) {
		switch l.kind(c) {
		case "string_start":
			prefix = strings.ToLower(l.text(c))
		case "string_content":
			content.WriteString(l.text(c))
		case "interpolation":
			parts = append(parts, l.interpolation(c)...)
		}
	}
	if parts != nil {
		return &FString{l.e(i), parts}
	}
	k := String
	if strings.Contains(strings.TrimRight(prefix, `"'`), "b") {
		k = Bytes
	}
	return &Constant{exprBase: l.e(i), Kind: k, Text: l.text(i), Str: content.String()}
}

func (l *lowerer) interpolation(i int32) []Expr {
	var out []Expr
	for _, c := range l.named(i) {
		switch l.kind(c) {
		case "type_conversion":
		case "format_specifier":
			for _, f := range l.named(c) {
				if l.kind(f) == "interpolation" {
					l.depth++
					if !l.tooDeep() {
						out = append(out, l.interpolation(f)...)
					}
					l.depth--
				}
			}
		default:
			out = append(out, l.expr(c))
		}
	}
	return out
}

func (l *lowerer) joined(i int32) Expr {
	var parts []Expr
	text := ""
	kind := String
	for _, c := range l.named(i) {
		switch e := l.expr(c).(type) {
		case *FString:
			parts = append(parts, e.Parts...)
		case *Constant:
			text += e.Str
			kind = e.Kind
		}
	}
	if parts != nil {
		return &FString{l.e(i), parts}
	}
	return &Constant{exprBase: l.e(i), Kind: kind, Text: l.text(i), Str: text}
}

func (l *lowerer) call(i int32) Expr {
	c := &Call{exprBase: l.e(i), Func: l.field(i, "function")}
	if a := l.child(i, "arguments"); a != 0 {
		c.ArgSpan = l.span(a)
		if l.kind(a) == "generator_expression" {
			c.Args = []Expr{l.expr(a)}
		} else {
			c.Args, c.Keywords = l.arguments(a)
		}
	}
	return c
}

func (l *lowerer) arguments(i int32) ([]Expr, []*Keyword) {
	var args []Expr
	var keywords []*Keyword
	for _, c := range l.named(i) {
		switch l.kind(c) {
		case "keyword_argument":
			keywords = append(keywords, l.keyword(c))
		case "dictionary_splat":
			k := &Keyword{exprBase: l.e(c), Value: l.only(c)}
			if k.Value == nil {
				k.Value = &BadExpr{l.e(c)}
			}
			keywords = append(keywords, k)
		default:
			args = append(args, l.expr(c))
		}
	}
	return args, keywords
}

func (l *lowerer) keyword(i int32) *Keyword {
	return &Keyword{exprBase: l.e(i), Name: l.textOf(i, "name"), Value: l.field(i, "value")}
}

func (l *lowerer) operator(i int32, kind string) Expr {
	switch kind {
	case "binary_operator":
		return &BinOp{l.e(i), l.field(i, "left"), l.field(i, "right"), l.textOf(i, "operator")}
	case "boolean_operator":
		return &BoolOp{l.e(i), l.field(i, "left"), l.field(i, "right"), l.textOf(i, "operator")}
	case "not_operator":
		return &Unary{l.e(i), "not", l.field(i, "argument")}
	case "unary_operator":
		return &Unary{l.e(i), l.textOf(i, "operator"), l.field(i, "argument")}
	case "comparison_operator":
		c := &Compare{exprBase: l.e(i), Operands: l.exprs(l.named(i))}
		for _, o := range l.withField(i, "operators") {
			c.Ops = append(c.Ops, l.text(o))
		}
		return c
	case "conditional_expression":
		n := l.exprs(l.named(i))
		if len(n) != 3 {
			return &BadExpr{l.e(i)}
		}
		return &IfExp{l.e(i), n[1], n[0], n[2]}
	case "lambda":
		f := &Lambda{exprBase: l.e(i), Body: l.field(i, "body")}
		if p := l.child(i, "parameters"); p != 0 {
			f.Params = l.params(p)
		}
		return f
	case "await":
		return &Await{l.e(i), l.orBad(i)}
	case "yield":
		return &Yield{l.e(i), l.only(i)}
	case "named_expression":
		return &Walrus{l.e(i), store(l.field(i, "name")), l.field(i, "value")}
	case "as_pattern":
		return l.orBad(i)
	}
	return nil
}

func (l *lowerer) orBad(i int32) Expr {
	if e := l.only(i); e != nil {
		return e
	}
	return &BadExpr{l.e(i)}
}

func (l *lowerer) display(i int32, kind string) Expr {
	switch kind {
	case "parenthesized_expression":
		return l.orBad(i)
	case "list", "list_pattern":
		return &List{exprBase: l.e(i), Kind: "list", Elts: l.exprs(l.named(i))}
	case "tuple", "expression_list", "pattern_list", "tuple_pattern":
		return &List{exprBase: l.e(i), Kind: "tuple", Elts: l.exprs(l.named(i))}
	case "set":
		return &List{exprBase: l.e(i), Kind: "set", Elts: l.exprs(l.named(i))}
	case "list_splat", "list_splat_pattern", "parenthesized_list_splat":
		return &Starred{l.e(i), l.orBad(i)}
	case "dictionary":
		return l.dict(i)
	case "list_comprehension":
		return l.comp(i, "list")
	case "set_comprehension":
		return l.comp(i, "set")
	case "dictionary_comprehension":
		return l.comp(i, "dict")
	case "generator_expression":
		return l.comp(i, "generator")
	}
	return nil
}

func (l *lowerer) dict(i int32) Expr {
	d := &Dict{exprBase: l.e(i)}
	for _, c := range l.named(i) {
		switch l.kind(c) {
		case "pair":
			d.Keys = append(d.Keys, l.field(c, "key"))
			d.Values = append(d.Values, l.field(c, "value"))
		case "dictionary_splat":
			d.Keys = append(d.Keys, nil)
			d.Values = append(d.Values, l.orBad(c))
		}
	}
	return d
}

func (l *lowerer) comp(i int32, kind string) Expr {
	c := &Comp{exprBase: l.e(i), Kind: kind}
	body := l.child(i, "body")
	switch {
	case body == 0:
		c.Elt = &BadExpr{l.e(i)}
	case l.kind(body) == "pair":
		c.Key, c.Elt = l.field(body, "key"), l.field(body, "value")
	default:
		c.Elt = l.expr(body)
	}
	for _, n := range l.named(i) {
		switch l.kind(n) {
		case "for_in_clause":
			f := &CompFor{exprBase: l.e(n), Target: store(l.field(n, "left"))}
			right := l.exprs(l.withField(n, "right"))
			if len(right) == 1 {
				f.Iter = right[0]
			} else {
				f.Iter = &List{exprBase: l.e(n), Kind: "tuple", Elts: right}
			}
			c.Clauses = append(c.Clauses, f)
		case "if_clause":
			if len(c.Clauses) > 0 {
				last := c.Clauses[len(c.Clauses)-1]
				last.Ifs = append(last.Ifs, l.orBad(n))
			}
		}
	}
	return c
}
