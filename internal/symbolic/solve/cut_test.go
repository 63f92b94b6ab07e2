package solve

import (
	"fmt"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// TestPasses goes through two layers as PEFT does for linear layers, and again for two
// parameters of each, of which the second has its adapter on that of the first.
func TestPasses(t *testing.T) {
	var marks []mark
	add := func(part string, index int) { marks = append(marks, mark{len(marks), symbolic.Load, part, index}) }
	add("adapters", -1)
	add("layers.adapt", 0)
	add("layers.adapt", 1)
	for i := range 2 {
		add("layers.adapt", i)
		add("layers.adapted", -1)
		add("layers.adapt", i)
	}
	add("layers.adapted", -1)
	marks = append(marks, mark{len(marks), symbolic.First, "layers.forward", 0}, mark{len(marks) + 1, symbolic.First, "hook", -1}, mark{len(marks) + 2, symbolic.First, "layers.forward", 0})
	var got []string
	for _, m := range passes(marks) {
		got = append(got, fmt.Sprint(m.at, " ", m.part, " ", m.index))
	}
	want := []string{
		"0 adapters -1", "1 layers.adapt 0", "2 layers.adapt 1", "3 layers.adapt2 0", "6 layers.adapt2 1", "9 layers.adapted -1",
		"10 layers.forward 0", "11 hook -1", "12 layers.forward 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
