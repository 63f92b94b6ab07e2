package pyast

// maxDepth bounds the nesting that is read; deeper code becomes a Bad node, so
// that a hostile file cannot exhaust the stack.
const maxDepth = 400

// A lowerer turns the concrete tree into the typed one.
type lowerer struct {
	t     *cst
	src   []byte
	mod   *Module
	ids   int
	depth int
}

// Parse reads a file. src must be UTF-8 text (see Decode). Parts that do not
// parse are in Errors and become Bad nodes.
func Parse(src []byte) (*Module, error) {
	t, err := parseTree(src)
	if err != nil {
		return nil, err
	}
	return lower(src, t), nil
}

func lower(src []byte, t *cst) *Module {
	m := &Module{Source: src, lines: lineStarts(src)}
	l := &lowerer{t: t, src: src, mod: m}
	l.lexical()
	m.base = base{span: Span{0, len(src)}, id: l.id()}
	m.Body = l.stmts(0)
	m.Nodes = l.ids
	m.order = make([]Node, 0, m.Nodes)
	m.from, m.to = make([]int32, m.Nodes), make([]int32, m.Nodes)
	m.index(m)
	return m
}

// lexical collects comments and errors.
func (l *lowerer) lexical() {
	for i := range l.t.nodes {
		n := &l.t.nodes[i]
		switch {
		case n.flags&(flagError|flagMissing) != 0:
			l.mod.Errors = append(l.mod.Errors, l.span(int32(i)))
		case n.flags&flagNamed != 0 && l.kind(int32(i)) == "comment":
			l.mod.Comments = append(l.mod.Comments, l.span(int32(i)))
		}
	}
}

// index fills in Parent and what Subtree needs. It recurses as deep as the tree
// is, which maxDepth bounds.
func (m *Module) index(n Node) {
	m.from[n.ID()] = int32(len(m.order))
	m.order = append(m.order, n)
	Children(n, func(c Node) {
		c.at().parent = n
		m.index(c)
	})
	m.to[n.ID()] = int32(len(m.order))
}

func (l *lowerer) id() int { l.ids++; return l.ids - 1 }

func (l *lowerer) kind(i int32) string { return l.t.kinds[l.t.nodes[i].kind] }

func (l *lowerer) span(i int32) Span {
	return Span{int(l.t.nodes[i].start), int(l.t.nodes[i].end)}
}

func (l *lowerer) text(i int32) string {
	s := l.span(i)
	return string(l.src[s.Start:s.End])
}

func (l *lowerer) at(i int32) base { return base{span: l.span(i), id: l.id()} }

func (l *lowerer) e(i int32) exprBase { return exprBase{l.at(i)} }

func (l *lowerer) s(i int32) stmtBase { return stmtBase{l.at(i)} }

// child is the first child with a field, or 0.
func (l *lowerer) child(i int32, field string) int32 {
	for c := l.t.nodes[i].first; c != 0; c = l.t.nodes[c].next {
		if f := l.t.nodes[c].field; f != 0 && l.t.field[f] == field && !l.noise(c) {
			return c
		}
	}
	return 0
}

func (l *lowerer) noise(i int32) bool {
	n := &l.t.nodes[i]
	if n.flags&flagNamed == 0 {
		return false
	}
	k := l.t.kinds[n.kind]
	return k == "comment" || k == "line_continuation"
}

// named lists the named children that are not comments.
func (l *lowerer) named(i int32) []int32 {
	var out []int32
	for c := l.t.nodes[i].first; c != 0; c = l.t.nodes[c].next {
		if l.t.nodes[c].flags&flagNamed != 0 && !l.noise(c) {
			out = append(out, c)
		}
	}
	return out
}

// withField lists the children with a field.
func (l *lowerer) withField(i int32, field string) []int32 {
	var out []int32
	for c := l.t.nodes[i].first; c != 0; c = l.t.nodes[c].next {
		if f := l.t.nodes[c].field; f != 0 && l.t.field[f] == field && !l.noise(c) {
			out = append(out, c)
		}
	}
	return out
}

// has reports whether a child is that word.
func (l *lowerer) has(i int32, word string) bool {
	for c := l.t.nodes[i].first; c != 0; c = l.t.nodes[c].next {
		if l.t.nodes[c].flags&flagNamed == 0 && l.kind(c) == word {
			return true
		}
	}
	return false
}

func (l *lowerer) tooDeep() bool { return l.depth > maxDepth }
