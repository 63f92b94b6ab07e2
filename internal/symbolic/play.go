package symbolic

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Env is where a tape is played.
type Env struct {
	Dims   Dims
	Device kernel.Device
	Kinds  map[string][]string // of each layer, by stack
}

// A Plan says how much is played.
type Plan struct {
	Train  bool
	Micros []int // micro-batches of each optimizer step; of each pass of an evaluation 1
	Decode int   // tokens that are generated after the passes
	Sites  bool  // events say which layer and operator made them
	// Paths are the modules of stacks, "model.layers", for sites that people see;
	// without them sites name parts and say all that is known of an operator.
	Paths map[string]string
	Ready Step // called once, when the model is there and before the first step; may be nil
	// Trace is told which op of which part made each block; may be nil.
	Trace func(b tape.BlockID, part *Part, op *Op)
}

// A Tensor is a parameter at its dimensions.
type Tensor struct {
	Name      string
	Shape     []int64
	DType     string
	Trainable bool
	Layer     string // "layers.3", empty outside of layers
	Block     tape.BlockID
	Grad      tape.BlockID // NoBlock when there is none now
}

// Elements returns the number of elements.
func (t *Tensor) Elements() int64 {
	n := int64(1)
	for _, s := range t.Shape {
		n = times(n, s)
	}
	return n
}

// Step is called after the backward pass of each optimizer step; the gradients
// are dropped after it.
type Step func(w *tape.Writer, params []Tensor) error

// Played says what was played.
type Played struct {
	Params []Tensor
	Starts []int // the event at which each step begins, and the end of the last
	Layers []Layer
	// Error is the sum of sizes that a formula gives only roughly, times their
	// largest relative error in recordings.
	Error unit.Bytes
}

// A Layer is one layer of a stack and the blocks of its first forward pass.
type Layer struct {
	Name        string
	First, Last tape.BlockID // First <= block < Last
}

// Play writes the whole run to w.
func (t *Tape) Play(env Env, plan Plan, w *tape.Writer, step Step) (*Played, error) {
	p, err := t.newPlayer(env, plan, w)
	if err != nil {
		return nil, err
	}
	if err := p.play(Load); err != nil {
		return nil, err
	}
	params, err := p.params()
	if err != nil {
		return nil, err
	}
	out := &p.played
	out.Params = params
	if plan.Ready != nil {
		w.Phase, w.Site = tape.Step, 0
		if err := plan.Ready(w, params); err != nil {
			return nil, err
		}
	}
	for s, micros := range plan.Micros {
		out.Starts = append(out.Starts, w.Tape().Len())
		if err := p.step(s, micros); err != nil {
			return nil, err
		}
		if plan.Train {
			w.Phase, w.Site = tape.Step, 0
			p.gradients(params)
			if step != nil {
				if err := step(w, params); err != nil {
					return nil, err
				}
			}
			p.own = p.firstMicro
			if err := p.play(Zero); err != nil {
				return nil, err
			}
		}
		w.Mark(tape.MarkStep, "", int64(s+1))
	}
	if err := p.decode(); err != nil {
		return nil, err
	}
	out.Starts = append(out.Starts, w.Tape().Len())
	return out, nil
}

// step plays the micro-batches of step s.
func (p *player) step(s, micros int) error {
	for m := range micros {
		scope := Steady
		switch {
		case m > 0:
			scope = Accumulate
		case s == 0:
			scope = First
		}
		p.own = newRun(p.tape)
		if m == 0 {
			p.firstMicro = p.own
		}
		if scope == First {
			p.runs[First] = p.own
		}
		if err := p.play(scope); err != nil {
			return err
		}
	}
	return nil
}

// A player is the state of a play.
type player struct {
	tape  *Tape
	env   Env
	plan  Plan
	w     *tape.Writer
	parts map[string]int // index by name, of the first part with it
	runs  map[string]run // of scopes that are played once
	own   run            // of the scope that is being played
	// firstMicro is the run whose gradients the step has.
	firstMicro run
	values     [][]compiled // by part and class
	played     Played
	sites      map[string]tape.SiteID
}

// A run holds the blocks of one play of a scope: by part name, layer and slot.
type run map[string][][]tape.BlockID

func newRun(*Tape) run { return run{} }

// compiled is an op's value at the dimensions that are played.
type compiled struct {
	bytes unit.Bytes
	on    bool
}

func (t *Tape) newPlayer(env Env, plan Plan, w *tape.Writer) (*player, error) {
	p := &player{tape: t, env: env, plan: plan, w: w, runs: map[string]run{Load: {}}, sites: map[string]tape.SiteID{}}
	p.own = p.runs[Load]
	if plan.Decode > 0 {
		p.env.Dims = promptDims(env.Dims)
	}
	return p, p.compile(func(string) bool { return true })
}

