package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A closed form is a sum of expressions, each taken several times: once for
// every layer that has it.
type closed struct {
	counts map[place]int64
	exprs  map[place]symbolic.Expr
}

// A place is where an expression stands: the same one in several layers of a
// stack counts several times.
type place struct{ stack, at string }

func newClosed() *closed {
	return &closed{map[place]int64{}, map[place]symbolic.Expr{}}
}

// add takes an expression that stands in a part once more.
func (c *closed) add(stack, at string, e symbolic.Expr) {
	p := place{stack, at + " " + e.String()}
	c.counts[p]++
	c.exprs[p] = e
}

// text writes the sum: what stands outside of layers, and for each number of
// layers what so many have. layers are the numbers of each stack, symbols what
// they are called.
func (c *closed) text(layers map[string]int64, symbols map[string]string) string {
	type group struct {
		stack string
		times int64
	}
	sums := map[group]*polynomial{}
	for p, times := range c.counts {
		g := group{p.stack, times}
		if p.stack == "" {
			g.times = 1
		}
		if sums[g] == nil {
			sums[g] = &polynomial{terms: map[string]symbolic.Term{}}
		}
		more := int64(1)
		if p.stack == "" {
			more = times
		}
		sums[g].add(c.exprs[p], more)
	}
	groups := slices.SortedFunc(maps.Keys(sums), func(a, b group) int {
		return cmp.Or(strings.Compare(a.stack, b.stack), cmp.Compare(b.times, a.times))
	})
	var parts []string
	for _, g := range groups {
		sum, n := sums[g].text()
		if sum == "" {
			continue
		}
		factor := times(g.times, layers[g.stack], symbols[g.stack])
		switch {
		case g.stack == "" || factor == "1":
			parts = append(parts, sum)
		case n == 1:
			parts = append(parts, factor+"*"+sum)
		default:
			parts = append(parts, factor+"*("+sum+")")
		}
	}
	return strings.ReplaceAll(strings.Join(parts, " + "), "+ -", "- ")
}

// times is how often layers count: "L", "(L-1)" or a number.
func times(n, layers int64, symbol string) string {
	switch {
	case symbol == "" || n == 1 && layers != 1:
		return strconv.FormatInt(n, 10)
	case n == layers:
		return symbol
	case n < layers && layers-n <= 2:
		return fmt.Sprintf("(%s-%d)", symbol, layers-n)
	}
	return strconv.FormatInt(n, 10)
}

// A polynomial is a sum whose like terms are one.
type polynomial struct{ terms map[string]symbolic.Term }

func (p *polynomial) add(e symbolic.Expr, times int64) {
	for _, t := range e.Terms {
		key := symbolic.Expr{Terms: []symbolic.Term{{Num: 1, Den: 1, Factors: t.Factors}}}.String()
		have, ok := p.terms[key]
		if !ok {
			have = symbolic.Term{Num: 0, Den: 1, Factors: t.Factors}
		}
		have.Num, have.Den = have.Num*t.Den+t.Num*times*have.Den, have.Den*t.Den
		if g := symbolic.GCD(have.Num, have.Den); g > 1 {
			have.Num, have.Den = have.Num/g, have.Den/g
		}
		p.terms[key] = have
	}
}

// text writes the terms, those of most factors first, and how many there are.
func (p *polynomial) text() (string, int) {
	keys := slices.SortedFunc(maps.Keys(p.terms), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(p.terms[b].Factors), len(p.terms[a].Factors)), strings.Compare(a, b))
	})
	var words []string
	for _, k := range keys {
		if t := p.terms[k]; t.Num != 0 {
			words = append(words, symbolic.Expr{Terms: []symbolic.Term{t}}.String())
		}
	}
	return strings.Join(words, " + "), len(words)
}
