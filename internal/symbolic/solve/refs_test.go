package solve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// A scribe writes a recording by hand.
type scribe struct{ Recording }

func (s *scribe) part(scope, name string, index int) *scribe {
	s.marks = append(s.marks, mark{len(s.events), scope, name, index})
	return s
}

func (s *scribe) alloc(sizes ...int64) *scribe {
	for _, n := range sizes {
		a := 0
		for _, e := range s.events {
			if !e.free {
				a++
			}
		}
		s.events = append(s.events, event{bytes: n, alloc: a})
	}
	return s
}

func (s *scribe) free(allocs ...int) *scribe {
	for _, a := range allocs {
		s.events = append(s.events, event{free: true, alloc: a})
	}
	return s
}

// Blocks are named so that it is right for any number of layers: by the distance
// to the layer that frees them, as all layers', or counted from an end.
func TestRefs(t *testing.T) {
	t.Parallel()
	s := &scribe{Recording{Labels: []string{"mm"}, Kinds: map[string][]string{"layers": {"one", "one", "one"}}}}
	s.places.Parameters = []tensor{
		{name: "layers.0.w", shape: []int64{8}, dtype: "bfloat16", trained: true, alloc: 0},
		{name: "layers.1.w", shape: []int64{8}, dtype: "bfloat16", trained: true, alloc: 1},
		{name: "layers.2.w", shape: []int64{8}, dtype: "bfloat16", trained: true, alloc: 2},
	}
	for i := range 3 {
		s.part("load", "layers.load", i).alloc(16)
	}
	s.part("load", "layers.loaded", -1).alloc(64) // 3
	s.part("first", "batch", -1).alloc(8)         // 4
	// Each layer keeps a block and hands one on, which the next one frees.
	s.part("first", "layers.forward", 0).alloc(100, 200) // 5 6
	s.part("first", "layers.forward", 1).alloc(100, 200).free(6)
	s.part("first", "layers.forward", 2).alloc(100, 200).free(8)
	s.part("first", "layers.top", -1).free(10)                // the last one's
	s.part("first", "loss", -1).alloc(4).free(5, 7, 9, 3, 11) // all layers', one of the load, its own
	s.part("end", "end", -1)

	solved, err := Solve([]*Recording{&s.Recording})
	if err != nil {
		t.Fatal(err)
	}
	c := symbolic.NewCollection()
	c.Add("x", solved.Tape)
	var b strings.Builder
	if _, err := c.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	const want = `plimsoll symbolic 1
body 0
+ 16 parameter mm
body 1
+ 64 temporary mm
body 2
+ 8 input mm
body 3
+ 100 temporary mm
+ 200 temporary mm
body 4
+ 100 temporary mm
+ 200 temporary mm
-layers.forward +1 near -1
body 5
-layers.forward +1 last 0
body 6
+ 4 temporary mm
-layers.forward +0 every 0
-loss +0
-layers.loaded +0 @load
tape x
part load layers.load layers up 0 1 one:first=0 one=0 one:last=0
part load layers.loaded - up 0 1 -=1
part first batch - up 0 1 -=2
part first layers.forward layers up 0 2 one:first=3 one=4 one:last=4
part first layers.top - up 0 0 -=5
part first loss - up 0 1 -=6
param layers.{}.w layers - 0 bfloat16 trained layers.load:+0:0 - 8
end
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	check, err := Verify(solved.Tape, &s.Recording)
	if err != nil || check.Equal != check.Events || check.Peak != check.Want {
		t.Errorf("%+v, %v", check, err)
	}
}

// A block of a micro-batch that is over cannot be named.
func TestRefsAcrossMicroBatches(t *testing.T) {
	t.Parallel()
	s := &scribe{Recording{Labels: []string{"mm"}}}
	s.part("first", "batch", -1).alloc(8)
	s.part("steady", "batch", -1).alloc(8)
	s.part("accumulate", "batch", -1).free(0, 1)
	if _, err := Solve([]*Recording{&s.Recording}); err == nil || !strings.Contains(err.Error(), "frees a block of steady batch") {
		t.Error(err)
	}
}

// Layers of one kind and place that are not alike cannot be told apart.
func TestLayersThatDiffer(t *testing.T) {
	t.Parallel()
	s := &scribe{Recording{Labels: []string{"mm"}, Kinds: map[string][]string{"layers": {"a", "a", "a", "a", "a", "a", "a"}}}}
	for i := range 7 {
		s.part("load", "layers.load", i).alloc(16 + int64(i/3))
	}
	if _, err := Solve([]*Recording{&s.Recording}); err == nil || !strings.Contains(err.Error(), `layers called "a" are not alike`) {
		t.Error(err)
	}
}

// All layers but the last few may be freed at once, those that are freed already
// among them; two alone may be so by chance.
func TestAllBut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		layers, holders []int
		left            int
		ok              bool
	}{
		{[]int{2, 1, 0}, []int{0, 1, 2, 3}, 1, true},
		{[]int{1, 2, 3}, []int{1, 2, 3, 4, 5}, 2, true},
		{[]int{1, 2, 3}, []int{1, 2, 3}, 0, true},
		{[]int{1, 0}, []int{0, 1, 2}, 0, false},
		{[]int{1, 2, 3}, []int{0, 1, 2, 3}, 1, false},
		{[]int{0, 1, 3}, []int{0, 1, 2, 3}, 1, false},
	} {
		if left, ok := allBut(c.layers, c.holders); ok != c.ok || ok && left != c.left {
			t.Errorf("%v of %v: all but %d, %v, want %d, %v", c.layers, c.holders, left, ok, c.left, c.ok)
		}
	}
}

// A layer with others of its kind before and after it does what the first and the
// last of them both do, if all of them allocate the same.
func TestAmid(t *testing.T) {
	t.Parallel()
	alloc, other := symbolic.Op{Slot: 1}, symbolic.Op{Slot: 2}
	free, last := symbolic.Op{Free: true, Ref: symbolic.Ref{Part: "a"}}, symbolic.Op{Free: true, Ref: symbolic.Ref{Part: "b"}}
	classes := []symbolic.Class{
		{Key: "full:eldest", Ops: []symbolic.Op{alloc, free, last}},
		{Key: "full:youngest", Ops: []symbolic.Op{alloc, free}},
		{Key: "dense:eldest", Ops: []symbolic.Op{alloc}},
		{Key: "dense:youngest", Ops: []symbolic.Op{alloc, other}},
		{Key: "known:eldest"}, {Key: "known:youngest"}, {Key: "known"},
		{Key: "alone:eldest"},
	}
	want := []symbolic.Class{{Key: "full", Ops: []symbolic.Op{alloc, free}}}
	if diff := cmp.Diff(want, amid(classes)); diff != "" {
		t.Error(diff)
	}
}

// From an end of the stack, a layer that is no neighbour is counted from the other.
func TestAcross(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at, from, n int
		which       symbolic.Which
		want        int
	}{
		{0, 4, 5, symbolic.NthLast, 0},
		{0, 3, 5, symbolic.NthLast, 1},
		{0, 1, 5, symbolic.Near, 1},
		{4, 0, 5, symbolic.Nth, 0},
		{4, 3, 5, symbolic.Near, -1},
		{2, 4, 5, symbolic.Near, 2},
		{0, 2, 3, symbolic.Near, 2},
	} {
		if which, at := across(c.at, c.from, c.n); which != c.which || at != c.want {
			t.Errorf("layer %d as %d of %d names it: %d %d, want %d %d", c.from, c.at, c.n, which, at, c.which, c.want)
		}
	}
}