// compile evaluates the parts of some scopes at the dimensions of now.
func (p *player) compile(wanted func(scope string) bool) error {
	values := map[string]int64{}
	at := 0
	for i := range p.tape.Parts {
		part := &p.tape.Parts[i]
		for c := range part.Classes {
			if at == len(p.values) {
				p.values = append(p.values, make([]compiled, len(part.Classes[c].Ops)))
			}
			if wanted(part.Scope) {
				if err := p.ops(part.Classes[c].Ops, p.values[at], values); err != nil {
					return err
				}
			}
			at++
		}
	}
	return nil
}

// ops evaluates the ops of a class; values are those that are known.
func (p *player) ops(ops []Op, row []compiled, values map[string]int64) error {
	for o := range ops {
		op := &ops[o]
		on, err := op.When.Holds(p.env.Dims, p.env.Device)
		if err != nil {
			return err
		}
		row[o].on = on
		if op.Free || !on {
			continue
		}
		key := op.text
		if key == "" {
			key = op.Bytes.String()
		}
		v, ok := values[key]
		if !ok {
			if v, err = op.Bytes.Eval(p.env.Dims, p.env.Device); err != nil {
				return err
			}
			values[key] = v
		}
		row[o].bytes = unit.Bytes(v)
		row[o].on = v > 0
	}
	return nil
}

// play plays the parts of a scope.
func (p *player) play(scope string) error {
	at := 0
	for i := range p.tape.Parts {
		part := &p.tape.Parts[i]
		if part.Scope == scope {
			if err := p.part(part, p.values[at:at+len(part.Classes)]); err != nil {
				return err
			}
		}
		at += len(part.Classes)
	}
	return nil
}

func (p *player) part(part *Part, values [][]compiled) error {
	p.w.Phase = phaseOf(part)
	if part.Stack == "" {
		blocks := p.room(part, 1)
		return p.body(part, &part.Classes[0], values[0], 0, 1, blocks)
	}
	kinds := p.env.Kinds[part.Stack]
	n := len(kinds)
	blocks := p.room(part, n)
	for k := range n {
		i := k
		if part.Down {
			i = n - 1 - k
		}
		key := Position(kinds, i, part.Level)
		c := part.class(key)
		if c < 0 {
			return fmt.Errorf("no recording has a layer %q in %s", key, part.Name)
		}
		first := tape.BlockID(p.w.Tape().Blocks())
		if err := p.body(part, &part.Classes[c], values[c], i, n, blocks); err != nil {
			return err
		}
		if part.Scope == First && part.Name == part.Stack+".forward" {
			last := tape.BlockID(p.w.Tape().Blocks())
			p.played.Layers = append(p.played.Layers, Layer{p.layerName(part.Stack, i), first, last})
		}
	}
	return nil
}

func (part *Part) class(key string) int {
	for c := range part.Classes {
		if part.Classes[c].Key == key {
			return c
		}
	}
	return -1
}

func (p *player) room(part *Part, n int) [][]tape.BlockID {
	blocks := make([][]tape.BlockID, n)
	flat := make([]tape.BlockID, n*part.Slots)
	for i := range flat {
		flat[i] = tape.NoBlock
	}
	for i := range blocks {
		blocks[i] = flat[i*part.Slots : (i+1)*part.Slots]
	}
	p.own[part.Name] = blocks
	return blocks
}

func (p *player) body(part *Part, c *Class, values []compiled, i, n int, blocks [][]tape.BlockID) error {
	for o := range c.Ops {
		op := &c.Ops[o]
		if !values[o].on {
			continue
		}
		if p.plan.Sites {
			p.w.Site = p.site(part, i, op.Label)
		}
		if !op.Free {
			blocks[i][op.Slot] = p.w.Alloc(values[o].bytes, op.Category)
			if p.plan.Trace != nil {
				p.plan.Trace(blocks[i][op.Slot], part, op)
			}
			if op.Error > 0 {
				p.played.Error += unit.Bytes(op.Error * float64(values[o].bytes))
			}
			continue
		}
		if op.Ref.Part == part.Name && op.Ref.Which == Near && op.Ref.At == 0 && op.Ref.Scope == "" {
			p.free(&blocks[i][op.Ref.Slot])
			continue
		}
		p.release(op.Ref, i)
	}
	return nil
}

