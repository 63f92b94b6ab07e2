package solve

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// candidates are the kernels' functions that an operator may have called; large
// says whether there are tensors above 2 GiB, which are summed in parts.
func candidates(label string, large bool) []kernel.Function {
	var list []kernel.Function
	for _, fn := range kernel.All() {
		if !large && (hasWord(fn.Name, "accumulation") || hasWord(fn.Name, "part")) {
			continue
		}
		if strings.HasPrefix(fn.Name, "reduce_") && !strings.HasSuffix(label, "raw") {
			continue // buffers are no tensors
		}
		if calledBy(label, fn) {
			list = append(list, fn)
		}
	}
	return list
}

// decisions are the functions that alone say what an operator asks for.
func decisions(label string) []kernel.Function {
	return slices.DeleteFunc(candidates(label, false), func(fn kernel.Function) bool { return !fn.Decides })
}

// hasWord reports whether a word is in a name whose words "_" parts.
func hasWord(name, word string) bool {
	return slices.Contains(strings.Split(name, "_"), word)
}

// An argument is a value that an argument of a function may have.
type argument struct {
	expr   symbolic.Expr
	values []int64
}

// maxArguments bounds the monomials that an argument without a role is
// searched among.
const maxArguments = 220

// roles says what the arguments of a name may be: numbers, or monomials of at
// most this many factors, whose dimensions are among the names if there are any,
// and whose values are at most so large if there is a limit.
var roles = map[string]struct {
	numbers []int64
	degree  int
	names   string
	most    int64
}{
	"accumulator": {numbers: []int64{4, 2, 8, 1, 16}},
	"element":     {numbers: []int64{2, 4, 8, 1, 16}},
	"part":        {numbers: []int64{0, 1, 2, 3}},
	"dropout":     {numbers: []int64{0, 1}},
	"batch":       {degree: 1, names: "B"},
	"heads":       {degree: 1, names: "akq", most: 256},
	"kv_heads":    {degree: 1, names: "akq", most: 256},
	"sequences":   {degree: 2, names: "Bakq"},
	"length":      {degree: 1, names: "STUXY"},
	"queries":     {degree: 1, names: "STUXY"},
	"keys":        {degree: 1, names: "STUXY"},
	"head":        {degree: 1, names: "dnrvmu", most: 512},
	"value":       {degree: 1, names: "dnrvmu", most: 512},
	"indices":     {degree: 3, names: "BSTXt"},
	"sorted":      {degree: 3, names: "BSTXt"},
	"width":       {degree: 1, names: "hewd"},
	"groups":      {degree: 1, names: "E"},
	"tokens":      {degree: 2, names: "BS"},

	// A weight's extents are a hidden size, a size of a head times heads, or an MLP's.
	"features_out": {degree: 2, names: "hfdakq"},
	"features_in":  {degree: 2, names: "hfdakq"},
}

// usual is what an argument mostly means. Rows are a table's of words or of positions,
// which may begin at 2, or tokens, each of which has several heads and may have several
// experts. Heads may have a part that is rotated and one that is not, and values of a
// size of their own. Projections of queries, keys and values, or an MLP's two, may be one.
var usual = map[string][]string{
	"tokens":       {"B*S"},
	"features_out": {"2*f", "a*d+2*d*k"},
	"rows":         {"P", "P+2", "R", "T", "V", "B*S", "B*S*a", "B*S*t"},
	"head":         {"n+r"},
	"value":        {"v"},
}

func argumentName(arg string) string {
	name, _, _ := strings.Cut(arg, ":")
	return name
}

