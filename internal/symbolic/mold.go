package symbolic

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// A Mold is a run that was played, to be played again at other dimensions: where the
// same happens, only sizes differ.
type Mold struct {
	tape   *tape.Tape
	played Played
	sizes  []moldSize
	of     []int32 // of each block: its size in sizes, or fixed
	fixed  []unit.Bytes
	guards []moldGuard
	shapes []moldSize // of parameters
}

// fixed marks the blocks of what happens between passes, whose sizes are those of
// parameters.
const fixed = -1

// A moldSize is an expression and the value that it had.
type moldSize struct {
	expr Expr
	was  int64
}

// A moldGuard is a guard and whether it held.
type moldGuard struct {
	guard Guard
	held  bool
}

// Cast is Play, and makes a mold of what was played; the mold is nil where sizes are
// known only roughly, where one play has several values of a dimension, and where
// dimensions follow from others.
func (t *Tape) Cast(env Env, plan Plan, w *tape.Writer, step Step) (*Played, *Mold, error) {
	p, err := t.newPlayer(env, plan, w)
	if err != nil {
		return nil, nil, err
	}
	if plan.Decode == 0 && !plan.Sites && env.Dims[Cards] == 0 {
		p.mold = &Mold{}
	}
	played, err := p.run(step)
	if err != nil || p.mold == nil || played.Error > 0 {
		return played, nil, err
	}
	m := p.mold
	m.played = *played
	m.sizes = p.evaluated
	for _, d := range p.tape.Params {
		for _, s := range d.Shape {
			v, err := p.eval(s)
			if err != nil {
				return nil, nil, err
			}
			m.shapes = append(m.shapes, moldSize{s, v})
		}
	}
	m.fill(w.Tape().Blocks())
	m.fixed = make([]unit.Bytes, len(m.of))
	for b := range m.of {
		m.fixed[b], _, _ = w.Tape().Request(tape.BlockID(b))
	}
	var own tape.Writer
	own.Again(w.Tape(), m.fixed)
	m.tape = own.Tape()
	return played, m, nil
}

// fill says that blocks below n that the tape did not make have fixed sizes.
func (m *Mold) fill(n int) {
	for len(m.of) < n {
		m.of = append(m.of, fixed)
	}
}

// Pour plays the run at other dimensions. It is false where something else happens
// there, and nothing was written.
func (m *Mold) Pour(env Env, w *tape.Writer) (*Played, bool, error) {
	for i := range m.guards {
		g := &m.guards[i]
		if held, err := g.guard.Holds(env.Dims, env.Device); err != nil || held != g.held {
			return nil, false, err
		}
	}
	for i := range m.shapes {
		s := &m.shapes[i]
		if v, err := s.expr.Eval(env.Dims, env.Device); err != nil || v != s.was {
			return nil, false, err
		}
	}
	values := make([]unit.Bytes, len(m.sizes))
	for i := range m.sizes {
		s := &m.sizes[i]
		v, err := s.expr.Eval(env.Dims, env.Device)
		if err != nil || v > 0 != (s.was > 0) {
			return nil, false, err
		}
		values[i] = unit.Bytes(v)
	}
	bytes := slices.Clone(m.fixed)
	for b, n := range m.of {
		if n != fixed {
			bytes[b] = values[n]
		}
	}
	w.Again(m.tape, bytes)
	played := m.played
	played.Dims = env.Dims
	return &played, true, nil
}
