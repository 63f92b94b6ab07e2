// Package pyast reads Python source into a typed tree with byte ranges, for
// analyses that must survive real code: a statement that does not parse
// becomes a Bad node and the rest of the file is still there; print statements
// of Python 2 are statements.
//
// The tree is what the meaning needs: parentheses and commas are gone, and a
// fix edits the bytes that a Span names. Parsing is done by tree-sitter, which
// is C: a build without cgo compiles, and Parse then returns ErrNoCgo.
package pyast

// A Span is a range of bytes of the source, End exclusive.
type Span struct{ Start, End int }

// Has reports whether s covers o.
func (s Span) Has(o Span) bool { return s.Start <= o.Start && o.End <= s.End }

// A Node is a statement, an expression or a part of one.
type Node interface {
	Span() Span
	Parent() Node // nil for the module
	ID() int      // dense: below Module.Nodes

	at() *base
}

// An Expr is a Node with a value.
type Expr interface {
	Node
	expr()
}

// A Stmt is a Node of a block.
type Stmt interface {
	Node
	stmt()
}

type base struct {
	span   Span
	parent Node
	id     int
}

func (b *base) Span() Span   { return b.span }
func (b *base) Parent() Node { return b.parent }
func (b *base) ID() int      { return b.id }
func (b *base) at() *base    { return b }

type exprBase struct{ base }

func (*exprBase) expr() {}

type stmtBase struct{ base }

func (*stmtBase) stmt() {}

// Expressions.
type (
	// A Name is an identifier. Store tells a target from a use.
	Name struct {
		exprBase
		Ident string
		Store bool
	}
	// A Constant is a number, a string without interpolations, True, False,
	// None or an ellipsis. Text is as written; Str is a string's content.
	Constant struct {
		exprBase
		Kind ConstKind
		Text string
		Str  string
	}
	// An FString is a string with interpolations.
	FString struct {
		exprBase
		Parts []Expr
	}
	// An Attribute is Value.Attr.
	Attribute struct {
		exprBase
		Value    Expr
		Attr     string
		AttrSpan Span
		Store    bool
	}
	// A Subscript is Value[Index].
	Subscript struct {
		exprBase
		Value Expr
		Index []Expr
		Store bool
	}
	// A Slice is Lower:Upper:Step; any may be nil.
	Slice struct {
		exprBase
		Parts []Expr
	}
	// A Call is Func(Args, Keywords). ArgSpan is the parenthesis and what is
	// in it.
	Call struct {
		exprBase
		Func     Expr
		Args     []Expr // Starred for *x
		Keywords []*Keyword
		ArgSpan  Span
	}
	// A Keyword is name=value, or **value where Name is empty.
	Keyword struct {
		exprBase
		Name  string
		Value Expr
	}
	// A BinOp is Left Op Right, with a numeric operator.
	BinOp struct {
		exprBase
		Left, Right Expr
		Op          string
	}
	// A BoolOp is Left and/or Right.
	BoolOp struct {
		exprBase
		Left, Right Expr
		Op          string
	}
	// A Unary is Op Operand: not, -, +, ~.
	Unary struct {
		exprBase
		Op      string
		Operand Expr
	}
	// A Compare is a chain: Operands has one more element than Ops.
	Compare struct {
		exprBase
		Operands []Expr
		Ops      []string
	}
	// An IfExp is Body if Test else Else.
	IfExp struct {
		exprBase
		Test, Body, Else Expr
	}
	// A Lambda is a function of one expression.
	Lambda struct {
		exprBase
		Params []*Param
		Body   Expr
	}
	// A Comp is a comprehension or generator. Key is set for a dict.
	Comp struct {
		exprBase
		Kind    string // list, set, dict, generator
		Key     Expr
		Elt     Expr
		Clauses []*CompFor
	}
	// A CompFor is one for of a comprehension, with its conditions.
	CompFor struct {
		exprBase
		Target, Iter Expr
		Ifs          []Expr
	}
	// A List is a list, tuple or set display.
	List struct {
		exprBase
		Kind  string // list, tuple, set
		Elts  []Expr
		Store bool
	}
	// A Dict is a dict display; a nil key is **value.
	Dict struct {
		exprBase
		Keys, Values []Expr
	}
	// A Starred is *Value.
	Starred struct {
		exprBase
		Value Expr
	}
	// An Await is await Value.
	Await struct {
		exprBase
		Value Expr
	}
	// A Yield is yield or yield from; Value may be nil.
	Yield struct {
		exprBase
		Value Expr
	}
	// A Walrus is Target := Value.
	Walrus struct {
		exprBase
		Target, Value Expr
	}
	// A BadExpr is what could not be read.
	BadExpr struct{ exprBase }
)

