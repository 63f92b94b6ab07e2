package solve

import (
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
		before := len(u.tokens)
		if u.merge(seqs[0]); len(u.tokens) != before {
			t.Fatal("what is there already makes the union longer")
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
