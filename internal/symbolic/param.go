package symbolic

import (
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/tape"
)

// gradients notes where the gradients are now.
func (p *player) gradients(params []Tensor) {
	saved := p.runs[ofOwn]
	p.runs[ofOwn] = p.firstMicro
	at := 0
	p.tape.EachParam(p.env.Kinds, func(d *Param, i int) {
		params[at].Grad, params[at].Graded = p.block(d.at(d.Grad), i), d.Grad.Part != ""
		at++
	})
	p.runs[ofOwn] = saved
}

// EachParam calls f for each parameter in the order of the model, once for each
// layer that has it. kinds are those of the layers, by stack.
func (t *Tape) EachParam(kinds map[string][]string, f func(d *Param, layer int)) {
	list := t.Params
	for at := 0; at < len(list); {
		d := &list[at]
		if d.Stack == "" {
			f(d, 0)
			at++
			continue
		}
		end := at
		for end < len(list) && list[end].Stack == d.Stack {
			end++
		}
		of := kinds[d.Stack]
		for i := range of {
			for k := at; k < end; k++ {
				if c := list[k].Class; c == "" || c == Position(of, i, list[k].Level) {
					f(&list[k], i)
				}
			}
		}
		at = end
	}
}

// params returns the parameters and where they are.
func (p *player) params() ([]Tensor, error) {
	var all []Tensor
	var failed error
	p.tape.EachParam(p.env.Kinds, func(d *Param, i int) {
		t := Tensor{Name: d.Name, DType: d.DType, Trainable: d.Trainable, Grad: tape.NoBlock}
		for _, s := range d.Shape {
			v, err := p.eval(s)
			if err != nil {
				failed = err
			}
			t.Shape = append(t.Shape, v)
		}
		if d.Stack != "" {
			n := strconv.Itoa(i)
			t.Name = strings.Replace(d.Name, "{}", n, 1)
			t.Layer = p.layerName(d.Stack, i)
		}
		t.Block = p.block(d.at(d.Home), i)
		all = append(all, t)
	})
	return all, failed
}

// Parameters returns the parameters at the given dimensions, without a play.
// paths are those of a Plan, so that layers are called as in a play with them.
func (t *Tape) Parameters(env Env, paths map[string]string) ([]Tensor, error) {
	p, err := t.newPlayer(env, Plan{Paths: paths}, nil)
	if err != nil {
		return nil, err
	}
	return p.params()
}

// at is a place of a parameter as a Ref. Of one without layers of its own, the layer
// is counted from the first, or, below 0, from the last.
func (d *Param) at(r Ref) Ref {
	if d.Stack == "" && r.At < 0 {
		r.Which, r.At = NthLast, -1-r.At
	}
	return r
}

// block is the block that a ref of layer i means, NoBlock for none.
func (p *player) block(r Ref, i int) tape.BlockID {
	if r.Part != "" {
		if b := p.find(p.target(r), i); b != nil {
			return *b
		}
	}
	return tape.NoBlock
}
