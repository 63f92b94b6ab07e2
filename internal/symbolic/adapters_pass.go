package symbolic

import (
	"fmt"
	"slices"
	"strings"
)

// A forward takes adapters off a forward pass of a layer:
//
//	y  = layer(x)            y is given back in the end
//	x' = x in another type   not where the types are the same
//	p  = x' times A
//	q  = p times B
//	r  = q scaled
//	z  = y + r
//	z' = z in another type   not where the types are the same
type forward struct {
	*stripper
	part *Part
	ops  []Op
}

func (f *forward) strip() error {
	at := narrow(f.ops)
	if len(at) == 0 {
		return nil
	}
	if len(at) != len(f.there) {
		return fmt.Errorf("%d adapters of %d in a layer", len(at), len(f.there))
	}
	for n := len(at) - 1; n >= 0; n-- {
		if f.drop(f.there[n]) {
			if err := f.one(at[n]); err != nil {
				return fmt.Errorf("%s: %w", f.there[n], err)
			}
		}
	}
	return nil
}

// one takes off the adapter whose first product is at p.
func (f *forward) one(p int) error {
	first := p
	for k := before(f.ops, p); k >= 0 && isBeside(&f.ops[k]); k = before(f.ops, k) {
		first = k
	}
	y := before(f.ops, first)
	for y >= 0 && !isProduct(&f.ops[y]) {
		y = before(f.ops, y)
	}
	if y < 0 {
		return fmt.Errorf("no product of the layer itself")
	}
	second := p
	for second = after(f.ops, second); second < len(f.ops) && isBeside(&f.ops[second]) || second < len(f.ops) && isWorkspace(&f.ops[second]); {
		second = after(f.ops, second)
	}
	if second == len(f.ops) || !isProduct(&f.ops[second]) || !strings.Contains(f.ops[second].Label, "linear") {
		return f.cut(y, p) // computed again, and left when all that is kept is there
	}
	sum := second
	for sum < len(f.ops) && !strings.HasPrefix(f.ops[sum].Label, "add_Tensor") {
		sum = after(f.ops, sum)
	}
	if sum == len(f.ops) {
		return fmt.Errorf("its sum is not told apart")
	}
	z := f.result(first, y, sum)
	f.ops[y].Category = f.ops[z].Category
	from, to := f.ops[z].Slot, f.ops[y].Slot
	var kept []Op
	for i := first; i <= z; i++ {
		if op := &f.ops[i]; op.Free && op.Ref != (Ref{Part: f.part.Name, Slot: to}) {
			kept = append(kept, *op)
		}
	}
	f.ops = slices.Replace(f.ops, first, z+1, kept...)
	// The layer's own result was given back within, or right after.
	end := first + len(kept)
	if i := freedAt(f.ops, f.part.Name, to, first-1); i < max(after(f.ops, end-1), end) {
		f.ops = slices.Delete(f.ops, i, i+1)
	}
	f.redirect(f.part, f.ops, from, to)
	return nil
}

// result is the place of what an adapter hands on: its sum, or the sum's cast, which is
// the next allocation, is made when y was given back, and follows which the sum is.
func (f *forward) result(first, y, sum int) int {
	next := after(f.ops, sum)
	if next == len(f.ops) || !isCast(&f.ops[next]) {
		return sum
	}
	if gone := f.freed(sum, sum); gone > next && gone < after(f.ops, next) && f.freed(y, first) < next {
		return next
	}
	return sum
}

// freed is the place after i where the block that is made at a place is given back.
func (f *forward) freed(made, i int) int {
	return freedAt(f.ops, f.part.Name, f.ops[made].Slot, i)
}

// cut ends a pass before the layer's own product at y, which is the last. With
// weights in 4 bits it keeps nothing, so that the pass ends before what comes before
// it, too.
func (f *forward) cut(y, p int) error {
	if k := before(f.ops, y); k >= 0 && isUnpacked(&f.ops[k]) {
		for y = k; y >= 0 && (isUnpacked(&f.ops[y]) || isOfPacked(&f.ops[y])); {
			y = before(f.ops, y)
		}
	}
	end := after(f.ops, p)
	if end < len(f.ops) && isWorkspace(&f.ops[end]) {
		end = after(f.ops, end)
	}
	f.ops = slices.Concat(f.ops[:y], frees(f.ops[y:end]), f.ops[end:])
	return nil
}

