package symbolic

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// words are what events have in common: what is written alike is read once and
// shared, so that a play can tell that it is equal.
type words struct {
	exprs  map[string]Expr
	guards map[string]Guard
	labels map[string]string
}

func newWords() words {
	return words{map[string]Expr{}, map[string]Guard{}, map[string]string{}}
}

func (w *words) expr(text string) (Expr, error) {
	e, ok := w.exprs[text]
	if ok {
		return e, nil
	}
	e, err := Parse(text)
	if err == nil {
		w.exprs[text] = e
	}
	return e, err
}

func (w *words) guard(text string) (Guard, error) {
	g, ok := w.guards[text]
	if ok {
		return g, nil
	}
	g, err := ParseGuard(text)
	if err == nil {
		w.guards[text] = g
	}
	return g, err
}

func (w *words) label(text string) string {
	l, ok := w.labels[text]
	if !ok {
		l = strings.ReplaceAll(undash(text), ">", " ")
		w.labels[text] = l
	}
	return l
}

// ops are the events of a body.
func (c *Collection) ops(n int) ([]Op, error) {
	if ops, ok := c.parsed[n]; ok {
		return ops, nil
	}
	var ops []Op
	slots := newNumbering()
	for line := range lines(c.bodies[n]) {
		f := strings.Fields(line)
		if len(f) == 0 {
			return nil, fmt.Errorf("body %d, event %d is empty", n, len(ops)+1)
		}
		ops = append(ops, Op{})
		if err := c.words.op(&ops[len(ops)-1], f, slots); err != nil {
			return nil, fmt.Errorf("body %d, event %d: %w", n, len(ops), err)
		}
	}
	c.parsed[n] = ops
	return ops, nil
}

// op reads an event from its fields.
func (w *words) op(op *Op, f []string, slots *numbering) error {
	var err error
	if last := f[len(f)-1]; last[0] == '?' {
		if op.When, err = w.guard(last[1:]); err != nil {
			return err
		}
		f = f[:len(f)-1]
	}
	if len(f) == 0 || f[0][0] != '+' && f[0][0] != '-' {
		return errors.New("an event begins with + or -")
	}
	if f[0][0] == '-' {
		return readFree(op, f, slots)
	}
	if len(f) < 4 || len(f) > 5 {
		return errors.New("+SLOT BYTES CATEGORY OPERATOR expected")
	}
	if op.Slot, err = slots.readAllocation(f[0][1:]); err != nil {
		return err
	}
	if op.Bytes, err = w.expr(f[1]); err != nil {
		return err
	}
	var ok bool
	if op.Category, ok = categoryOf[f[2]]; !ok {
		return fmt.Errorf("category %q", f[2])
	}
	op.Label = w.label(f[3])
	if len(f) == 5 {
		op.Error, err = strconv.ParseFloat(strings.TrimPrefix(f[4], "~"), 64)
		if err != nil || f[4][0] != '~' || !(op.Error >= 0 && op.Error < math.MaxInt32) {
			return fmt.Errorf("error %q", f[4])
		}
	}
	return nil
}

func readFree(op *Op, f []string, slots *numbering) error {
	if len(f) < 2 {
		return errors.New("-PART SLOT expected")
	}
	op.Free = true
	op.Ref.Part = f[0][1:]
	var err error
	if op.Ref.Slot, err = slots.readWithin(op.Ref.Part, f[1]); err != nil {
		return err
	}
	f = f[2:]
	if len(f) > 0 && f[0][0] == '@' {
		op.Ref.Scope = f[0][1:]
		if _, err := place(op.Ref.Scope, runWords); err != nil {
			return err
		}
		f = f[1:]
	}
	if len(f) == 0 {
		return nil
	}
	if len(f) != 2 {
		return errors.New("near, every, nth or last and a number expected")
	}
	which, err1 := place(f[0], whichWords)
	op.Ref.Which = Which(which)
	op.Ref.At, err = strconv.Atoi(f[1])
	return errors.Join(err1, err)
}
