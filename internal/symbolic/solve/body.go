package solve

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// A step is an event of a piece in words that other recordings share.
type step struct {
	token string // equal for equal events
	free  bool
	alloc int // of an allocation
	ref   symbolic.Ref
}

// steps are the events of a piece; frees that follow one another are sorted,
// since their order makes no difference.
func (s *solver) steps(r *cutRecording, p *piece) ([]step, error) {
	var list, run []step
	end := func() {
		slices.SortFunc(run, func(a, b step) int { return strings.Compare(a.token, b.token) })
		list = append(list, slices.CompactFunc(run, func(a, b step) bool { return a.token == b.token })...)
		run = run[:0]
	}
	var frees []int
	flush := func() error {
		refs, err := s.refs(r, p, frees)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			run = append(run, step{token: "-" + refText(ref), free: true, ref: ref})
		}
		frees = frees[:0]
		end()
		return nil
	}
	for _, e := range r.events[p.from:p.to] {
		if e.free {
			frees = append(frees, e.alloc)
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		list = append(list, step{token: fmt.Sprintf("+%d", r.slots[e.alloc]), alloc: e.alloc})
	}
	return list, flush()
}

func refText(r symbolic.Ref) string {
	return fmt.Sprintf("%s %s %06d %d %d", r.Scope, r.Part, r.Slot, r.Which, r.At)
}

