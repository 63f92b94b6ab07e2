package symbolic

import (
	"fmt"
	"slices"
	"strings"
)

// A branch is a stretch of a first layer's backward pass that ends with an adapter
// whose input needs no gradient. It begins at what an earlier branch made, or at the
// gradient of the layer's output.
type branch struct {
	start, end int // places of its events
	kept       int // the place after the last gradient of adapters that are kept, start for none
	done       int // the place after what the last of these makes besides, and gives back
	fork       int // the place of what it begins at, -1 for the output's gradient
}

// prune takes out of the pass of a first layer, whose input needs no gradient, what
// leads to no adapter that is kept: the end of a branch, or all of it. It is not
// computed, and nothing is kept for it. What is left of b.back is b.left.
func (b *backward) prune(at []int) error {
	b.left = slices.Clone(b.back)
	if !slices.ContainsFunc(b.left, b.drop) {
		return nil
	}
	branches, err := b.branches(at)
	if err != nil {
		return err
	}
	needed := map[int]bool{} // places of what later branches begin at
	for _, w := range slices.Backward(branches) {
		cut, done := w.kept, w.done
		for fork := range needed {
			if fork >= w.start && fork < w.end {
				cut = max(cut, b.computed(fork))
				done = max(done, cut)
			}
		}
		if cut > w.start {
			needed[w.fork] = true
		}
		for n := len(b.left) - 1; n >= 0; n-- {
			if at[n] >= cut && at[n] < w.end {
				b.left = slices.Delete(b.left, n, n+1)
			}
		}
		if err := b.cut(cut, done, w.end); err != nil {
			return err
		}
	}
	return nil
}

// branches are those of a first layer, none of others; at are the places of the
// gradients of adapters' second weights.
func (b *backward) branches(at []int) ([]branch, error) {
	var list []branch
	w := branch{}
	for n, i := range at {
		s, err := b.stretch(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.back[n], err)
		}
		if !b.drop(b.back[n]) {
			w.kept = b.tail(s.a)
			w.done = w.kept
			if s.c >= 0 {
				w.done = max(w.kept, b.settled(s.c))
			}
		}
		if s.c < 0 {
			w.end = s.end
			list = append(list, w)
			w = branch{start: w.end, kept: w.end, done: w.end}
		}
	}
	// Branches that begin at the same block do not all give it back: the last does.
	next := -1
	for i, w := range slices.Backward(list) {
		fork, known := b.fork(w)
		if known {
			next = fork
		}
		list[i].fork = next
	}
	return list, nil
}

// fork is the place of the youngest block that a branch gives back and did not make,
// -1 where that is older than the layer's pass, and whether there is one.
func (b *backward) fork(w branch) (place int, known bool) {
	place = -1
	for i := w.start; i < w.end; i++ {
		op := &b.ops[i]
		if !op.Free || op.Ref.Part == b.stack+".forward" {
			continue
		}
		made := -1
		if op.Ref.Part == b.part.Name && op.Ref.Which == Near && op.Ref.At == 0 {
			made = slices.IndexFunc(b.ops[:i], func(m Op) bool { return !m.Free && m.Slot == op.Ref.Slot })
		}
		if made < w.start {
			place, known = max(place, made), true
		}
	}
	return place, known
}

// computed is the place after the events of the node of the backward pass that made
// the block at i.
func (b *backward) computed(i int) int {
	node := func(i int) string { return b.ops[i].Label[strings.LastIndexByte(b.ops[i].Label, ' ')+1:] }
	end := i
	for k := i; k < len(b.ops) && node(k) == node(i); k = after(b.ops, k) {
		end = after(b.ops, k)
	}
	return end
}

// cut takes events out. Blocks of before that were given back there are so at the
// cut, and those of the forward pass when the loop gives them back, but for what was
// needed until done.
func (b *backward) cut(from, done, to int) error {
	own := b.others(from, done)
	here, kept := b.inputs(b.others(done, to))
	b.ops = slices.Replace(b.ops, from, to, append(own, here...)...)
	made := map[int]bool{}
	b.ops = slices.DeleteFunc(b.ops, func(op Op) bool {
		made[op.Slot] = made[op.Slot] || !op.Free
		return op.Free && op.Ref == (Ref{Part: b.part.Name, Slot: op.Ref.Slot}) && !made[op.Ref.Slot]
	})
	p := b.t.part(b.part.Scope, b.stack+".forward")
	if p == nil || p.class(b.key) < 0 {
		return b.release(kept)
	}
	ops := &p.Classes[p.class(b.key)].Ops
	kept = slices.DeleteFunc(kept, func(op Op) bool {
		needless := forGradients(*ops, op.Ref.Slot)
		if needless {
			*ops = slices.DeleteFunc(*ops, func(made Op) bool { return !made.Free && made.Slot == op.Ref.Slot })
		}
		return needless
	})
	return b.release(kept)
}
