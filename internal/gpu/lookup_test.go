package gpu

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		name  string
		want  string // the card
		count int
	}{
		{"3090", "GeForce RTX 3090", 1},
		{"rtx3090", "GeForce RTX 3090", 1},
		{"RTX 3090", "GeForce RTX 3090", 1},
		{"NVIDIA GeForce RTX 3090", "GeForce RTX 3090", 1},
		{"rtx 30 90", "GeForce RTX 3090", 1},
		{"3090ti", "GeForce RTX 3090 Ti", 1},
		{"1080ti", "GeForce GTX 1080 Ti", 1},
		{"GTX-1080-Ti", "GeForce GTX 1080 Ti", 1},
		{"a100", "A100 SXM4 80GB", 1},
		{"a100-80g", "A100 SXM4 80GB", 1},
		{"a100 80gb", "A100 SXM4 80GB", 1},
		{"A100-SXM4-80GB", "A100 SXM4 80GB", 1},
		{"a100-40gb", "A100 SXM4 40GB", 1},
		{"a100-40gb x4", "A100 SXM4 40GB", 4},
		{"a100 pcie", "A100 PCIe 80GB", 1},
		{"a100-pcie-40gb", "A100 PCIe 40GB", 1},
		{"NVIDIA A100 80GB PCIe", "A100 PCIe 80GB", 1},
		{"h100", "H100 SXM5 80GB", 1},
		{"H100", "H100 SXM5 80GB", 1},
		{"h100-sxm", "H100 SXM5 80GB", 1},
		{"h100 nvl", "H100 NVL 94GB", 1},
		{"NVIDIA H100 80GB HBM3", "H100 SXM5 80GB", 1},
		{"h100x8", "H100 SXM5 80GB", 8},
		{"h100 x 8", "H100 SXM5 80GB", 8},
		{"8xH100", "H100 SXM5 80GB", 8},
		{"2x 4090", "GeForce RTX 4090", 2},
		{"4090x2", "GeForce RTX 4090", 2},
		{"v100", "Tesla V100 SXM2 16GB", 1},
		{"v100-32g", "Tesla V100 SXM2 32GB", 1},
		{"Tesla V100-SXM2-16GB", "Tesla V100 SXM2 16GB", 1},
		{"4060 ti 16gb", "GeForce RTX 4060 Ti 16GB", 1},
		{"4060ti16g", "GeForce RTX 4060 Ti 16GB", 1},
		{"4070 ti super", "GeForce RTX 4070 Ti SUPER", 1},
		{"4070 super", "GeForce RTX 4070 SUPER", 1},
		{"4070", "GeForce RTX 4070", 1},
		{"titan v", "TITAN V", 1},
		{"titan rtx", "TITAN RTX", 1},
		{"rtx 6000 ada", "RTX 6000 Ada", 1},
		{"quadro rtx 6000", "Quadro RTX 6000", 1},
		{"a6000", "RTX A6000", 1},
		{"l40s", "L40S", 1},
		{"l40", "L40", 1},
		{"t4", "Tesla T4", 1},
		{"a10g", "A10G (AWS G5)", 1},
		{"dgx spark", "GB10 (DGX Spark)", 1},
		{"mi300x", "Instinct MI300X", 1},
		{"mi300", "Instinct MI300X", 1},
		{"k80", "Tesla K80 (per die)", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Lookup(tt.name)
			if err != nil {
				t.Fatal(err)
			}
			if got.Card.Name != tt.want || got.Count != tt.count {
				t.Errorf("Lookup(%q) = %s x%d, want %s x%d", tt.name, got.Card.Name, got.Count, tt.want, tt.count)
			}
		})
	}
}

func TestLookupSaysWhichVariantItTook(t *testing.T) {
	for name, note := range map[string]string{
		"h100":           "h100 is taken as H100 SXM5 80GB (also: H100 PCIe 80GB, H100 NVL 94GB)",
		"h100x8":         "h100 is taken as H100 SXM5 80GB (also: H100 PCIe 80GB, H100 NVL 94GB)",
		"a100-40gb":      "a100-40gb is taken as A100 SXM4 40GB (also: A100 PCIe 40GB)",
		"3090":           "",
		"H100 SXM5 80GB": "",
	} {
		got, err := Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.Note != note {
			t.Errorf("%s: note %q, want %q", name, got.Note, note)
		}
	}
}

func TestLookupListsEquallyLikelyCards(t *testing.T) {
	for name, want := range map[string][]string{
		"4060ti":   {"GeForce RTX 4060 Ti 8GB", "GeForce RTX 4060 Ti 16GB"},
		"rtx 6000": {"Quadro RTX 6000", "RTX 6000 Ada", "RTX PRO 6000 Blackwell"},
		"titan":    {"TITAN Xp", "TITAN V", "TITAN RTX"},
		"4060tix2": {"GeForce RTX 4060 Ti 8GB", "GeForce RTX 4060 Ti 16GB"},
	} {
		_, err := Lookup(name)
		ambiguous, ok := errors.AsType[*AmbiguousError](err)
		if !ok {
			t.Errorf("%s: got %v, want an *AmbiguousError", name, err)
			continue
		}
		if diff := cmp.Diff(namesOf(ambiguous.Candidates), want); diff != "" {
			t.Errorf("%s: candidates (got -, want +):\n%s", name, diff)
		}
	}
}

func TestLookupSuggestsNearCards(t *testing.T) {
	for name, want := range map[string]string{
		"3091":        "GeForce RTX 3090",
		"h101":        "H100 PCIe 80GB",
		"3080 laptop": "GeForce RTX 3080 10GB",
		"3080 12gb":   "GeForce RTX 3080 10GB",
		"a1000":       "RTX A4000",
		"":            "",
		"rtx":         "",
		"potato":      "",
		"x8":          "",
	} {
		_, err := Lookup(name)
		unknown, ok := errors.AsType[*UnknownError](err)
		if !ok {
			t.Errorf("%q: got %v, want an *UnknownError", name, err)
			continue
		}
		got := strings.Join(namesOf(unknown.Nearest), ", ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: suggests %q, want %q among them", name, got, want)
		}
	}
}

func TestLookupBoundsTheNumberOfDevices(t *testing.T) {
	for _, name := range []string{"h100x0", "h100x65", "h100x999"} {
		if got, err := Lookup(name); err == nil || !strings.Contains(err.Error(), "from 1 to 64") {
			t.Errorf("%s: got %+v, %v, want an error that names the range", name, got, err)
		}
	}
}