// frees are the frees of some events.
func frees(ops []Op) []Op {
	var list []Op
	for i := range ops {
		if ops[i].Free {
			list = append(list, ops[i])
		}
	}
	return list
}

// isBeside reports whether an event only prepares an adapter's product: casts of
// its input and its weight, and the copy of the layer's result.
func isBeside(op *Op) bool { return isCast(op) || strings.HasPrefix(op.Label, "clone") }

// A backward takes adapters off a backward pass of a layer:
//
//	z  = g in another type, and
//	y  = z in the type of g          not where the types are the same
//	r  = z scaled
//	b  = the gradient of B
//	p  = the gradient of what A gave
//	a  = the gradient of A
//	c  = the gradient of the input   not in a first layer whose input needs none
//	x  = c in another type           not where the types are the same
//	d  = the gradient of the input by way of the layer itself
//
// What several layers were given has the sum of their gradients. The first of them is
// kept and others are added to it in place, unless it only is a view of a product:
// then the second makes a sum of its own.
type backward struct {
	*stripper
	part *Part
	key  string   // of the class
	left []string // modules with adapters that are there, in the order of this pass
	ops  []Op
}

func (b *backward) strip() error {
	at := b.products()
	if len(at) == 0 {
		return nil
	}
	if len(at) != len(b.back) {
		return fmt.Errorf("%d adapters of %d in a layer", len(at), len(b.back))
	}
	if err := b.prune(at); err != nil {
		return err
	}
	at = b.products()
	if len(at) != len(b.left) {
		return fmt.Errorf("%d adapters of %d in a layer", len(at), len(b.left))
	}
	for n := len(at) - 1; n >= 0; n-- {
		s, err := b.stretch(at[n])
		if err == nil && s.c >= 0 {
			b.shared[b.left[n]] = b.freed(b.ops[s.x].Slot, s.x) < s.end
		}
		if !b.drop(b.left[n]) {
			continue
		}
		if err == nil {
			err = b.one(n, at, s)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.left[n], err)
		}
	}
	return nil
}

// lived is the place in a forward pass until which the loop itself holds a block: as
// in a pass that keeps nothing, and the end where there is none alike.
func (b *backward) lived(ops []Op, slot int) int {
	if b.freely == nil {
		return len(ops)
	}
	p := b.freely.part(b.part.Scope, b.stack+".forward")
	if p == nil || p.class(b.key) < 0 {
		return len(ops)
	}
	freely := p.Classes[p.class(b.key)].Ops
	n := paired(allocations(ops), allocations(freely), slot)
	if n < 0 {
		return len(ops)
	}
	// Where it is given back at one of several places, that is the one of its own
	// condition.
	own := slices.IndexFunc(ops, func(op Op) bool { return !op.Free && op.Slot == slot })
	made, last := 0, 0
	for i := range freely {
		if op := &freely[i]; !op.Free {
			made++
		} else if op.Ref == (Ref{Part: p.Name, Slot: allocations(freely)[n].Slot}) && made > n {
			if last = made; op.When.String() == ops[own].When.String() {
				break
			}
		}
	}
	if last == 0 {
		return len(ops)
	}
	at := -1
	for i := range ops {
		if !ops[i].Free {
			if n := paired(allocations(ops), allocations(freely), ops[i].Slot); n >= 0 && n < last {
				at = i
			}
		}
	}
	if at < 0 {
		return len(ops)
	}
	return after(ops, at)
}

// paired is the place among other allocations of the one that is like that of a slot,
// where both passes do the same but for a few; -1 for none.
func paired(own, other []*Op, slot int) int {
	at := 0
	for _, op := range own {
		for i := at; i < min(at+4, len(other)); i++ {
			if other[i].Label == op.Label && other[i].Bytes.String() == op.Bytes.String() {
				if at = i + 1; op.Slot == slot {
					return i
				}
				break
			}
		}
	}
	return -1
}

// products are the places of the gradients of second weights, each followed by
// that of a first one.
func (b *backward) products() []int {
	var list []int
	second := true
	for i := range b.ops {
		op := &b.ops[i]
		if op.Free || !isProductBack(op) {
			continue
		}
		if _, weights := sizeOf(op); weights {
			if second {
				list = append(list, i)
			}
			second = !second
		}
	}
	return list
}

