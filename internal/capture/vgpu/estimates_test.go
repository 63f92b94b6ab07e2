package vgpu

import (
	"strings"
	"testing"
)

func TestEstimates(t *testing.T) {
	text, err := sources.ReadFile("csrc/estimates.h")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Estimates()
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(string(text), "\t_("); len(all) != want {
		t.Errorf("%d rows, want %d", len(all), want)
	}
	seen := map[string]bool{}
	for _, e := range all {
		if seen[e.Name] {
			t.Errorf("%s is there twice", e.Name)
		}
		seen[e.Name] = true
		if e.Rule == "" || e.Source == "" || strings.Contains(e.Source, "VGPU_") {
			t.Errorf("%s has rule %q and source %q", e.Name, e.Rule, e.Source)
		}
		if e.Low > e.High || e.High != 0 && e.High < 100 || e.Low > 100 {
			t.Errorf("%s: %d to %d percent does not hold the rule's own value", e.Name, e.Low, e.High)
		}
	}
}