// arguments lists what an argument of a function may be.
func (f *fitter) arguments(arg string) []argument {
	name := argumentName(arg)
	if f.constants != nil {
		return f.scriptArguments(name)
	}
	role, ok := roles[name]
	var list []argument
	for _, n := range role.numbers {
		list = append(list, f.number(n))
	}
	if len(list) > 0 {
		return list
	}
	for _, expr := range usual[name] {
		list = append(list, f.argument(expr)...)
	}
	first := len(list)
	var fused []argument // after all dimensions as they are
	for _, m := range f.monomials {
		if ok && (len(m.factors) == 0 || len(m.factors) > role.degree || !madeOf(m.factors, role.names) || role.most > 0 && slices.Max(m.values) > role.most) {
			continue
		}
		if slices.ContainsFunc(m.factors, ofCards) {
			continue
		}
		if len(m.factors) > 1 {
			list, fused = append(list, fused...), nil
		}
		list = append(list, argument{symbolic.Sum(symbolic.Term{Num: 1, Den: 1, Factors: m.factors}), m.values})
		if len(list) >= maxArguments {
			break
		}
		if !ok && len(m.factors) == 1 {
			for _, n := range []int64{2, 3, 4} {
				fused = append(fused, argument{symbolic.Sum(symbolic.Term{Num: n, Den: 1, Factors: m.factors}), scaled(m.values, n)})
			}
		}
	}
	list = append(list, fused...)
	if name == "queries" { // a single token's: one, or the query heads that share a key head, which flash attention takes for queries
		list = append(list, f.number(1))
		list = append(list, f.argument("a/k")...)
	}
	if !ok && len(list) > first && len(list[first].expr.Terms[0].Factors) == 0 {
		one := list[first] // the product of nothing is the last to be meant
		list = append(slices.Delete(list, first, first+1), one)
	}
	return list
}

// ofCards reports whether a factor is the number of cards that share parameters, or
// follows from it: a layer's kernels see its parameters whole.
func ofCards(f symbolic.Factor) bool {
	return f.Dim == symbolic.Cards || symbolic.DerivedFromShards(f.Dim)
}

// number is a number as what an argument may be.
func (f *fitter) number(n int64) argument {
	return argument{symbolic.Const(n), slices.Repeat([]int64{n}, len(f.sites))}
}

// argument is an expression as what an argument may be, none where there are not all
// of its dimensions.
func (f *fitter) argument(expr string) []argument {
	a := argument{expr: symbolic.MustParse(expr)}
	for _, s := range f.sites {
		v, err := a.expr.Eval(s.dims, s.device)
		if err != nil {
			return nil
		}
		a.values = append(a.values, v)
	}
	return []argument{a}
}

func scaled(values []int64, n int64) []int64 {
	list := make([]int64, len(values))
	for i, v := range values {
		list[i] = n * v
	}
	return list
}

// madeOf reports whether all dimensions of factors are among the names, each of
// which is one letter.
func madeOf(factors []symbolic.Factor, names string) bool {
	if names == "" {
		return true
	}
	ok := true
	symbolic.Sum(symbolic.Term{Num: 1, Den: 1, Factors: factors}).Names(func(name string) {
		ok = ok && strings.Contains(names, name[:1])
	})
	return ok
}

// kernel is a function of package kernel that is right everywhere; it must be 0
// where there is no allocation.
func (f *fitter) kernel(label string, values []int64, present []bool, constant bool) (symbolic.Expr, bool) {
	if f.pixels != nil {
		return f.kernelOfPixels(label, values, present, constant)
	}
	return f.kernelOf(f.inTurn(candidates(label, false)), values, present, constant)
}

// inTurn puts functions whose turn in the present call of their operator is over behind
// the others: recordings on one card may not tell them apart.
func (f *fitter) inTurn(functions []kernel.Function) []kernel.Function {
	at := slices.IndexFunc(functions, func(fn kernel.Function) bool { return fn.Name == f.turn })
	var first, last []kernel.Function
	for i, fn := range functions {
		if fn.Once && i <= at {
			last = append(last, fn)
		} else {
			first = append(first, fn)
		}
	}
	return append(first, last...)
}