// A stretch is an adapter's part of a backward pass, by places of allocations; -1
// for what is not there.
type stretch struct {
	z, y, r int
	p, a, c int
	x       int // c where it is not cast
	end     int // of the stretch: the next allocation
}

// one takes off the n-th adapter; at are the places of all, where the gradients of
// their second weights are.
func (b *backward) one(n int, at []int, s stretch) error {
	i := at[n]
	first := s.r
	if s.z >= 0 {
		first = s.z
	}
	kept := b.given(s)
	if s.c >= 0 {
		if end := b.freed(b.ops[s.x].Slot, s.x); end > s.end {
			if err := b.handOn(s, end); err != nil {
				return err
			}
		}
	}
	again := i > after(b.ops, s.r) // the layer is computed again between its scale and its gradients
	var inputs []Op
	kept, inputs = b.inputs(append(kept, b.others(i, s.end)...))
	b.ops = slices.Replace(b.ops, i, s.end, kept...)
	end := i + len(kept)
	if again && end < len(b.ops) && isUnpacked(&b.ops[end]) { // later, since the product keeps nothing
		end = b.settled(after(b.ops, end))
	}
	own := slices.Clone(b.ops[i:end])
	if len(own) == len(kept) {
		own = nil
	} else {
		b.ops = slices.Delete(b.ops, i, end)
	}
	b.ops = slices.Replace(b.ops, first, after(b.ops, s.r), append(own, b.others(first, after(b.ops, s.r))...)...)
	return b.giveBack(n, at, inputs)
}

// inputs are those of some frees that are of blocks of the forward pass, and the
// others; what the adapter itself had there is gone.
func (b *backward) inputs(list []Op) (others, inputs []Op) {
	there := map[int]bool{}
	if p := b.t.part(b.part.Scope, b.stack+".forward"); p != nil {
		for c := range p.Classes {
			for _, op := range allocations(p.Classes[c].Ops) {
				there[op.Slot] = true
			}
		}
	}
	for _, op := range list {
		switch r := op.Ref; {
		case r.Part != b.stack+".forward" || r.Which != Near || r.At != 0:
			others = append(others, op)
		case there[r.Slot]:
			inputs = append(inputs, op)
		}
	}
	return others, inputs
}

// giveBack has the n-th adapter's input live no longer than others need it: until the
// last before it that has the same, and else as long as the loop holds it.
func (b *backward) giveBack(n int, at []int, inputs []Op) error {
	for m := n; b.shared[b.left[m]] && m > 0; {
		if m--; !b.drop(b.left[m]) {
			s, err := b.stretch(at[m])
			if err == nil {
				b.ops = slices.Insert(b.ops, b.settled(max(s.a, s.c)), inputs...)
			}
			return err
		}
	}
	return b.release(inputs)
}

// release has blocks of the forward pass live as long as the loop holds them.
func (b *backward) release(list []Op) error {
	p := b.t.part(b.part.Scope, b.stack+".forward")
	if p == nil || p.class(b.key) < 0 {
		if len(list) == 0 {
			return nil
		}
		return fmt.Errorf("the forward pass has no layer %s", b.key)
	}
	ops := &p.Classes[p.class(b.key)].Ops
	for _, op := range list {
		*ops = slices.Insert(*ops, b.lived(*ops, op.Ref.Slot), op)
	}
	return nil
}

// forGradients reports whether a block is one that attention makes for its backward
// pass alone: what follows its output.
func forGradients(ops []Op, slot int) bool {
	made := 0
	for _, op := range allocations(ops) {
		if strings.HasPrefix(op.Label, "_efficient_attention_forward") {
			if made++; made == 2 {
				return op.Slot == slot
			}
		}
	}
	return false
}

// others are the frees in a stretch of what was not made there.
func (b *backward) others(first, end int) []Op {
	made := map[int]bool{}
	for k := first; k < end; k++ {
		if !b.ops[k].Free {
			made[b.ops[k].Slot] = true
		}
	}
	return slices.DeleteFunc(frees(b.ops[first:end]), func(op Op) bool { return op.Ref.Part == b.part.Name && made[op.Ref.Slot] })
}

// freed is the place where a slot of this layer is given back.
func (b *backward) freed(slot, from int) int { return freedAt(b.ops, b.part.Name, slot, from) }