// A ConstKind says what a Constant is.
type ConstKind uint8

// The kinds of constants.
const (
	Int ConstKind = iota
	Float
	String
	Bytes
	True
	False
	None
	Ellipsis
)

// A Param is a parameter of a function. Star is "", "*" or "**".
type Param struct {
	base
	Name       string
	Star       string
	Annotation Expr
	Default    Expr
}

// Statements.
type (
	// A FuncDef is a function or method.
	FuncDef struct {
		stmtBase
		Name       string
		NameSpan   Span
		Params     []*Param
		Returns    Expr
		Body       []Stmt
		Decorators []Expr
		Async      bool
	}
	// A ClassDef is a class.
	ClassDef struct {
		stmtBase
		Name       string
		NameSpan   Span
		Bases      []Expr
		Keywords   []*Keyword
		Body       []Stmt
		Decorators []Expr
	}
	// An Assign is Targets = Value; with an annotation it may lack a value.
	Assign struct {
		stmtBase
		Targets    []Expr
		Value      Expr
		Annotation Expr
	}
	// An AugAssign is Target Op= Value; Op has no "=".
	AugAssign struct {
		stmtBase
		Target Expr
		Op     string
		Value  Expr
	}
	// A For is a for loop.
	For struct {
		stmtBase
		Target, Iter Expr
		Body, Else   []Stmt
		Async        bool
	}
	// A While is a while loop.
	While struct {
		stmtBase
		Test       Expr
		Body, Else []Stmt
	}
	// An If is if/else; elif is an If in Else.
	If struct {
		stmtBase
		Test       Expr
		Body, Else []Stmt
	}
	// A With is with Items: Body.
	With struct {
		stmtBase
		Items []*WithItem
		Body  []Stmt
		Async bool
	}
	// A WithItem is Context as Target.
	WithItem struct {
		exprBase
		Context, Target Expr
	}
	// A Try is try/except/else/finally.
	Try struct {
		stmtBase
		Body, Else, Finally []Stmt
		Handlers            []*Handler
	}
	// A Handler is one except clause. Type is nil for a bare except.
	Handler struct {
		stmtBase
		Type     Expr
		Name     string
		Body     []Stmt
		TypeList []Expr // Type's members, if it is a tuple; else Type alone
	}
	// A Return is return Value; Value may be nil.
	Return struct {
		stmtBase
		Value Expr
	}
	// A Raise is raise Value from Cause.
	Raise struct {
		stmtBase
		Value, Cause Expr
	}
	// A Delete is del Targets.
	Delete struct {
		stmtBase
		Targets []Expr
	}
	// An Assert is assert Test, Msg.
	Assert struct {
		stmtBase
		Test, Msg Expr
	}
	// An Import is import Names.
	Import struct {
		stmtBase
		Names []Alias
	}
	// An ImportFrom is from Module import Names; Level counts leading dots.
	ImportFrom struct {
		stmtBase
		Module string
		Level  int
		Names  []Alias // a name of "*" is everything
	}
	// A Global is global or nonlocal.
	Global struct {
		stmtBase
		Names []string
	}
	// An ExprStmt is an expression for its effect.
	ExprStmt struct {
		stmtBase
		Value Expr
	}
	// A Print is a print statement of Python 2.
	Print struct {
		stmtBase
		Args []Expr
	}
	// A Match is match Subject, with its Cases.
	Match struct {
		stmtBase
		Subject Expr
		Cases   []*Case
	}
	// A Case is one case of a Match; its pattern's names are stored.
	Case struct {
		stmtBase
		Names []Expr
		Guard Expr
		Body  []Stmt
	}
	// A Simple is pass, break or continue.
	Simple struct {
		stmtBase
		Word string
	}
	// A BadStmt is what could not be read.
	BadStmt struct{ stmtBase }
)

// An Alias is name as As; As is empty without one.
type Alias struct{ Name, As string }

// A Module is a whole file.
type Module struct {
	base
	Body     []Stmt
	Source   []byte // UTF-8
	Comments []Span // in order, each from # to the end of its line
	Errors   []Span // what did not parse
	Nodes    int    // how many nodes there are; IDs are below it
	lines    []int
	order    []Node  // all nodes, a node before what is below it
	from, to []int32 // by ID: the part of order that is a node with all below it
}

// Subtree lists a node of the module and all nodes below it, in the order of
// the source.
func (m *Module) Subtree(n Node) []Node { return m.order[m.from[n.ID()]:m.to[n.ID()]] }

// ModuleOf is the module that a node is in.
func ModuleOf(n Node) *Module {
	for ; n != nil; n = n.Parent() {
		if m, ok := n.(*Module); ok {
			return m
		}
	}
	return nil
}
