package symbolic

import (
	"fmt"
	"slices"
	"strings"
)

// What names of an adapter's parameters end with, and what the weight that it is
// added to is called.
const (
	adapterDown = ".lora_A.default.weight"
	adapterUp   = ".lora_B.default.weight"
	adaptedBase = ".base_layer"
)

// rank is the dimension that only adapters have.
const rank = "A"

// Modules are the modules of a tape with weights of two dimensions, with "{}" for
// the number of a layer, and whether each has an adapter.
func (t *Tape) Modules() map[string]bool {
	found := map[string]bool{}
	for i := range t.Params {
		p := &t.Params[i]
		if name, ok := strings.CutSuffix(p.Name, adapterDown); ok {
			found[name] = true
			continue
		}
		name, ok := strings.CutSuffix(p.Name, ".weight")
		name = strings.TrimSuffix(name, adaptedBase)
		if _, there := found[name]; ok && !there && len(p.Shape) == 2 && !strings.Contains(name, ".lora_") {
			found[name] = false
		}
	}
	return found
}

// AdaptsParameters reports whether an adapter is on a parameter that is not the weight
// of a module of its own, as those of experts, which WithoutAdapters cannot take off.
func (t *Tape) AdaptsParameters() bool {
	weights := map[string]bool{}
	for i := range t.Params {
		weights[t.Params[i].Name] = true
	}
	return slices.ContainsFunc(t.Params, func(p Param) bool {
		module, ok := strings.CutSuffix(p.Name, adapterDown)
		return ok && !weights[module+adaptedBase+".weight"]
	})
}

// WithoutAdapters is the tape of the model with some of its adapters taken off:
// those of the modules that drop names. An adapter is a stretch of events of its
// own in the forward pass, after its layer's product, and another in the backward
// pass, before its layer's: they go, and what they handed on is then what the layer
// itself has. What cannot be told apart is an error.
//
// freely is the same for a run whose layers are computed again, so that its forward
// pass keeps nothing; it tells how long the first layer holds what no adapter needs
// any more. It may be nil.
func (t *Tape) WithoutAdapters(drop func(module string) bool, freely *Tape) (*Tape, error) {
	out := *t
	out.Parts = slices.Clone(t.Parts)
	for i := range out.Parts {
		out.Parts[i].Classes = slices.Clone(out.Parts[i].Classes)
		for c := range out.Parts[i].Classes {
			out.Parts[i].Classes[c].Ops = slices.Clone(out.Parts[i].Classes[c].Ops)
		}
	}
	out.Params = slices.Clone(t.Params)
	var stacks []string
	for i := range t.Params {
		if p := &t.Params[i]; strings.HasSuffix(p.Name, adapterDown) && !slices.Contains(stacks, p.Stack) {
			stacks = append(stacks, p.Stack)
		}
	}
	for _, stack := range stacks {
		s := stripper{t: &out, stack: stack, drop: drop, freely: freely, shared: map[string]bool{}}
		if err := s.strip(); err != nil {
			return nil, fmt.Errorf("adapters of %s: %w", stack, err)
		}
	}
	out.Params = slices.DeleteFunc(out.Params, func(p Param) bool {
		name, ok := adapterOf(p.Name)
		return ok && drop(name)
	})
	for i := range out.Params {
		if name, ok := strings.CutSuffix(out.Params[i].Name, adaptedBase+".weight"); ok && drop(name) {
			out.Params[i].Name = name + ".weight"
		}
	}
	out.freeOnlyMade()
	return &out, out.check()
}

// adapterOf is the module that has the adapter that a parameter is of.
func adapterOf(param string) (module string, ok bool) {
	if module, ok = strings.CutSuffix(param, adapterDown); ok {
		return module, true
	}
	return strings.CutSuffix(param, adapterUp)
}

// freeOnlyMade drops frees of slots that nothing is in any more.
func (t *Tape) freeOnlyMade() {
	made := map[slotOf]bool{}
	t.eachClass(func(p *Part, c *Class) {
		for i := range c.Ops {
			if !c.Ops[i].Free {
				made[slotOf{p.Name, c.Ops[i].Slot}] = true
			}
		}
	})
	t.eachClass(func(_ *Part, c *Class) {
		c.Ops = slices.DeleteFunc(c.Ops, func(op Op) bool { return op.Free && !made[slotOf{op.Ref.Part, op.Ref.Slot}] })
	})
}

// part is the part of a name in a scope, nil for none.
func (t *Tape) part(scope, name string) *Part {
	for i := range t.Parts {
		if p := &t.Parts[i]; p.Scope == scope && p.Name == name {
			return p
		}
	}
	return nil
}

