package solve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// shardedRun is what a card records of a dense layer and so many others of E+2 rows,
// each of which fetches the group of the layer two before it.
func shardedRun(d symbolic.Dims, layers int) *Recording {
	s := &scribe{Recording{Job: Job{Mode: "eval", Dims: d, Device: testCard}, Labels: []string{"mm", "empty_memory_format"}}}
	allocs := 0
	alloc := func(label int, size int64) {
		s.events = append(s.events, event{bytes: size, alloc: allocs, label: label})
		allocs++
	}
	share := func(rows int64) int64 { return (rows + d["D"] - 1) / d["D"] * d["h"] }
	shares := []int64{share(d["f"])}
	for range layers {
		shares = append(shares, share(d["E"]+2))
	}
	kinds := strings.Fields("dense" + strings.Repeat(" sparse", layers))
	s.Kinds = map[string][]string{"layers": kinds}
	for i, n := range shares {
		name, rows := fmt.Sprintf("layers.%d.%s", i, kinds[i]), n/d["h"]
		s.places.Parameters = append(s.places.Parameters, tensor{name: name, shape: []int64{rows, d["h"]}, dtype: "float32", trained: true, alloc: allocs})
		s.part("load", "layers.load", i)
		alloc(0, 4*n)
	}
	for _, scope := range []string{"first", "steady"} {
		s.part(scope, "batch", -1)
		for i, n := range shares {
			s.part(scope, "layers.forward", i)
			alloc(1, 2*d["D"]*n)
			s.free(allocs - 1)
		}
		for i := layers; i >= 0; i-- {
			s.part(scope, "layers.backward", i)
			if i > 1 {
				alloc(0, 2*shares[i-2])
				s.free(allocs - 1)
			}
		}
	}
	s.part("end", "end", -1)
	return &s.Recording
}

// Layers of other groups are told apart as far as a group is fetched ahead, and what
// cards share is rounded where they do not divide it, sums as well.
func TestShardsOfTwoKinds(t *testing.T) {
	t.Parallel()
	var from []*Recording
	for i, d := range []symbolic.Dims{
		{"h": 320, "f": 704, "E": 30, "D": 2}, {"h": 448, "f": 832, "E": 22, "D": 4}, {"h": 576, "f": 1088, "E": 38, "D": 8},
		{"h": 320, "f": 832, "E": 14, "D": 8}, {"h": 448, "f": 1088, "E": 46, "D": 2}, {"h": 576, "f": 704, "E": 30, "D": 4},
	} {
		from = append(from, shardedRun(d, 5+i%2))
	}
	solved, err := Solve(from)
	if err != nil || len(solved.Doubts) > 0 {
		t.Fatal(err, solved)
	}
	for _, cards := range []int64{1, 3, 7, 64} {
		check, err := Verify(solved.Tape, shardedRun(symbolic.Dims{"h": 640, "f": 768, "E": 17, "D": cards}, 9))
		if err != nil {
			t.Fatal(err)
		}
		if !check.OK() {
			t.Errorf("%d cards: %+v", cards, check)
		}
	}
}
