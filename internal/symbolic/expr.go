package symbolic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// Dims gives the dimensions of a model and of a run their values: "B" is the
// micro-batch, "S" the sequence length, "h" the hidden size.
type Dims map[string]int64

// An Expr is a number of bytes, or of anything else, as a sum of terms:
// "2*B*S*h", "4*V*h+B/2", "2*a*up(S,16)". The zero value is 0.
type Expr struct {
	Terms []Term
}

// A Term is a coefficient times factors. The coefficient is Num/Den.
type Term struct {
	Num, Den int64
	Factors  []Factor // sorted by their text; a power is a repeated factor
}

// A Factor is a dimension, or a function of dimensions.
type Factor struct {
	Dim    string
	Func   string // "up", "floor", "min", "max" or a kernel's function; empty for a dimension
	Args   []Expr
	Invert bool // divides
}

// Const is the expression of a number.
func Const(n int64) Expr {
	if n == 0 {
		return Expr{}
	}
	return Expr{[]Term{{Num: n, Den: 1}}}
}

// Product is a coefficient times dimensions.
func Product(num, den int64, dims ...string) Expr {
	t := Term{Num: num, Den: den}
	for _, d := range dims {
		t.Factors = append(t.Factors, Factor{Dim: d})
	}
	return Sum(t)
}

// Sum is an expression of terms, which it reduces and sorts.
func Sum(terms ...Term) Expr {
	var e Expr
	for _, t := range terms {
		if t.Num == 0 {
			continue
		}
		g := GCD(t.Num, t.Den)
		t.Num, t.Den = t.Num/g, t.Den/g
		t.Factors = slices.Clone(t.Factors)
		slices.SortStableFunc(t.Factors, func(a, b Factor) int { return strings.Compare(a.key(), b.key()) })
		e.Terms = append(e.Terms, t)
	}
	return e
}

// key sorts what divides to the end.
func (f Factor) key() string {
	if f.Invert {
		return "~" + f.String()
	}
	return f.String()
}

