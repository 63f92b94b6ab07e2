package catalog

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/tape"
)

// TestWholeModel: however the model is shared out or packed, it has the
// parameters that it has on one card, in every layer.
func TestWholeModel(t *testing.T) {
	adapters := &recipe.LoRA{Rank: 8, Targets: []string{"q_proj", "v_proj"}}
	for name, c := range map[string]struct{ one, other recipe.Recipe }{
		"ddp": {
			recipe.Recipe{Seq: 128, Precision: recipe.BF16},
			recipe.Recipe{Seq: 128, Precision: recipe.BF16, Shard: "ddp", World: 8},
		},
		"fsdp2": {
			recipe.Recipe{Seq: 128, Precision: recipe.BF16, Checkpoint: "full"},
			recipe.Recipe{Seq: 128, Precision: recipe.BF16, Checkpoint: "full", Shard: "fsdp2", World: 7},
		},
		"nf4": {
			recipe.Recipe{Seq: 128, Precision: recipe.BF16, LoRA: adapters},
			recipe.Recipe{Seq: 128, Precision: recipe.BF16, LoRA: adapters, Quantize: "nf4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			one, other := playOf(t, c.one), playOf(t, c.other)
			if one.Parameters != other.Parameters || one.Trainable != other.Trainable {
				t.Errorf("%d parameters, %d trained, want %d and %d", other.Parameters, other.Trainable, one.Parameters, one.Trainable)
			}
			if len(one.Layers) != 32 || len(other.Layers) != 32 {
				t.Fatalf("%d and %d layers", len(one.Layers), len(other.Layers))
			}
			for i, l := range one.Layers {
				if got := other.Layers[i]; got.Name != l.Name || got.Parameters != l.Parameters || l.Parameters == 0 {
					t.Errorf("%s has %d parameters, want those of %s, %d", got.Name, got.Parameters, l.Name, l.Parameters)
				}
			}
			// All but the layers are the embedding, the head and the last norm.
			outside := int64(2*128256*4096 + 4096)
			for _, l := range other.Layers {
				outside += l.Parameters
			}
			if outside != other.Parameters {
				t.Errorf("the layers and what is outside of them have %d parameters, the model %d", outside, other.Parameters)
			}
		})
	}
}

func playOf(t *testing.T, r recipe.Recipe) *estimate.Played {
	t.Helper()
	s := find(t, Query{Name: "llama-3.1-8b"})
	r, err := s.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Play(r, usualDevice, new(tape.Writer), estimate.Events)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWholeIsRecorded: beside each tape of shards or packed weights there is one
// that knows the whole model.
func TestWholeIsRecorded(t *testing.T) {
	eachWay(t, func(f *recordings.File, v recordings.Way) {
		s := &source{tapes: f}
		if _, ok := s.unshared(v); !ok {
			t.Errorf("%s: nothing says what %s has as a whole", f.Family, v)
		}
	})
}

func eachWay(t *testing.T, do func(f *recordings.File, v recordings.Way)) {
	t.Helper()
	for _, version := range recordings.Versions() {
		for _, name := range recordings.Families(version) {
			f, err := recordings.Open(version, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range (&source{tapes: f}).recorded() {
				do(f, v)
			}
		}
	}
}