// A stripper takes adapters off the layers of one stack.
type stripper struct {
	t      *Tape
	stack  string
	drop   func(module string) bool
	freely *Tape           // nil for none
	there  []string        // modules with adapters, in the order of the forward pass
	back   []string        // and of the backward pass
	shared map[string]bool // its input's gradient is added to that of the one before
}

func (s *stripper) strip() error {
	if err := s.order(); err != nil {
		return err
	}
	var failed error
	s.t.eachClass(func(p *Part, c *Class) {
		if p.Stack != s.stack || failed != nil {
			return
		}
		var err error
		if c.Ops, err = s.class(p, c); err != nil {
			failed = fmt.Errorf("%s %s: %w", p.Scope, p.Name, err)
		}
	})
	if failed != nil {
		return failed
	}
	return s.load()
}

// class strips a class of layers: the backward pass first, since a pass that is
// computed again stands before it.
func (s *stripper) class(p *Part, c *Class) ([]Op, error) {
	b := backward{stripper: s, part: p, key: c.Key, ops: c.Ops}
	if err := b.strip(); err != nil {
		return nil, err
	}
	f := forward{stripper: s, part: p, ops: b.ops}
	err := f.strip()
	return f.ops, err
}

// order finds in which order passes come to the adapters. A layer's backward pass
// gives back what the forward pass kept of each.
func (s *stripper) order() error {
	grads := map[int]string{} // of adapters, by slot
	var in string
	for i := range s.t.Params {
		p := &s.t.Params[i]
		if name, ok := strings.CutSuffix(p.Name, adapterUp); ok && p.Stack == s.stack && p.Grad.Part != "" {
			grads[p.Grad.Slot], in = name, p.Grad.Part
		}
	}
	if p := s.t.part(First, in); p != nil {
		for _, c := range p.Classes {
			if err := s.orderIn(c.Ops, grads); err == nil && len(s.back) == len(grads) {
				return nil
			}
		}
	}
	return fmt.Errorf("the backward pass of %d adapters is not told apart", len(grads))
}

// orderIn looks at one layer's backward pass.
func (s *stripper) orderIn(ops []Op, grads map[int]string) error {
	s.back, s.there = nil, nil
	type kept struct {
		ref    Ref
		module string
	}
	var list []kept
	made := map[Ref]int{} // what the forward pass made of adapters, in its order
	s.t.eachClass(func(p *Part, c *Class) {
		if p.Stack == s.stack {
			for _, at := range narrow(c.Ops) {
				r := Ref{Part: p.Name, Slot: c.Ops[at].Slot}
				if _, ok := made[r]; !ok {
					made[r] = at
				}
			}
		}
	})
	module := ""
	for i := range ops {
		op := &ops[i]
		if !op.Free {
			if name, ok := grads[op.Slot]; ok {
				module = name
				s.back = append(s.back, module)
			}
			continue
		}
		if _, ok := made[op.Ref]; ok {
			list = append(list, kept{op.Ref, s.nearest(ops, i, grads, module)})
		}
	}
	if len(list) != len(grads) {
		return fmt.Errorf("%d of %d adapters keep something", len(list), len(grads))
	}
	slices.SortStableFunc(list, func(a, b kept) int { return made[a.ref] - made[b.ref] })
	for _, k := range list {
		s.there = append(s.there, k.module)
	}
	return nil
}

// nearest is the module whose gradient is computed where event i is: a gradient
// that is cast is there only afterwards.
func (s *stripper) nearest(ops []Op, i int, grads map[int]string, before string) string {
	for k := i + 1; k < len(ops); k++ {
		if ops[k].Free {
			continue
		}
		if name, ok := grads[ops[k].Slot]; ok && isCast(&ops[k]) {
			return name
		}
		break
	}
	return before
}

// load takes off what makes the adapters' parameters.
func (s *stripper) load() error {
	gone := map[Ref]bool{}
	for i := range s.t.Params {
		if name, ok := adapterOf(s.t.Params[i].Name); ok && s.t.Params[i].Stack == s.stack && s.drop(name) {
			r := s.t.Params[i].Home
			gone[Ref{Part: r.Part, Slot: r.Slot}] = true
		}
	}
	// Weights that are cast were there in another type before: the n-th of them
	// in the part before this one.
	first, cast := s.slots(s.stack+".adapt"), s.slots(s.stack+".cast")
	if len(cast) > 0 && len(cast) != len(first) {
		return fmt.Errorf("%d weights of adapters, and %d casts", len(first), len(cast))
	}
	last, moved := -1, -1 // the last one is given back later, with the loop's variable
	for n, slot := range cast {
		if gone[Ref{Part: s.stack + ".cast", Slot: slot}] {
			gone[Ref{Part: s.stack + ".adapt", Slot: first[n]}] = true
			continue
		}
		last = first[n]
	}
	if n := len(first); len(cast) > 0 && last != first[n-1] {
		moved = first[n-1]
	}
	s.t.eachClass(func(p *Part, c *Class) {
		if p.Scope != Load {
			return
		}
		c.Ops = slices.DeleteFunc(c.Ops, func(op Op) bool {
			return !op.Free && gone[Ref{Part: p.Name, Slot: op.Slot}] || moved >= 0 && op.Free && op.Ref == Ref{Part: s.stack + ".adapt", Slot: last}
		})
		for i := range c.Ops {
			if op := &c.Ops[i]; moved >= 0 && op.Free && op.Ref.Part == s.stack+".adapt" && op.Ref.Slot == moved {
				op.Ref.Slot = last
			}
		}
	})
	return nil
}

