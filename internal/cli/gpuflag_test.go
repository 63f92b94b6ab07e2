package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/gpu"
)

func TestParseGPUs(t *testing.T) {
	choices, err := parseGPUs("h100x8, 3090,t4")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range choices {
		got = append(got, c.Card.Name)
	}
	if diff := cmp.Diff(got, []string{"H100 SXM5 80GB", "GeForce RTX 3090", "Tesla T4"}); diff != "" {
		t.Errorf("cards (got -, want +):\n%s", diff)
	}
	if choices[0].Count != 8 || choices[1].Count != 1 {
		t.Errorf("counts %d and %d, want 8 and 1", choices[0].Count, choices[1].Count)
	}
}

func TestParseGPUsRefuses(t *testing.T) {
	for value, want := range map[string]struct{ message, hint string }{
		"3091":      {`gpu "3091" is not in the table`, "near it: GeForce RTX 3090"},
		"potato":    {`gpu "potato" is not in the table`, "plimsoll gpus lists the cards"},
		"":          {`gpu "" is not in the table`, "plimsoll gpus lists the cards"},
		"4060ti":    {"GeForce RTX 4060 Ti 8GB, GeForce RTX 4060 Ti 16GB", "give the full name"},
		"mi300x":    {"Instinct MI300X is made by AMD, and a capture imitates NVIDIA's CUDA", ""},
		"dgx spark": {"shares the memory of its host", ""},
		"h100,3091": {`gpu "3091" is not in the table`, "GeForce RTX 3090"},
	} {
		_, err := parseGPUs(value)
		if err == nil || !strings.Contains(err.Error(), want.message) || !strings.Contains(hintOf(err), want.hint) {
			t.Errorf("%q: got %v (hint %q), want %q (hint %q)", value, err, hintOf(err), want.message, want.hint)
		}
	}
}

func TestCompleteGPU(t *testing.T) {
	for typed, want := range map[string][]string{
		"h1":       {"h100", "h100-80gb", "h100-94gb", "h100-pcie-80gb", "h100-sxm5-80gb"},
		"H200":     {"h200", "h200-141gb", "h200-nvl-141gb", "h200-sxm-141gb", "h200x2", "h200x4", "h200x8"},
		"h200x":    {"h200x2", "h200x4", "h200x8"},
		"t4,3090t": {"t4,3090ti"},
		"nothing":  nil,
	} {
		found, _ := completeGPU(nil, nil, typed)
		if diff := cmp.Diff(found, want); diff != "" {
			t.Errorf("%s (got -, want +):\n%s", typed, diff)
		}
	}
}

// Whatever the shell offers, the program takes.
func TestEveryCompletionIsACard(t *testing.T) {
	for _, name := range gpuFamilies() {
		if _, err := gpu.Lookup(name); err != nil {
			t.Error(err)
		}
		if strings.ContainsAny(name, " ,") {
			t.Errorf("%q would need quotes", name)
		}
	}
}