func (p *player) free(b *tape.BlockID) {
	if *b != tape.NoBlock {
		p.w.Free(*b)
		*b = tape.NoBlock
	}
}

// release frees what a ref of layer i means.
func (p *player) release(r Ref, i int) {
	for _, b := range p.find(r, i) {
		p.free(b)
	}
}

// find returns the places of the blocks that a ref of layer i means.
func (p *player) find(r Ref, i int) []*tape.BlockID {
	in := p.own
	if r.Scope != "" {
		in = p.runs[r.Scope]
	}
	blocks := in[r.Part]
	n := len(blocks)
	at := i + r.At
	switch r.Which {
	case Every:
		all := make([]*tape.BlockID, n)
		for k := range blocks {
			all[k] = &blocks[k][r.Slot]
		}
		return all
	case Nth:
		at = r.At
	case NthLast:
		at = n - 1 - r.At
	case Near:
		if n == 1 && r.At == 0 {
			at = 0
		}
	}
	if at < 0 || at >= n {
		return nil
	}
	return []*tape.BlockID{&blocks[at][r.Slot]}
}

// gradients notes where the gradients are now.
func (p *player) gradients(params []Tensor) {
	saved := p.own
	p.own = p.firstMicro
	at := 0
	p.eachParam(func(d *Param, i int) {
		t := &params[at]
		at++
		t.Grad = tape.NoBlock
		if d.Grad.Part == "" {
			return
		}
		if found := p.find(d.Grad, i); len(found) > 0 {
			t.Grad = *found[0]
		}
	})
	p.own = saved
}

// eachParam calls f for each parameter in the order of the model.
func (p *player) eachParam(f func(d *Param, layer int)) {
	list := p.tape.Params
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
		kinds := p.env.Kinds[d.Stack]
		for i := range kinds {
			key := ""
			for k := at; k < end; k++ {
				if list[k].Class != "" {
					if key == "" {
						key = Position(kinds, i, list[k].Level)
					}
					if list[k].Class != key {
						continue
					}
				}
				f(&list[k], i)
			}
		}
		at = end
	}
}

// params returns the parameters and where they are.
func (p *player) params() ([]Tensor, error) {
	var all []Tensor
	var failed error
	p.eachParam(func(d *Param, i int) {
		t := Tensor{Name: d.Name, DType: d.DType, Trainable: d.Trainable, Block: tape.NoBlock, Grad: tape.NoBlock}
		for _, s := range d.Shape {
			v, err := s.Eval(p.env.Dims, p.env.Device)
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
		if d.Home.Part != "" {
			if found := p.find(d.Home, i); len(found) > 0 {
				t.Block = *found[0]
			}
		}
		all = append(all, t)
	})
	return all, failed
}

// Parameters returns the parameters at the given dimensions, without a play.
func (t *Tape) Parameters(env Env) ([]Tensor, error) {
	p := &player{tape: t, env: env, runs: map[string]run{}}
	return p.params()
}

func (p *player) site(part *Part, i int, label string) tape.SiteID {
	frame := tape.Frame{Name: part.Name, File: label}
	if p.plan.Paths != nil {
		frame = tape.Frame{File: operatorOf(label)}
	}
	if part.Stack != "" {
		frame.Name = p.layerName(part.Stack, i)
	}
	key := frame.Name + " " + label
	id, ok := p.sites[key]
	if !ok {
		id = p.w.Tape().InternSite([]tape.Frame{frame})
		p.sites[key] = id
	}
	return id
}

// layerName is "model.layers.3".
func (p *player) layerName(stack string, i int) string {
	if path, ok := p.plan.Paths[stack]; ok {
		stack = path
	}
	return stack + "." + strconv.Itoa(i)
}

// operatorOf is the operator of a label that people know: not the one that only
// finds the memory for it.
func operatorOf(label string) string {
	if label == "" {
		return ""
	}
	words := strings.Fields(label)
	for _, w := range words {
		if !strings.HasPrefix(w, "empty") && w != "resize_" && w != "new_empty" {
			return "aten::" + w
		}
	}
	return "aten::" + words[len(words)-1]
}

// phaseOf is the phase of a part, by its name.
func phaseOf(part *Part) tape.Phase {
	switch {
	case part.Scope == Load:
		return tape.Load
	case part.Scope == Zero:
		return tape.Step
	case part.Name == "batch" || part.Name == "end":
		return tape.Idle
	case part.Name == "loss":
		return tape.Loss
	case part.Name == "backward" || part.Name == "drop" || strings.HasSuffix(part.Name, ".backward") || strings.HasSuffix(part.Name, ".bottom"):
		return tape.Backward
	}
	return tape.Forward
}
