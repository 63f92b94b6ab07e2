package idle

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/series"
)

func TestNothingToSay(t *testing.T) {
	for name, w := range map[string]Window{
		"no samples":     {},
		"no GPU":         {Samples: make([]series.Sample, 3)},
		"a GPU is asked": {Samples: make([]series.Sample, 3), Devices: []string{"GPU-1"}, Root: 7},
	} {
		a := Diagnose(w)
		if a.Verdict == "" || a.Healthy || len(a.Findings) > 0 || len(a.Unsure) > 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A cause needs two witnesses that can lie only independently of each other.
func TestCausesHaveTwoWitnesses(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Causes() {
		if seen[c.ID] {
			t.Errorf("%s stands twice in the catalogue", c.ID)
		}
		seen[c.ID] = true
		witnesses := map[string]bool{}
		for _, any := range c.Needs {
			for _, id := range any {
				if signalByID[id] == nil {
					t.Fatalf("%s needs %q, which is no signal", c.ID, id)
				}
			}
			witnesses[signalByID[any[0]].Counters] = true
		}
		if len(witnesses) < 2 {
			t.Errorf("%s is named on one witness", c.ID)
		}
		for _, id := range c.Excludes {
			if signalByID[id] == nil {
				t.Fatalf("%s excludes %q, which is no signal", c.ID, id)
			}
		}
		if c.Else == "" || c.Decide == "" || len(c.Remedies) == 0 {
			t.Errorf("%s lacks what else, what would decide, or a remedy", c.ID)
		}
	}
}