// GCD is the greatest common divisor, not negative; with 0 it is the other number.
func GCD(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// Times multiplies two expressions out.
func Times(a, b Expr) Expr {
	var terms []Term
	for _, x := range a.Terms {
		for _, y := range b.Terms {
			terms = append(terms, Term{Num: x.Num * y.Num, Den: x.Den * y.Den, Factors: slices.Concat(x.Factors, y.Factors)})
		}
	}
	return Sum(terms...)
}

// String returns the expression as Parse reads it.
func (e Expr) String() string {
	if len(e.Terms) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, t := range e.Terms {
		if i > 0 && t.Num >= 0 {
			b.WriteByte('+')
		}
		t.write(&b)
	}
	return b.String()
}

func (t Term) write(b *strings.Builder) {
	wrote := false
	if t.Num != 1 || len(t.Factors) == 0 || t.Factors[0].Invert {
		b.WriteString(strconv.FormatInt(t.Num, 10))
		wrote = true
	}
	for _, f := range t.Factors {
		switch {
		case f.Invert:
			b.WriteByte('/')
		case wrote:
			b.WriteByte('*')
		}
		b.WriteString(f.String())
		wrote = true
	}
	if t.Den != 1 {
		b.WriteByte('/')
		b.WriteString(strconv.FormatInt(t.Den, 10))
	}
}

// String returns the factor without what it does.
func (f Factor) String() string {
	if f.Func == "" {
		return f.Dim
	}
	args := make([]string, len(f.Args))
	for i, a := range f.Args {
		args[i] = a.String()
	}
	return f.Func + "(" + strings.Join(args, ",") + ")"
}

// Names calls yield with the name of every dimension in e.
func (e Expr) Names(yield func(string)) {
	for _, t := range e.Terms {
		for _, f := range t.Factors {
			if f.Func == "" {
				yield(f.Dim)
			}
			for _, a := range f.Args {
				a.Names(yield)
			}
		}
	}
}

// Calls calls yield with the name of every function in e.
func (e Expr) Calls(yield func(string)) {
	for _, t := range e.Terms {
		for _, f := range t.Factors {
			if f.Func != "" {
				yield(f.Func)
			}
			for _, a := range f.Args {
				a.Calls(yield)
			}
		}
	}
}

// MissingError says that an expression has a name that nobody gave a value.
type MissingError struct{ Name string }

func (e *MissingError) Error() string { return fmt.Sprintf("no value for %q", e.Name) }

// Eval returns the value of e. A division that leaves a remainder rounds down,
// once, at the end of its term. Values beyond 2^61 stay there.
func (e Expr) Eval(d Dims, dev kernel.Device) (int64, error) {
	var sum int64
	for _, t := range e.Terms {
		num, den := t.Num, t.Den
		for _, f := range t.Factors {
			v, err := f.eval(d, dev)
			if err != nil {
				return 0, err
			}
			if f.Invert {
				den = times(den, v)
			} else {
				num = times(num, v)
			}
		}
		if den == 0 {
			return 0, fmt.Errorf("%s divides by zero", e)
		}
		sum = plus(sum, floorDiv(num, den))
	}
	return sum, nil
}

func (f Factor) eval(d Dims, dev kernel.Device) (int64, error) {
	if f.Func == "" {
		v, ok := d[f.Dim]
		if !ok {
			return 0, &MissingError{f.Dim}
		}
		return v, nil
	}
	var few [4]int64
	args := few[:0]
	for _, a := range f.Args {
		v, err := a.Eval(d, dev)
		if err != nil {
			return 0, err
		}
		args = append(args, v)
	}
	return call(f.Func, dev, args)
}

// call is a function of numbers: the few that every expression may use, or a
// kernel's.
func call(name string, dev kernel.Device, a []int64) (int64, error) {
	if own, ok := functions[name]; ok {
		if len(a) != own.args {
			return 0, fmt.Errorf("%s has %d arguments, not %d", name, own.args, len(a))
		}
		return own.eval(a)
	}
	f, ok := kernel.Lookup(name)
	if !ok {
		return 0, &MissingError{name}
	}
	if len(a) != len(f.Args) {
		return 0, fmt.Errorf("%s has %d arguments, not %d", name, len(f.Args), len(a))
	}
	return clamp(f.Eval(dev, a)), nil
}

// functions are those that every expression may use.
var functions = map[string]struct {
	args int
	eval func(a []int64) (int64, error)
}{
	"up": {2, func(a []int64) (int64, error) {
		return divided(a, func() int64 { return times(-floorDiv(-a[0], a[1]), a[1]) })
	}},
	"ceil":  {2, func(a []int64) (int64, error) { return divided(a, func() int64 { return -floorDiv(-a[0], a[1]) }) }},
	"floor": {2, func(a []int64) (int64, error) { return divided(a, func() int64 { return floorDiv(a[0], a[1]) }) }},
	"min":   {2, func(a []int64) (int64, error) { return min(a[0], a[1]), nil }},
	"max":   {2, func(a []int64) (int64, error) { return max(a[0], a[1]), nil }},
}

// arguments is how many arguments a function has; ok is false where there is none
// of the name.
func arguments(name string) (n int, ok bool) {
	if own, ok := functions[name]; ok {
		return own.args, true
	}
	f, ok := kernel.Lookup(name)
	return len(f.Args), ok
}

func divided(a []int64, then func() int64) (int64, error) {
	if a[1] <= 0 {
		return 0, fmt.Errorf("%d cannot divide", a[1])
	}
	return then(), nil
}

// limit is small enough that two of it can be added.
const limit = 1 << 61

func clamp(v int64) int64 { return max(min(v, limit), -limit) }

func plus(a, b int64) int64 { return clamp(clamp(a) + clamp(b)) }

func times(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	p := a * b
	if p/b != a || p > limit || p < -limit {
		if (a < 0) != (b < 0) {
			return -limit
		}
		return limit
	}
	return p
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
