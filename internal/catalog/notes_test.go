package catalog

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Images between those that were recorded may be padded up to the next of them.
func TestBetweenRecordings(t *testing.T) {
	tape := &symbolic.Tape{Seen: []symbolic.Span{{Name: "H", Low: 224, High: 672, Step: 224}}}
	for side, share := range map[int64]float64{448: 0, 896: 0, 288: 448.0*448/(288*288) - 1, 700: 896.0*896/(700*700) - 1} {
		var got float64
		for _, r := range unseen(tape, &about{}, symbolic.Env{Dims: symbolic.Dims{"H": side}}) {
			if r.code == "between-recordings" {
				got = r.share
			}
		}
		if got-share > 1e-9 || share-got > 1e-9 {
			t.Errorf("an image of %d may be off by %v, want %v", side, got, share)
		}
	}
}

// Images of more pixels than were recorded are in doubt where they are channels last.
func TestAboveRecordings(t *testing.T) {
	tape := &symbolic.Tape{Seen: []symbolic.Span{{Name: "B", Low: 1, High: 64}, {Name: "H", Low: 96, High: 512}, {Name: "W", Low: 80, High: 416}}}
	for _, c := range []struct {
		channelsLast  bool
		height, width int64
		want          bool
	}{{true, 512, 512, true}, {true, 512, 416, false}, {true, 300, 500, false}, {false, 512, 512, false}} {
		r, got := larger(tape, &about{channelsLast: c.channelsLast}, symbolic.Env{Dims: symbolic.Dims{"B": 512, "H": c.height, "W": c.width}})
		if got != c.want {
			t.Errorf("%+v: %v, %s", c, got, r.message)
		}
	}
}

// What is made in the order of a set differs from run to run, where there are two of it.
// Where there is one, more was recorded than is there.
func TestKindsAsSet(t *testing.T) {
	mixed, alike := map[string][]string{"layers": {"sliding", "full"}}, map[string][]string{"layers": {"full", "full"}}
	for _, c := range []struct {
		family string
		kinds  map[string][]string
		want   string
	}{{"gemma3_text", mixed, "any-order"}, {"gemma3_text", alike, "absent-kind"}, {"gemma2", mixed, ""}, {"gemma2", alike, ""}} {
		s := &source{model: &family.Model{Family: c.family, Kinds: c.kinds}}
		got := ""
		for _, r := range s.kindsAsSet() {
			got += r.code
		}
		if got != c.want {
			t.Errorf("%s with %v: %q, not %q", c.family, c.kinds, got, c.want)
		}
	}
}

// Few tokens are in doubt where a tape does not know when weights in 4 bits are unpacked:
// the largest may not be.
func TestFewTokens(t *testing.T) {
	params := []symbolic.Tensor{{DType: "uint8", Shape: []int64{500, 1}}, {DType: "uint8", Shape: []int64{800, 1}}, {DType: "bfloat16", Shape: []int64{9000}}}
	for _, c := range []struct {
		quantize string
		unpacks  bool
		seq      int64
		want     unit.Bytes
	}{{"nf4", false, 768, 2 * 1600}, {"nf4", false, 769, 0}, {"nf4", true, 768, 0}, {"", false, 768, 0}} {
		r := &run{way: recordings.Way{Quantize: c.quantize}, recipe: recipe.Recipe{Batch: 2, Seq: c.seq, Precision: recipe.BF16}}
		var got unit.Bytes
		for _, d := range packed(r, &about{unpacks: c.unpacks}, params) {
			got += d.Less
		}
		if got != c.want {
			t.Errorf("%+v: %d bytes less", c, got)
		}
	}
}
