package pyast

// Children calls f for each direct child of n, in the order of the source
// (a decorator comes before its function).
func Children(n Node, f func(Node)) {
	switch n := n.(type) {
	case *Module:
		each(n.Body, f)
	case Stmt:
		stmtChildren(n, f)
	case *Param:
		one(n.Annotation, f)
		one(n.Default, f)
	case Expr:
		exprChildren(n, f)
	}
}

func one(e Expr, f func(Node)) {
	if e != nil {
		f(e)
	}
}

func each[N Node](ns []N, f func(Node)) {
	for _, n := range ns {
		f(n)
	}
}

func stmtChildren(n Stmt, f func(Node)) {
	switch n := n.(type) {
	case *FuncDef:
		each(n.Decorators, f)
		each(n.Params, f)
		one(n.Returns, f)
		each(n.Body, f)
	case *ClassDef:
		each(n.Decorators, f)
		each(n.Bases, f)
		each(n.Keywords, f)
		each(n.Body, f)
	case *Assign:
		each(n.Targets, f)
		one(n.Annotation, f)
		one(n.Value, f)
	case *AugAssign:
		f(n.Target)
		one(n.Value, f)
	case *For:
		f(n.Target)
		f(n.Iter)
		each(n.Body, f)
		each(n.Else, f)
	case *While:
		f(n.Test)
		each(n.Body, f)
		each(n.Else, f)
	case *If:
		f(n.Test)
		each(n.Body, f)
		each(n.Else, f)
	case *With:
		each(n.Items, f)
		each(n.Body, f)
	case *Try:
		each(n.Body, f)
		each(n.Handlers, f)
		each(n.Else, f)
		each(n.Finally, f)
	case *Handler:
		one(n.Type, f)
		each(n.Body, f)
	case *Return:
		one(n.Value, f)
	case *Raise:
		one(n.Value, f)
		one(n.Cause, f)
	case *Delete:
		each(n.Targets, f)
	case *Assert:
		one(n.Test, f)
		one(n.Msg, f)
	case *ExprStmt:
		one(n.Value, f)
	case *Print:
		each(n.Args, f)
	case *Match:
		one(n.Subject, f)
		each(n.Cases, f)
	case *Case:
		each(n.Names, f)
		one(n.Guard, f)
		each(n.Body, f)
	}
}

func exprChildren(n Expr, f func(Node)) {
	switch n := n.(type) {
	case *FString:
		each(n.Parts, f)
	case *Attribute:
		one(n.Value, f)
	case *Subscript:
		one(n.Value, f)
		each(n.Index, f)
	case *Slice:
		for _, p := range n.Parts {
			one(p, f)
		}
	case *Call:
		one(n.Func, f)
		each(n.Args, f)
		each(n.Keywords, f)
	case *Keyword:
		one(n.Value, f)
	case *BinOp:
		one(n.Left, f)
		one(n.Right, f)
	case *BoolOp:
		one(n.Left, f)
		one(n.Right, f)
	case *Unary:
		one(n.Operand, f)
	case *Compare:
		each(n.Operands, f)
	case *IfExp:
		one(n.Body, f)
		one(n.Test, f)
		one(n.Else, f)
	case *Lambda:
		each(n.Params, f)
		one(n.Body, f)
	case *Comp:
		one(n.Key, f)
		one(n.Elt, f)
		each(n.Clauses, f)
	case *CompFor:
		one(n.Target, f)
		one(n.Iter, f)
		each(n.Ifs, f)
	case *List:
		each(n.Elts, f)
	case *Dict:
		for i, v := range n.Values {
			one(n.Keys[i], f)
			one(v, f)
		}
	case *Starred:
		one(n.Value, f)
	case *Await:
		one(n.Value, f)
	case *Yield:
		one(n.Value, f)
	case *Walrus:
		one(n.Target, f)
		one(n.Value, f)
	case *WithItem:
		one(n.Context, f)
		one(n.Target, f)
	}
}

// Walk visits n and what is below it in preorder; below a node for which f
// returns false it does not go.
func Walk(n Node, f func(Node) bool) {
	if f(n) {
		Children(n, func(c Node) { Walk(c, f) })
	}
}

// Path is the dotted path of a name or of attributes of one ("self.model.head"),
// or "" for anything else.
func Path(e Expr) string {
	switch e := e.(type) {
	case *Name:
		return e.Ident
	case *Attribute:
		if p := Path(e.Value); p != "" {
			return p + "." + e.Attr
		}
	}
	return ""
}

// StmtOf is the statement that n is in, or n itself.
func StmtOf(n Node) Stmt {
	for ; n != nil; n = n.Parent() {
		if s, ok := n.(Stmt); ok {
			return s
		}
	}
	return nil
}

// FuncOf is the innermost function that n is in, not n itself, or nil.
func FuncOf(n Node) *FuncDef {
	for n = n.Parent(); n != nil; n = n.Parent() {
		if f, ok := n.(*FuncDef); ok {
			return f
		}
	}
	return nil
}

// Keyword is the value of a keyword argument, or nil.
func (c *Call) Keyword(name string) Expr {
	for _, k := range c.Keywords {
		if k.Name == name {
			return k.Value
		}
	}
	return nil
}

// Arg is the argument at a position or under a keyword, or nil. A starred
// argument before it hides it.
func (c *Call) Arg(position int, name string) Expr {
	for i, a := range c.Args {
		if _, star := a.(*Starred); star {
			break
		}
		if i == position {
			return a
		}
	}
	return c.Keyword(name)
}

// Spreads reports whether the call has *args or **kwargs, so that an argument
// which is not seen may still be there.
func (c *Call) Spreads() bool {
	for _, a := range c.Args {
		if _, star := a.(*Starred); star {
			return true
		}
	}
	for _, k := range c.Keywords {
		if k.Name == "" {
			return true
		}
	}
	return false
}
