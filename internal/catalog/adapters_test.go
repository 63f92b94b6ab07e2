package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// TestFewerAdapters takes adapters off every recording that has more of them than
// another one, and compares with that one: every event where layers are computed
// again, and else the peak.
func TestFewerAdapters(t *testing.T) {
	compared, torch := map[string]int{}, recordings.Versions()[0]
	for _, s := range sources(t, torch) {
		for _, small := range s.recorded() {
			for _, large := range s.recorded() {
				same := small
				same.LoRA = large.LoRA
				if small.Structure != s.structure() || small.Task != string(s.model.Task) || len(small.LoRA) == 0 || len(small.LoRA) >= len(large.LoRA) || same.String() != large.String() {
					continue
				}
				want, err := s.tapes.Tape(small.String())
				if err != nil {
					t.Fatal(err)
				}
				from, err := s.tapes.Tape(large.String())
				if err != nil {
					t.Fatal(err)
				}
				if !covers(from, small.LoRA) || slices.ContainsFunc(slices.Concat(want.Checked, from.Checked), func(c symbolic.Check) bool { return !c.Exact() }) {
					continue
				}
				got, err := from.WithoutAdapters(func(module string) bool { return !targeted(module, small.LoRA) }, nil)
				if err != nil {
					t.Errorf("%s %s from %s: %v", s.model.Family, small, large, err)
					continue
				}
				compared[small.Checkpoint]++
				same.LoRA = small.LoRA
				compareAdapters(t, s, small, got, want)
			}
		}
	}
	t.Logf("%v pairs", compared)
	if compared["none"] < 10 || compared["full"] < 10 {
		t.Errorf("too few pairs: %v", compared)
	}
}

func compareAdapters(t *testing.T, s *source, w recordings.Way, got, want *symbolic.Tape) {
	t.Helper()
	r, err := s.Complete(recipeOf(w))
	if err != nil {
		t.Fatal(err)
	}
	r.Batch, r.Seq = 3, min(r.Seq, 384)
	play := func(tp *symbolic.Tape) (events []string, peak float64) {
		run, err := s.begin(r, cardOf(w.Class))
		if err != nil {
			t.Fatal(err)
		}
		run.tape = tp
		var out tape.Writer
		if _, err := run.play(&out); err != nil {
			t.Fatal(err)
		}
		return eventsOf(out.Tape()), float64(estimate.Asked(out.Tape()))
	}
	g, a := play(got)
	x, b := play(want)
	switch off := a/b - 1; {
	case w.Checkpoint == "none" && (off < 0 || off > composedAdaptersShare):
		t.Errorf("%s %s: the peak is off by %+.4f %%", s.model.Name, w, 100*off)
	case w.Checkpoint != "none" && !slices.Equal(g, x):
		n := 0
		for n < min(len(g), len(x)) && g[n] == x[n] {
			n++
		}
		t.Errorf("%s %s: event %d of %d is another one", s.model.Name, w, n, len(x))
	}
}

// eventsOf are the events of a tape for comparison: frees between two allocations
// have no order.
func eventsOf(t *tape.Tape) []string {
	var list, frees []string
	for i := range t.Len() {
		switch e := t.Event(i); e.Kind {
		case tape.Free:
			frees = append(frees, fmt.Sprint(-t.Block(e.Block).Bytes))
		case tape.Alloc:
			slices.Sort(frees)
			list = append(append(list, frees...), fmt.Sprint(e.Bytes))
			frees = frees[:0]
		}
	}
	slices.Sort(frees)
	return append(list, frees...)
}

// TestAdaptersOnAnyLayers asks for lists that are not recorded.
func TestAdaptersOnAnyLayers(t *testing.T) {
	s := find(t, Query{Name: "llama-3.1-8b"})
	all := []string{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
	whole := map[string]int64{}
	for _, targets := range append([][]string{{allLinear}, {"mlp.down_proj", "k_proj"}, {"q_proj", "o_proj"}}, slices.Collect(slices.Chunk(all, 1))...) {
		for _, checkpoint := range []string{"none", "full"} {
			for _, quantize := range []string{"", "nf4"} {
				r, err := s.Complete(recipe.Recipe{Precision: recipe.BF16, Checkpoint: checkpoint, Seq: 64, Quantize: quantize, LoRA: &recipe.LoRA{Rank: 8, Targets: targets}})
				if err != nil {
					t.Fatal(err)
				}
				var w tape.Writer
				played, err := s.Play(r, usualDevice, &w, 0)
				if err != nil {
					t.Errorf("%v %s %s: %v", targets, checkpoint, quantize, err)
					continue
				}
				whole[strings.Join(targets, "+")] = played.Trainable
			}
		}
	}
	var sum int64
	for _, one := range all {
		sum += whole[one]
	}
	if sum != whole[allLinear] || sum == 0 {
		t.Errorf("adapters have %v, all of them %d", whole, whole[allLinear])
	}
	for _, targets := range [][]string{{"lm_head"}, {"q_proj", "lm_head"}, {"nothing"}, {"proj"}} {
		r, err := s.Complete(recipe.Recipe{Precision: recipe.BF16, LoRA: &recipe.LoRA{Rank: 8, Targets: targets}})
		if err != nil {
			continue
		}
		if _, err := s.Play(r, usualDevice, new(tape.Writer), 0); err == nil {
			t.Errorf("%v was answered", targets)
		}
	}
}
