package spelling

import (
	"slices"
	"testing"
)

func TestClosest(t *testing.T) {
	list := []string{"gpt2", "gpt", "opt", "gptj", "llama", "gpt-2"}
	for name, want := range map[string][]string{
		"gpt2": {"gpt2", "gpt", "gptj"}, "lama": {"llama"}, "x": nil, "": nil,
	} {
		if got := Closest(name, list, func(s string) int { return Distance(name, s) }); !slices.Equal(got, want) {
			t.Errorf("%q is close to %q, want %q", name, got, want)
		}
	}
}