// stretch finds the places of an adapter's events.
func (b *backward) stretch(i int) (stretch, error) {
	s := stretch{z: -1, y: -1, c: -1, x: -1}
	if s.p = b.next(i); s.p < 0 {
		return s, fmt.Errorf("its inner gradient is not told apart")
	}
	if activations, _ := sizeOf(&b.ops[s.p]); !activations {
		return s, fmt.Errorf("its inner gradient is not told apart")
	}
	// What was scaled is given back then. A layer that is computed again may be
	// so in between.
	s.r = before(b.ops, i)
	for ; s.r >= 0; s.r = before(b.ops, s.r) {
		gone := b.freed(b.ops[s.r].Slot, s.r)
		if strings.HasPrefix(b.ops[s.r].Label, "mul_Tensor") && gone > s.p && gone < b.settled(s.p) {
			break
		}
	}
	if s.r < 0 {
		return s, fmt.Errorf("its scale is not told apart")
	}
	// What is cast for the adapter alone is given back when it was scaled.
	k := before(b.ops, s.r)
	if k >= 0 && isCast(&b.ops[k]) && !isCastBack(&b.ops[k]) {
		s.y = k
		k = before(b.ops, k)
	}
	if k >= 0 && isCastBack(&b.ops[k]) && b.freed(b.ops[k].Slot, k) > s.r && b.freed(b.ops[k].Slot, k) < max(after(b.ops, s.r), s.r+1) {
		s.z = k
	} else if s.y >= 0 {
		return s, fmt.Errorf("its gradient's cast is not told apart")
	}
	inner := b.freed(b.ops[s.p].Slot, s.p)
	s.a = s.p
	for s.a = b.next(s.a); s.a >= 0 && s.a < inner; s.a = b.next(s.a) {
		if _, weights := sizeOf(&b.ops[s.a]); weights && isProductBack(&b.ops[s.a]) {
			break
		}
	}
	if s.a < 0 || s.a > inner {
		return s, fmt.Errorf("the gradient of its first weight is not told apart")
	}
	if c := b.next(s.a); c >= 0 && c < inner {
		s.c, s.x = c, c
		if x := b.next(c); x >= 0 && isCastBack(&b.ops[x]) && b.freed(b.ops[c].Slot, c) > x && b.freed(b.ops[c].Slot, c) < max(after(b.ops, x), x+1) {
			s.x = x
		}
	}
	s.end = b.tail(max(s.a, s.x))
	return s, nil
}

// next is the next allocation but a workspace, -1 for none.
func (b *backward) next(i int) int {
	for i = after(b.ops, i); i < len(b.ops); i = after(b.ops, i) {
		if !isWorkspace(&b.ops[i]) {
			return i
		}
	}
	return -1
}

// tail is the next allocation that is neither a workspace nor a cast of an
// adapter's gradient.
func (b *backward) tail(i int) int {
	for i = after(b.ops, i); i < len(b.ops); i = after(b.ops, i) {
		_, weights := sizeOf(&b.ops[i])
		if gradient := weights && isCast(&b.ops[i]); !gradient && !isWorkspace(&b.ops[i]) {
			break
		}
	}
	return i
}

// given has what came to the adapter, and was given back when it was cast, live as
// long as its copy did.
func (b *backward) given(s stretch) []Op {
	if s.y < 0 {
		return nil
	}
	copied := Ref{Part: b.part.Name, Slot: b.ops[s.y].Slot}
	var was []Op // the free of what came, if it is there
	if k := s.z + 1; k < s.y && b.ops[k].Free {
		was = []Op{b.ops[k]}
		b.ops[k] = Op{Free: true, Ref: copied} // of nothing, and gone with the stretch
	}
	for k := s.end; k < len(b.ops); k++ {
		if b.ops[k].Free && b.ops[k].Ref == copied {
			b.ops = slices.Replace(b.ops, k, k+1, was...)
			return nil
		}
	}
	return was
}