// turnOf is the function that the call of an operator was last found to ask for once,
// "" in another call.
func (s *solver) turnOf(label string) string {
	fn, _ := kernel.Lookup(s.turn)
	if !calledBy(label, fn) {
		s.turn = ""
	}
	return s.turn
}

// took notes what an allocation was found to be.
func (s *solver) took(e symbolic.Expr) {
	e.Calls(func(name string) {
		if fn, ok := kernel.Lookup(name); ok && fn.Once {
			s.turn = name
		}
	})
}

// calledBy reports whether an operator of a label calls a function.
func calledBy(label string, fn kernel.Function) bool {
	for op := range strings.FieldsSeq(label) {
		if slices.Contains(fn.Operators, op) {
			return true
		}
	}
	return false
}

// kernelOf is one of some functions.
func (f *fitter) kernelOf(functions []kernel.Function, values []int64, present []bool, constant bool) (symbolic.Expr, bool) {
	for _, fn := range functions {
		if constant && len(fn.Args) > 0 {
			continue // dimensions have nothing to do with it
		}
		lists := make([][]argument, len(fn.Args))
		for i, a := range fn.Args {
			lists[i] = f.arguments(a)
		}
		if f.constants != nil {
			bounded(lists)
		}
		for _, choices := range [][][]argument{likely(fn, lists), lists} {
			if e, ok := f.call(fn, values, present, choices); ok {
				return f.ofExamples(e, values, present), true
			}
		}
	}
	return symbolic.Expr{}, false
}

// ofExamples is a sum over the tokens of each example, where one over those of a single
// example was found that gives the same: only recordings with one example may have its
// buffers, and the others are left by it.
func (f *fitter) ofExamples(e symbolic.Expr, values []int64, present []bool) symbolic.Expr {
	call := e.Terms[0].Factors[0]
	kind, ok := strings.CutPrefix(call.Func, "reduce_outer")
	if !ok || call.Args[1].String() != "S" || len(call.Args[0].Terms) != 1 {
		return e
	}
	left := symbolic.MustParse("B*" + call.Args[0].String())
	args := append([]symbolic.Expr{call.Args[0], left}, call.Args[1:]...)
	of := symbolic.Sum(symbolic.Term{Num: 1, Den: 1, Factors: []symbolic.Factor{{Func: "reduce_middle" + kind, Args: args}}})
	for i, s := range f.sites {
		v, err := of.Eval(s.dims, s.device)
		if err != nil || present[i] && v != values[i] || !present[i] && v != 0 {
			return e
		}
	}
	return of
}

// call tries all choices of arguments; the first site refuses most of them.
func (f *fitter) call(fn kernel.Function, values []int64, present []bool, lists [][]argument) (symbolic.Expr, bool) {
	at, args := make([]int, len(lists)), make([]int64, len(lists))
	for _, l := range lists {
		if len(l) == 0 {
			return symbolic.Expr{}, false
		}
	}
	start := first(present) // a value that is not 0 tells most
	for {
		if f.calls != nil {
			if *f.calls--; *f.calls < 0 {
				return symbolic.Expr{}, false
			}
		}
		if f.agrees(fn, values, present, lists, at, args, start) {
			exprs := make([]symbolic.Expr, len(at))
			for i, k := range at {
				exprs[i] = lists[i][k].expr
			}
			return symbolic.Sum(symbolic.Term{Num: 1, Den: 1, Factors: []symbolic.Factor{{Func: fn.Name, Args: exprs}}}), true
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(lists[i]) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return symbolic.Expr{}, false
		}
	}
}

func (f *fitter) agrees(fn kernel.Function, values []int64, present []bool, lists [][]argument, at []int, args []int64, start int) bool {
	n := len(f.sites)
	for k := range n {
		i := (start + k) % n
		for a := range args {
			args[a] = lists[a][at[a]].values[i]
		}
		want := int64(0)
		if present[i] {
			want = values[i]
		}
		if fn.Eval(f.sites[i].device, args) != want {
			return false
		}
	}
	return true
}
