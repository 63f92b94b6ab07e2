package solve

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is merged: each sequence is found in the union in its own order under
// the ids that it got, no id stands twice, and ids keep their tokens.
func TestUnion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		seqs := rapid.SliceOfN(rapid.SliceOfN(token, 0, 12), 1, 5).Draw(t, "sequences")
		var u union
		var ids [][]int
		for _, seq := range seqs {
			before := slices.Clone(u.tokens)
			ids = append(ids, u.merge(seq))
			if !slices.Equal(before, u.tokens[:len(before)]) {
				t.Fatalf("tokens were %v and are %v", before, u.tokens)
			}
		}
		if sorted := slices.Sorted(slices.Values(u.order)); len(u.order) != len(u.tokens) || len(slices.Compact(sorted)) != len(u.order) {
			t.Fatalf("the order of %d tokens is %v", len(u.tokens), u.order)
		}
		u.areIn(t, seqs, ids)
		before := len(u.tokens)
		if u.merge(seqs[0]); len(u.tokens) != before {
			t.Fatal("what is there already makes the union longer")
		}
		u.join(ids)
		u.areIn(t, seqs, ids)
	})
}

// areIn fails where a sequence is not in the union in its own order.
func (u *union) areIn(t *rapid.T, seqs [][]string, ids [][]int) {
	for n, seq := range seqs {
		at := -1
		for k, id := range ids[n] {
			next := slices.Index(u.order, id)
			if u.tokens[id] != seq[k] || next <= at {
				t.Fatalf("%v got ids %v of %v in the order %v", seq, ids[n], u.tokens, u.order)
			}
			at = next
		}
	}
}

// A buffer that some have, before a free that others have, is one buffer where the order
// of the sequences made two of it.
func TestUnionIsJoined(t *testing.T) {
	t.Parallel()
	seqs := [][]string{{"+lse", "+sum", "-mask", "end"}, {"+lse", "-copy", "end"}, {"+lse", "+sum", "-copy", "end"}}
	var u union
	var ids [][]int
	for _, seq := range seqs {
		ids = append(ids, u.merge(seq))
	}
	if len(u.order) != 6 {
		t.Fatalf("%v: no token stands twice", u.tokens)
	}
	u.join(ids)
	if len(u.order) != 5 || ids[0][1] != ids[2][1] {
		t.Errorf("the order is %v of %v, and the sequences are %v", u.order, u.tokens, ids)
	}
}

// Halves of a sequence have, with what lies on their side of the cut, as much in common
// as all of it with all.
func TestUnionIsSearchedByHalves(t *testing.T) {
	t.Parallel()
	found := func(matched []int) (n int) {
		for _, m := range matched {
			if m >= 0 {
				n++
			}
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 12)
		var u union
		u.merge(tokens.Draw(t, "union"))
		a := tokens.Draw(t, "sequence")
		half := len(a) / 2
		at := u.split(a[:half], a[half:], u.order)
		before, after := union{u.order[:at], u.tokens}, union{u.order[at:], u.tokens}
		if got, want := found(before.match(a[:half]))+found(after.match(a[half:])), found(u.match(a)); got != want {
			t.Fatalf("%d in common when cut at %d, %d in all", got, at, want)
		}
	})
}

func TestUnionSharesWhatIsCommon(t *testing.T) {
	t.Parallel()
	var u union
	long := u.merge([]string{"mm", "add", "gelu", "mm", "sum"})
	short := u.merge([]string{"mm", "gelu", "mm", "drop", "sum"})
	if want := []int{long[0], long[2], long[3], 5, long[4]}; !slices.Equal(short, want) {
		t.Errorf("got %v, want %v", short, want)
	}
	if want := []int{0, 1, 2, 3, 5, 4}; !slices.Equal(u.order, want) {
		t.Errorf("the order is %v, want %v", u.order, want)
	}
	if one := u.merge([]string{"sum"}); !slices.Equal(one, []int{long[4]}) {
		t.Errorf("a single token is %v", one)
	}
}

// The gradient of a mask stays or not: what attention allocates after it is the same.
func TestTokensByPlace(t *testing.T) {
	t.Parallel()
	for label, same := range map[string]bool{"_efficient_attention_backward raw": true, "mm": false} {
		after := map[string]bool{}
		for _, fate := range []string{"kept", "here"} {
			s := &scribe{Recording{Labels: []string{label}}}
			s.part("first", "layers.backward", 0).alloc(2, 2, 4)
			r := &cutRecording{Recording: &s.Recording, fates: []string{"here", fate, "here"}}
			after[r.tokens(&piece{from: 0, to: 3})[2]] = true
		}
		if (len(after) == 1) != same {
			t.Errorf("%s: the third is %v", label, slices.Sorted(maps.Keys(after)))
		}
	}
}