// handOn has the gradient by way of the layer itself take the place of the
// adapter's, which was the first of its input; end is where that is given back.
func (b *backward) handOn(s stretch, end int) error {
	buffer := b.ops[s.x]
	d := s.end
	for ; d < len(b.ops); d = after(b.ops, d) {
		if isProduct(&b.ops[d]) {
			break
		}
	}
	view := strings.Contains(b.ops[min(d, len(b.ops)-1)].Label, "Backward")
	if next := b.next(d); next >= 0 && isCastBack(&b.ops[next]) && b.ops[next].Bytes.String() == buffer.Bytes.String() && b.freed(b.ops[d].Slot, d) > next {
		d, view = next, false
	}
	if d >= len(b.ops) || b.ops[d].Bytes.String() != buffer.Bytes.String() {
		return fmt.Errorf("the gradient of its layer's input is not told apart")
	}
	own := Ref{Part: b.part.Name, Slot: b.ops[d].Slot}
	if b.isSumOf(s.end, buffer.Slot) {
		b.sumLater(s.end, d, buffer.Slot)
		return nil
	}
	sum := Op{Slot: buffer.Slot, Bytes: buffer.Bytes, Category: buffer.Category, Label: "add_Tensor"}
	tail := b.settled(d)
	if tail < len(b.ops) && strings.HasPrefix(b.ops[tail].Label, "add_Tensor") && b.freed(buffer.Slot, tail) < after(b.ops, tail) {
		sum = b.ops[tail]
		b.remove(tail, func(op *Op) bool { return op.Ref == own || op.Ref.Part == own.Part && op.Ref.Slot == buffer.Slot })
		end = b.freed(sum.Slot, tail-1)
	}
	// What is given back at once was added to it.
	if k := b.freed(own.Slot, d); k < b.settled(d) {
		b.ops = slices.Delete(b.ops, k, k+1)
		end--
	}
	if view {
		if x := b.arrival(b.settled(d)-1, end, &sum); x >= 0 {
			k := b.freed(b.ops[x].Slot, x)
			other := b.ops[k]
			b.ops = slices.Delete(b.ops, k, k+1)
			b.ops = slices.Insert(b.ops, b.settled(x), sum, Op{Free: true, Ref: own}, other)
			return nil
		}
	}
	b.redirect(b.part, b.ops, sum.Slot, own.Slot)
	return nil
}

// isSumOf reports whether allocation i is the sum of a gradient and of another one, that
// came by a way around the layer.
func (b *backward) isSumOf(i, slot int) bool {
	return i < len(b.ops) && strings.HasPrefix(b.ops[i].Label, "add_Tensor") && b.freed(slot, i) < after(b.ops, i)
}

// sumLater has a sum be made of the gradient at d, which was added to it at once, in
// place of the one in a slot.
func (b *backward) sumLater(sum, d, slot int) {
	own := b.ops[d].Slot
	made := slices.Clone(b.ops[sum:after(b.ops, sum)])
	for i := range made {
		if made[i].Free && made[i].Ref == (Ref{Part: b.part.Name, Slot: slot}) {
			made[i].Ref.Slot = own
		}
	}
	k := b.freed(own, d)
	b.ops = slices.Delete(b.ops, k, k+1)
	b.ops = slices.Insert(b.ops, b.settled(d), made...)
	b.ops = slices.Delete(b.ops, sum, sum+len(made))
}

// settled is the place after an allocation, its workspace and the frees after it.
func (b *backward) settled(i int) int {
	i = after(b.ops, i)
	for i < len(b.ops) && isWorkspace(&b.ops[i]) {
		i = after(b.ops, i)
	}
	return i
}

// remove takes an allocation out, and some of the frees after it.
func (b *backward) remove(i int, gone func(op *Op) bool) {
	end := after(b.ops, i)
	rest := slices.DeleteFunc(slices.Clone(b.ops[i+1:end]), func(op Op) bool { return gone(&op) })
	b.ops = slices.Replace(b.ops, i, end, rest...)
}

// arrival is the next gradient of the same input: one that is given back at once,
// before the sum is at end, while no younger gradient of that size is there to be
// added to. It is -1 where there is none.
func (b *backward) arrival(i, end int, sum *Op) int {
	younger := i
	for i = after(b.ops, i); i < min(end, len(b.ops)); i = after(b.ops, i) {
		op := &b.ops[i]
		if i < younger || !isProduct(op) && !isCastBack(op) || op.Bytes.String() != sum.Bytes.String() {
			continue
		}
		if younger = b.freed(op.Slot, i); younger < b.settled(i) {
			return i
		}
	}
	return -1
}