// refs says which blocks a run of frees gives back.
func (s *solver) refs(r *cutRecording, p *piece, allocs []int) ([]symbolic.Ref, error) {
	var refs []symbolic.Ref
	type group struct {
		scope, part string
		slot        int
	}
	layers := map[group][]int{}
	like := map[group]*piece{}
	var order []group
	for _, a := range allocs {
		from := r.pieces[r.homes[a].piece]
		scope, err := s.scopeOf(r, p, &from)
		if err != nil {
			return nil, err
		}
		ref := symbolic.Ref{Scope: scope, Part: from.part.name, Slot: r.slots[a]}
		switch from.part.stack {
		case "":
			refs = append(refs, ref)
		case p.part.stack:
			ref.Which, ref.At = across(p.index, from.index, len(r.Kinds[p.part.stack]))
			refs = append(refs, ref)
		default:
			g := group{scope, from.part.name, ref.Slot}
			if layers[g] == nil {
				order = append(order, g)
				like[g] = &from
			}
			layers[g] = append(layers[g], from.index)
		}
	}
	for _, g := range order {
		ref := symbolic.Ref{Scope: g.scope, Part: g.part, Slot: g.slot, Which: symbolic.Every}
		if len(layers[g]) == len(r.holders(like[g], g.slot, 0)) {
			refs = append(refs, ref)
			continue
		}
		// Those that are freed already are meant as well as not.
		if left, ok := allBut(layers[g], r.holders(like[g], g.slot, r.freedAt[allocs[0]])); ok {
			ref.At = left
			refs = append(refs, ref)
			continue
		}
		n := len(r.Kinds[stackName(g.part)])
		for _, i := range layers[g] {
			if ref.Which, ref.At = symbolic.Nth, i; n-1-i <= i {
				ref.Which, ref.At = symbolic.NthLast, n-1-i
			}
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// allBut is how many of the last holders are left, if the given layers are all
// before them, and so many that this is no chance.
func allBut(layers, holders []int) (left int, ok bool) {
	left = len(holders) - len(layers)
	if len(layers) < 3 {
		return 0, false
	}
	layers = slices.Sorted(slices.Values(layers))
	return left, left >= 0 && slices.Equal(layers, holders[:len(layers)])
}

// across names layer from as layer at does, of n: by the distance, or, from an end of
// the stack, counted from the other when that is not a neighbour.
func across(at, from, n int) (symbolic.Which, int) {
	switch {
	case n < 4:
	case at == 0 && from >= 2:
		return symbolic.NthLast, n - 1 - from
	case at == n-1 && from <= n-3:
		return symbolic.Nth, from
	}
	return symbolic.Near, from - at
}

func stackName(part string) string {
	name, _, _ := strings.Cut(part, ".")
	return name
}

// holders are the layers whose piece of the same run has a slot whose block is not
// freed before an event, in order.
func (r *cutRecording) holders(like *piece, slot, event int) []int {
	var list []int
	for i := range r.pieces {
		q := &r.pieces[i]
		if q.run != like.run || q.part != like.part {
			continue
		}
		for _, a := range q.allocs {
			if r.slots[a] == slot && r.freedAt[a] >= event {
				list = append(list, q.index)
			}
		}
	}
	slices.Sort(list)
	return list
}

// scopeOf is the scope of a block as a ref of p names it.
func (s *solver) scopeOf(r *cutRecording, p, from *piece) (string, error) {
	switch {
	case from.run == p.run, p.part.scope == symbolic.Zero && r.ofRun[from.run] == symbolic.Steady:
		return "", nil
	case from.part.scope == symbolic.Load || from.part.scope == symbolic.First:
		return from.part.scope, nil
	case p.part.scope == symbolic.Decode && from.run == p.run-1:
		return symbolic.Before, nil
	}
	return "", fmt.Errorf("frees a block of %s %s", r.ofRun[from.run], from.part.name)
}

// classify finds how closely each part's layers must be told apart.
func (s *solver) classify() error {
	for _, p := range s.parts {
		if p.key.stack == "" {
			continue
		}
		for ; ; p.level++ {
			differ, err := s.differ(p)
			if err != nil {
				return fmt.Errorf("%s %s: %w", p.key.scope, p.key.name, err)
			}
			if differ == "" {
				break
			}
			if p.level == symbolic.HighestLevel {
				return fmt.Errorf("%s %s: layers called %q are not alike", p.key.scope, p.key.name, differ)
			}
		}
	}
	return nil
}

// differ returns the key of a class whose layers differ in one recording.
func (s *solver) differ(p *part) (string, error) {
	for _, r := range s.recs {
		looks := map[string]string{}
		for i := range r.pieces {
			q := &r.pieces[i]
			if q.part != p.key {
				continue
			}
			steps, err := s.steps(r, q)
			if err != nil {
				return "", err
			}
			var b strings.Builder
			for _, st := range steps {
				b.WriteString(st.token)
				if !st.free {
					fmt.Fprintf(&b, " %d", r.bytesOf(st.alloc))
				}
				b.WriteByte('\n')
			}
			key := symbolic.Position(r.Kinds[p.key.stack], q.index, p.level)
			if look, ok := looks[key]; ok && look != b.String() {
				return key, nil
			}
			looks[key] = b.String()
		}
	}
	return "", nil
}

func (r *cutRecording) bytesOf(alloc int) int64 { return r.events[r.eventOf[alloc]].bytes }

var errNone = errors.New("no recording has it")

// solvePart solves the bodies of a part's classes.
func (s *solver) solvePart(p *part) (symbolic.Part, error) {
	out := symbolic.Part{Scope: p.key.scope, Name: p.key.name, Stack: p.key.stack, Down: p.down, Level: p.level, Slots: len(p.union.tokens)}
	bodies := map[string][]body{}
	var keys []string
	for _, r := range s.recs {
		done := map[string]bool{}
		for i := range r.pieces {
			q := &r.pieces[i]
			if q.part != p.key {
				continue
			}
			key := ""
			if p.key.stack != "" {
				key = symbolic.Position(r.Kinds[p.key.stack], q.index, p.level)
			}
			if done[key] {
				continue
			}
			done[key] = true
			steps, err := s.steps(r, q)
			if err != nil {
				return out, err
			}
			if bodies[key] == nil {
				keys = append(keys, key)
			}
			bodies[key] = append(bodies[key], body{r, q, steps})
		}
	}
	if len(keys) == 0 {
		return out, errNone
	}
	// What few recordings have is solved last, since it is most likely as elsewhere.
	often := slices.SortedStableFunc(slices.Values(keys), func(a, b string) int { return len(bodies[b]) - len(bodies[a]) })
	s.siblings = map[string][]symbolic.Op{}
	ops := map[string][]symbolic.Op{}
	for _, key := range often {
		ops[key] = s.solveBody(p, s.withEmpty(bodies[key]))
	}
	for _, key := range keys {
		out.Classes = append(out.Classes, symbolic.Class{Key: key, Ops: ops[key]})
	}
	out.Classes = append(out.Classes, amid(out.Classes)...)
	return out, nil
}

// amid are the classes of layers that have others of their kind before and
// after them, where no recording is so deep. They allocate as these do, and what
// only the first or the last of a kind frees is of all of that kind.
func amid(classes []symbolic.Class) (list []symbolic.Class) {
	find := func(key string) *symbolic.Class {
		i := slices.IndexFunc(classes, func(c symbolic.Class) bool { return c.Key == key })
		if i < 0 {
			i = slices.IndexFunc(classes, func(c symbolic.Class) bool { return symbolic.Elsewhere(c.Key) == key })
		}
		if i < 0 {
			return nil
		}
		return &classes[i]
	}
	for _, eldest := range classes {
		key, ok := strings.CutSuffix(eldest.Key, symbolic.Eldest)
		key = symbolic.Elsewhere(key)
		youngest := find(key + symbolic.Youngest)
		if !ok || youngest == nil || find(key) != nil || slices.ContainsFunc(list, func(c symbolic.Class) bool { return c.Key == key }) {
			continue
		}
		if ops, ok := common(eldest.Ops, youngest.Ops); ok {
			list = append(list, symbolic.Class{Key: key, Ops: ops})
		}
	}
	return list
}

// common are the ops that both have, if they allocate the same; sizes are the
// first's.
func common(a, b []symbolic.Op) (ops []symbolic.Op, ok bool) {
	for _, x := range a {
		if slices.ContainsFunc(b, func(y symbolic.Op) bool { return x.Free == y.Free && x.Slot == y.Slot && x.Ref == y.Ref }) {
			ops = append(ops, x)
		}
	}
	return ops, allocations(a) == allocations(ops) && allocations(b) == allocations(ops)
}

func allocations(ops []symbolic.Op) (n int) {
	for _, o := range ops {
		if !o.Free {
			n++
		}
	}
	return n
}

// A body is a piece of one recording.
type body struct {
	rec   *cutRecording
	piece *piece
	steps []step
}

// A happening is an event of a class: what recordings have of it.
type happening struct {
	present []bool  // the recordings that have it
	values  []int64 // of an allocation: its bytes there
	example step
	from    body // that the example is of
}

// united are the events of a class in their order, those that several recordings have
// once, and the recordings that have the class.
func (s *solver) united(bodies []body) (events []happening, has []bool) {
	longest := make([]int, len(bodies))
	for i := range longest {
		longest[i] = i
	}
	slices.SortStableFunc(longest, func(a, b int) int { return len(bodies[b].steps) - len(bodies[a].steps) })
	var u union
	ids := make([][]int, len(bodies))
	for _, i := range longest {
		tokens := make([]string, len(bodies[i].steps))
		for k, st := range bodies[i].steps {
			tokens[k] = st.token
		}
		ids[i] = u.merge(tokens)
	}
	u.join(ids)
	n := len(s.recs)
	byID := make([]happening, len(u.tokens))
	for id := range byID {
		byID[id] = happening{present: make([]bool, n), values: make([]int64, n)}
	}
	has = make([]bool, n)
	for i, b := range bodies {
		has[b.rec.n] = true
		for k, id := range ids[i] {
			h, st := &byID[id], b.steps[k]
			h.present[b.rec.n] = true
			h.example, h.from = st, b
			if !st.free {
				h.values[b.rec.n] = b.rec.bytesOf(st.alloc)
			}
		}
	}
	for _, id := range u.order {
		events = append(events, byID[id])
	}
	return events, has
}

// solveBody solves the events of one class: first all sizes, then, since they tell of one
// another, what is in doubt and when each event happens.
func (s *solver) solveBody(p *part, bodies []body) []symbolic.Op {
	events, has := s.united(bodies)
	ops := make([]symbolic.Op, len(events))
	s.among = s.among[:0]
	for i := range events {
		e, op := &events[i], &ops[i]
		*op = symbolic.Op{Free: e.example.free, Ref: e.example.ref}
		if op.Free {
			continue
		}
		s.describe(op, p, e.from, e.example.alloc)
		s.look(op, p, e.from, e.example.alloc)
		s.size(op, p, e.values, e.present, has)
		if callsKernel(op.Bytes) {
			s.among = append(s.among, asked{i, e.present, op.Bytes, op.Label})
		}
	}
	for i := range events {
		if e, op := &events[i], &ops[i]; !op.Free {
			s.settle(op, p, e.values, e.present, has)
			s.look(op, p, e.from, e.example.alloc)
			s.when(op, p, i, e.present, has)
		}
	}
	for i := range events {
		if ops[i].Free && (s.fit.pixels == nil || !s.lastFree(events, i)) {
			s.when(&ops[i], p, i, events[i].present, has)
		}
	}
	for _, op := range ops {
		if op.Error == 0 {
			s.siblings[placeOf(&op)] = append(s.siblings[placeOf(&op)], op)
		}
	}
	return ops
}

// describe gives an allocation its slot, operator and category.
func (s *solver) describe(op *symbolic.Op, p *part, b body, alloc int) {
	op.Slot = b.rec.slots[alloc]
	op.Label, _, _ = strings.Cut(p.union.tokens[op.Slot], "|")
	op.Category = b.rec.category(alloc, b.piece, op.Label)
}

// category says what a block holds.
func (r *cutRecording) category(alloc int, p *piece, label string) tape.Category {
	switch {
	case r.categories != nil:
		return r.categories[alloc]
	case holds(r.places.Parameters, alloc):
		return tape.Parameter
	case holds(r.places.Buffers, alloc):
		return tape.Buffer
	case strings.HasPrefix(label, "getC") || strings.HasPrefix(label, "getWorkspace"):
		return tape.Workspace
	case p.part.name == "batch":
		return tape.Input
	case r.fates[alloc] == "cache" && p.part.stack != "":
		return tape.KVCache
	}
	for _, g := range r.places.Gradients {
		if slices.Contains(g.Allocs, alloc) {
			return tape.Gradient
		}
	}
	switch {
	case p.part.scope == symbolic.Load && r.fates[alloc] == "kept":
		return tape.Buffer
	case r.fates[alloc] == "backward":
		return tape.Activation
	}
	return tape.Temporary
}

func holds(list []tensor, alloc int) bool {
	return slices.ContainsFunc(list, func(t tensor) bool { return t.alloc == alloc })
}

// size finds the formula of an allocation.
func (s *solver) size(op *symbolic.Op, p *part, values []int64, present, has []bool) {
	label := op.Label
	if p.key.scope == symbolic.Load {
		label = "" // what is computed while a model is built is small, and not worth a search
	}
	if p.key.scope == symbolic.Script {
		label = operatorsOf(label)
	}
	if s.fit.pixels == nil {
		if e, ok := s.semaphores(label, values, present, has); ok {
			op.Bytes = e
			return
		}
	}
	defer func() { s.took(op.Bytes) }()
	if e, ok := s.asSiblings(op, values, present, has); ok {
		op.Bytes, s.before = e, e
		return
	}
	among := s.fitFor(has)
	among.turn = s.turnOf(label)
	f := among.fit(label, pick(values, has), only(present, has))
	if p.key.scope == symbolic.Load {
		f = among.share(f, pick(values, has), only(present, has))
	}
	op.Bytes, op.Error, s.before = f.expr, f.error, f.expr
}

// asSiblings is the formula of the same slot in a class that more recordings have, where
// it gives the values, too: two recordings agree with many formulas.
func (s *solver) asSiblings(op *symbolic.Op, values []int64, present, has []bool) (symbolic.Expr, bool) {
	if all(has) {
		return symbolic.Expr{}, false
	}
	for _, sibling := range s.siblings[placeOf(op)] {
		if s.fitFor(has).gives(sibling.Bytes, pick(values, has), only(present, has)) {
			return sibling.Bytes, true
		}
	}
	return symbolic.Expr{}, false
}

// placeOf names what an op allocates or frees.
func placeOf(op *symbolic.Op) string {
	if op.Free {
		return refText(op.Ref)
	}
	return strconv.Itoa(op.Slot)
}

// settle gives a size that was not found by itself the formula of another place,
// and says what stays in doubt.
func (s *solver) settle(op *symbolic.Op, p *part, values []int64, present, has []bool) {
	if op.Error == 0 {
		return
	}
	label := op.Label
	if p.key.scope == symbolic.Script {
		label = operatorsOf(label)
	}
	if e, ok := s.fitFor(has).elsewhere(label, pick(values, has), only(present, has)); ok {
		op.Bytes, op.Error = e, 0
		return
	}
	s.doubt("%s %s: %s is %s only to %.2g: %v", p.key.scope, p.key.name, op.Label, op.Bytes, op.Error, pick(values, present))
}

// when finds the condition of an event that some recordings do not have. A
// kernel's function that is 0 where there is no allocation says it already, and
// a block that was not allocated is not freed.
func (s *solver) when(op *symbolic.Op, p *part, at int, present, has []bool) {
	if !op.Free {
		s.madeBy(p.key.name, op.Slot, present)
	}
	if !op.Free && callsKernel(op.Bytes) {
		has = s.unlessNothing(op.Bytes, present, has)
	}
	if g, ok := s.whenSiblings(op, present, has); ok {
		op.When = g
		return
	}
	if slices.Equal(present, has) {
		return
	}
	if made := s.made[slotKey{op.Ref.Part, op.Ref.Slot}]; op.Free && made != nil && slices.Equal(only(present, has), only(made, has)) {
		return
	}
	var g guarded
	if s.fit.pixels != nil && all(has) {
		g = s.whenOthers(op, at, present)
	}
	if !g.ok {
		g = s.whenDecided(at, present, has)
	}
	if !g.ok {
		g = s.fitFor(has).guard(only(present, has))
	}
	if !g.ok {
		s.doubt("%s %s: no condition found for %s %s in %s of %s", p.key.scope, p.key.name, op.Label, refText(op.Ref), mask(present), mask(has))
		return
	}
	op.When = g.guard
}

// whenDecided is the condition of an event that comes or goes with what a function asks
// for that decides how an operator works; the nearest is meant.
func (s *solver) whenDecided(at int, present, has []bool) guarded {
	best, g := 0, guarded{}
	for _, a := range s.among {
		far := max(a.at-at, at-a.at)
		if len(decisions(a.label)) == 0 || g.ok && far >= best {
			continue
		}
		same, other := compared(a.present, present, has)
		if same || other {
			best, g = far, guarded{symbolic.Guard{{Left: a.bytes, More: 0, Not: other}}, true}
		}
	}
	return g
}

// whenSiblings is the condition of the same event in a class that more recordings have,
// where it holds here, too.
func (s *solver) whenSiblings(op *symbolic.Op, present, has []bool) (symbolic.Guard, bool) {
	if all(has) {
		return nil, false
	}
	for _, sibling := range s.siblings[placeOf(op)] {
		agrees := len(sibling.When) > 0
		for i, site := range s.fit.sites {
			if has[i] && agrees {
				holds, err := sibling.When.Holds(site.dims, site.device)
				agrees = err == nil && holds == present[i]
			}
		}
		if agrees {
			return sibling.When, true
		}
	}
	return nil, false
}

// fitFor is the fitter among the recordings that have a class at all.
func (s *solver) fitFor(has []bool) *fitter {
	if all(has) {
		return s.fit
	}
	key := mask(has)
	if s.fits[key] == nil {
		s.fits[key] = s.fit.among(has)
	}
	return s.fits[key]
}

// only is the list of a flag among some recordings.
func only(flags, among []bool) []bool {
	var list []bool
	for i, a := range among {
		if a {
			list = append(list, flags[i])
		}
	}
	return list
}

// unlessNothing are the recordings that say something of an allocation: those
// that make it, and those that do not although its size is not 0.
func (s *solver) unlessNothing(e symbolic.Expr, present, has []bool) []bool {
	has = slices.Clone(has)
	for i := range has {
		if has[i] && !present[i] {
			v, err := e.Eval(s.fit.sites[i].dims, s.fit.sites[i].device)
			has[i] = err != nil || v != 0
		}
	}
	return has
}

// A slotKey names a slot of a part, in whatever scope.
type slotKey struct {
	part string
	slot int
}

// madeBy notes in which recordings an allocation is made.
func (s *solver) madeBy(part string, slot int, present []bool) {
	key := slotKey{part, slot}
	if s.made[key] == nil {
		s.made[key] = make([]bool, len(present))
	}
	for i, p := range present {
		s.made[key][i] = s.made[key][i] || p
	}
}

func callsKernel(e symbolic.Expr) bool {
	found := false
	e.Calls(func(name string) { found = found || name != "up" && name != "ceil" && name != "floor" })
	return found
}
