package estimate

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
)

// oldest is the least compute capability that PyTorch's own wheels are built
// for, from a version on; the newest row that is not newer counts.
//
// Source: torch.cuda.get_arch_list() of 2.15.0+cu132 and 2.6.0+cu124.
var oldest = []struct {
	since      alloc.Version
	capability int
}{
	{alloc.Version{Major: 2, Minor: 15}, 75},
	{alloc.Version{Major: 2, Minor: 0}, 50},
}

// oldestCapability is the least that the recipe's PyTorch runs on.
func oldestCapability(r recipe.Recipe) int {
	v := alloc.Newest
	if r.Torch != "" {
		if parsed, err := alloc.ParseVersion(r.Torch); err == nil {
			v = parsed
		}
	}
	for _, row := range oldest {
		if v.Major > row.since.Major || v.Major == row.since.Major && v.Minor >= row.since.Minor {
			return row.capability
		}
	}
	return 0
}

// cardWarnings say what the card is not made for.
func cardWarnings(r recipe.Recipe, t Target) []Warning {
	var out []Warning
	if least := oldestCapability(r); t.Device.Capability < least {
		out = append(out, Warning{"card-unsupported", fmt.Sprintf(
			"PyTorch %s is not built for compute capability %s of %s: %s is the least", torchOf(r), dotted(t.Device.Capability), t.Name, dotted(least))})
	}
	if t.Device.Capability < 80 && (r.Precision == recipe.BF16 || r.Precision == recipe.AmpBF16) {
		out = append(out, Warning{"bf16-emulated", fmt.Sprintf("%s has no bfloat16 of its own: it takes far more time, and attention falls back to PyTorch's math kernel; float16 has one of its own", t.Name)})
	}
	return out
}

func torchOf(r recipe.Recipe) string {
	if r.Torch == "" {
		return alloc.Newest.String()
	}
	return r.Torch
}

// dotted writes a compute capability as people do: 75 is "7.5".
func dotted(capability int) string { return fmt.Sprintf("%d.%d", capability/10, capability%10) }
