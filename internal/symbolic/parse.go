package symbolic

import (
	"fmt"
	"strconv"
)

// maxDepth bounds how deep functions may stand in one another.
const maxDepth = 8

// Parse reads an expression as String writes it.
func Parse(s string) (Expr, error) {
	p := parser{text: s}
	e, err := p.sum(0)
	if err == nil && p.at < len(s) {
		err = p.fail("nothing more")
	}
	return e, err
}

// MustParse is Parse for expressions that stand in the program.
func MustParse(s string) Expr {
	e, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return e
}

type parser struct {
	text string
	at   int
}

func (p *parser) fail(want string) error {
	return fmt.Errorf("expression %q, character %d: %s expected", p.text, p.at+1, want)
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) sum(depth int) (Expr, error) {
	if depth > maxDepth {
		return Expr{}, p.fail("fewer brackets")
	}
	var terms []Term
	for {
		t, err := p.term(depth)
		if err != nil {
			return Expr{}, err
		}
		terms = append(terms, t)
		if c := p.peek(); c == '+' {
			p.at++
		} else if c != '-' {
			return Sum(terms...), nil
		}
	}
}

func (p *parser) term(depth int) (Term, error) {
	t := Term{Num: 1, Den: 1}
	if p.peek() == '-' {
		p.at++
		t.Num = -1
	}
	for divide := false; ; {
		if c := p.peek(); c >= '0' && c <= '9' {
			n, err := p.number()
			if err != nil {
				return t, err
			}
			if divide {
				t.Den = times(t.Den, n)
			} else {
				t.Num = times(t.Num, n)
			}
			if t.Den == 0 {
				return t, p.fail("a divisor above zero")
			}
		} else {
			f, err := p.factor(depth)
			if err != nil {
				return t, err
			}
			f.Invert = divide
			t.Factors = append(t.Factors, f)
		}
		switch p.peek() {
		case '*':
			divide = false
		case '/':
			divide = true
		default:
			return t, nil
		}
		p.at++
	}
}

func (p *parser) number() (int64, error) {
	start := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	n, err := strconv.ParseInt(p.text[start:p.at], 10, 64)
	if err != nil || n > limit {
		return 0, p.fail("a number up to 2^61")
	}
	return n, nil
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func (p *parser) factor(depth int) (Factor, error) {
	start := p.at
	for c := p.peek(); letter(c) || p.at > start && c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	if p.at == start {
		return Factor{}, p.fail("a name or a number")
	}
	name := p.text[start:p.at]
	if p.peek() != '(' {
		return Factor{Dim: name}, nil
	}
	want, ok := arguments(name)
	if !ok {
		p.at = start
		return Factor{}, p.fail("the name of a function")
	}
	f := Factor{Func: name}
	if p.at+1 < len(p.text) && p.text[p.at+1] == ')' { // a function of the card alone
		p.at++
	}
	for p.peek() != ')' {
		p.at++
		a, err := p.sum(depth + 1)
		if err != nil {
			return f, err
		}
		f.Args = append(f.Args, a)
		if c := p.peek(); c != ',' && c != ')' {
			return f, p.fail(`"," or ")"`)
		}
	}
	if len(f.Args) != want {
		return f, p.fail(fmt.Sprintf("%d arguments, not %d", want, len(f.Args)))
	}
	p.at++
	return f, nil
}
