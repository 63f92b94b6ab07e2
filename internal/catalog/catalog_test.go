package catalog

import (
	"context"
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/sourcetest"
	"github.com/plimsoll-dev/plimsoll/internal/family"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/hub"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// TestPublishedTotals counts the parameters of every model that is known by
// name, from its family's recordings.
func TestPublishedTotals(t *testing.T) {
	unrecorded := 0
	for _, e := range family.Builtins() {
		if !slices.Contains(recordings.Families(recordings.Versions()[0]), fileOf(e.Library, e.Family)) {
			unrecorded++
			continue
		}
		if err := e.CheckTotal(count); err != nil {
			t.Error(err)
		}
	}
	if unrecorded > 0 {
		t.Logf("%d models are of families without recordings", unrecorded)
	}
}

// count is the number of parameters of a model in training, in the first
// precision that was recorded.
func count(m *family.Model) (int64, error) {
	found, err := newSource(&hub.Found{Model: m}, Query{})
	if err != nil {
		return 0, err
	}
	for _, p := range []recipe.Precision{recipe.FP32, recipe.AmpBF16, recipe.BF16} {
		var r recipe.Recipe
		if r, err = found.Complete(recipe.Recipe{Precision: p}); err != nil {
			continue
		}
		var n int64
		if n, err = found.count(r); err == nil {
			return n, nil
		}
	}
	return 0, err
}

// TestSource holds a few models to what every source must keep to.
func TestSource(t *testing.T) {
	h100 := kernel.Device{Capability: 90, Multiprocessors: 132, ThreadsPerMultiprocessor: 2048}
	for name, c := range map[string]struct {
		model string
		recipe.Recipe
		kernel.Device
	}{
		"defaults":   {"gpt2", recipe.Recipe{}, kernel.Device{}},
		"half":       {"llama-3.2-1b", recipe.Recipe{Batch: 2, Precision: recipe.BF16, Optimizer: "adamw-fused", ClipGradNorm: true}, h100},
		"scaled":     {"gpt2", recipe.Recipe{Precision: recipe.AmpFP16, Optimizer: "adagrad", Accumulate: 2, ClipGradNorm: true}, usualDevice},
		"evaluation": {"gpt2", recipe.Recipe{Mode: recipe.Eval, Precision: recipe.BF16}, usualDevice},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(System{}).Find(context.Background(), Query{Name: c.model})
			if err != nil {
				t.Fatal(err)
			}
			sourcetest.Test(t, s, c.Recipe, c.Device)
		})
	}
}

// TestKeys reads the name of every tape back, and every tape.
func TestKeys(t *testing.T) {
	for _, version := range recordings.Versions() {
		for _, name := range recordings.Families(version) {
			f, err := recordings.Open(version, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range f.Keys() {
				if v, ok := recordings.ParseWay(key); !ok || v.String() != key {
					t.Errorf("%s: %s is read as %s", name, key, v.String())
				}
				if _, err := f.Tape(key); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// TestList estimates all that is listed, with nothing said but the model and
// its task.
func TestList(t *testing.T) {
	c := New(System{})
	list := c.List()
	if len(list) < 100 {
		t.Errorf("only %d models are listed", len(list))
	}
	target := estimate.Target{Name: "a card", Count: 1, Device: usualDevice, Capacity: 80 * unit.GiB}
	for _, entry := range list {
		if len(entry.Tasks) == 0 {
			t.Errorf("%s is listed for no task", entry.Name)
		}
		for i, task := range entry.Tasks {
			s, err := c.Find(t.Context(), Query{Name: entry.Name, Task: task})
			if err != nil {
				t.Errorf("%s for %s: %v", entry.Name, task, err)
				continue
			}
			e, err := estimate.On(t.Context(), s, recipe.Recipe{}, target, estimate.Options{Bare: true})
			switch {
			case err != nil:
				t.Errorf("%s for %s: %v", entry.Name, task, err)
			case i == 0 && e.Model.Parameter != entry.Parameters:
				t.Errorf("%s is listed with %d parameters and estimated with %d", entry.Name, entry.Parameters, e.Model.Parameter)
			}
		}
	}
}

// A model with a head for labels has no embeddings to tie to it.
func TestUntied(t *testing.T) {
	e, ok := family.FindBuiltin("smollm-135m")
	if !ok {
		t.Fatal("no such model")
	}
	for task, want := range map[recipe.Task]string{recipe.SequenceClassification: "untied-gqa", recipe.CausalLM: "tied-gqa"} {
		m, err := family.FromConfig(e.Config, family.Options{Name: e.Name, Task: task})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSource(&hub.Found{Model: m}, Query{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.structure(); got != want {
			t.Errorf("%s is answered from %s, want %s", task, got, want)
		}
	}
}