// slots are those of a part of the load, in the order of the first class.
func (s *stripper) slots(part string) []int {
	var list []int
	if p := s.t.part(Load, part); p != nil && len(p.Classes) > 0 {
		for _, op := range allocations(p.Classes[0].Ops) {
			list = append(list, op.Slot)
		}
	}
	return list
}

// redirect has all frees of one slot of a part be of another: in ops, which are a
// class of the part, and in the same scope where other layers and parts mean it.
// The part's other classes see to their own.
func (s *stripper) redirect(part *Part, ops []Op, from, to int) {
	in := func(ops []Op, own bool) {
		for i := range ops {
			r := &ops[i].Ref
			if ops[i].Free && r.Scope == "" && r.Part == part.Name && r.Slot == from && (own || r.Which != Near || r.At != 0) {
				r.Slot = to
			}
		}
	}
	in(ops, true)
	s.t.eachClass(func(p *Part, c *Class) {
		if p.Scope == part.Scope {
			in(c.Ops, p.Name != part.Name)
		}
	})
}

// Operators by their labels.
func isProduct(op *Op) bool {
	return !isWorkspace(op) && (strings.HasPrefix(op.Label, "mm") || strings.HasPrefix(op.Label, "addmm") || strings.HasPrefix(op.Label, "baddbmm") || strings.HasPrefix(op.Label, "bmm"))
}

// isWorkspace reports whether an event is what cuBLAS works in, in a product.
func isWorkspace(op *Op) bool { return strings.HasSuffix(op.Label, " raw") }

// isUnpacked reports whether an event is a weight that was in 4 bits, for its
// product.
func isUnpacked(op *Op) bool {
	return strings.HasPrefix(op.Label, "empty_memory_format") || strings.HasPrefix(op.Label, "_dequant_linear_fallback")
}

// isOfPacked reports whether an event is a product with a weight that stays in 4 bits.
func isOfPacked(op *Op) bool { return strings.HasPrefix(op.Label, "_gemm_4bit_kernel_impl") }

func isCast(op *Op) bool { return strings.HasPrefix(op.Label, "_to_copy") }

func isCastBack(op *Op) bool { return isCast(op) && strings.Contains(op.Label, "ToCopyBackward") }

func isProductBack(op *Op) bool {
	return isProduct(op) && strings.Contains(op.Label, "mBackward") && !strings.Contains(op.Label, "linear")
}

// sizeOf says whether a size is that of an adapter's inner activations or of its
// weights.
func sizeOf(op *Op) (activations, weights bool) {
	ranked, batch := false, false
	op.Bytes.Names(func(n string) {
		ranked = ranked || n == rank
		batch = batch || n == "B"
	})
	return ranked && batch, ranked && !batch
}

// narrow are the places of the products with an adapter's first weight, in a
// forward pass.
func narrow(ops []Op) []int {
	var list []int
	for i := range ops {
		if op := &ops[i]; !op.Free && isProduct(op) && strings.Contains(op.Label, "linear") {
			if activations, _ := sizeOf(op); activations {
				list = append(list, i)
			}
		}
	}
	return list
}

// after is the place of the next allocation, len(ops) for none.
func after(ops []Op, i int) int {
	for i++; i < len(ops) && ops[i].Free; i++ {
	}
	return i
}

// before is the place of the allocation before, -1 for none.
func before(ops []Op, i int) int {
	for i--; i >= 0 && ops[i].Free; i-- {
	}
	return i
}

// freedAt is the place of the first free of a slot of the same layer after i, len(ops)
// for none.
func freedAt(ops []Op, part string, slot, i int) int {
	for i++; i < len(ops); i++ {
		if ops[i].Free && ops[i].Ref == (Ref{Part: part, Slot: slot}) {
			return i
		}
	}
	return i
}
