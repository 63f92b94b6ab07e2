package symbolic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
)

// A Guard is a list of conditions that must all be true.
type Guard []Cond

// A Cond compares an expression with a number: it is true when the value is
// above More, or with Not when it is not.
type Cond struct {
	Left Expr
	More int64
	Not  bool
}

// String returns the guard as ParseGuard reads it: "B*S>3072&h<=1024".
func (g Guard) String() string {
	parts := make([]string, len(g))
	for i, c := range g {
		op := ">"
		if c.Not {
			op = "<="
		}
		parts[i] = c.Left.String() + op + strconv.FormatInt(c.More, 10)
	}
	return strings.Join(parts, "&")
}

// ParseGuard reads a guard as String writes it.
func ParseGuard(s string) (Guard, error) {
	var g Guard
	for part := range strings.SplitSeq(s, "&") {
		c := Cond{}
		left, right, ok := strings.Cut(part, "<=")
		if c.Not = ok; !ok {
			if left, right, ok = strings.Cut(part, ">"); !ok {
				return nil, fmt.Errorf("condition %q has neither > nor <=", part)
			}
		}
		var err error
		if c.Left, err = Parse(left); err != nil {
			return nil, err
		}
		if c.More, err = strconv.ParseInt(right, 10, 64); err != nil {
			return nil, fmt.Errorf("condition %q compares with no number", part)
		}
		g = append(g, c)
	}
	return g, nil
}

// Holds reports whether all conditions are true.
func (g Guard) Holds(d Dims, dev kernel.Device) (bool, error) {
	for _, c := range g {
		v, err := c.Left.Eval(d, dev)
		if err != nil {
			return false, err
		}
		if (v > c.More) == c.Not {
			return false, nil
		}
	}
	return true, nil
}
