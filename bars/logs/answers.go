package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// expected is what people concluded from a log.
type expected struct {
	Kind    string         `json:"kind"`
	Device  bool           `json:"device_memory_oom"`
	Fields  map[string]any `json:"fields"`
	Derived map[string]any `json:"derived"`
	Cause   string         `json:"cause"`
	Also    []string       `json:"also_accept_causes"`
}

// answer is the part of explain's document that is compared.
type answer struct {
	OOM []expected `json:"oom"`
}

const leastRight = 0.95

// notInLog are numbers that people knew from elsewhere: a thread says that df
// ran every 10 seconds, its lines do not.
var notInLog = []string{"interval_s"}

// answers compares the answers about a folder of logs.
func answers(plimsoll, dir string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(dir, "oom", "expected.json"))
	if err != nil {
		return false, err
	}
	var cases map[string]expected
	if err := json.Unmarshal(text, &cases); err != nil {
		return false, err
	}
	kinds, devices, fields, first, accepted := 0, 0, 0, 0, 0
	for name, want := range cases {
		out, err := exec.Command(plimsoll, "explain", "--format", "json", filepath.Join(dir, "oom", name)).Output()
		if err != nil {
			return false, fmt.Errorf("explain %s: %w", name, err)
		}
		var a answer
		if err := json.Unmarshal(out, &a); err != nil || len(a.OOM) == 0 {
			return false, fmt.Errorf("%s: no message in the answer: %w", name, err)
		}
		got := a.OOM[0]
		count := func(n *int, right bool, what string) {
			if right {
				*n++
			} else {
				fmt.Printf("%s: %s differs\n", name, what)
			}
		}
		count(&kinds, got.Kind == want.Kind, "kind")
		count(&devices, got.Device == want.Device, "GPU memory or not")
		count(&fields, holds(got.Fields, want.Fields) && holds(got.Derived, want.Derived), "a number")
		if got.Cause == want.Cause {
			first++
		} else {
			count(&accepted, slices.Contains(want.Also, got.Cause), "cause "+got.Cause)
		}
	}
	fmt.Printf("%d logs: kind %d, GPU memory or not %d, all numbers %d, cause %d and %d accepted\n", len(cases), kinds, devices, fields, first, accepted)
	return kinds == len(cases) && devices == len(cases) && fields == len(cases) && float64(first+accepted) >= leastRight*float64(len(cases)), nil
}

// holds reports whether got has every number of want.
func holds(got, want map[string]any) bool {
	for name, v := range want {
		if slices.Contains(notInLog, name) {
			continue
		}
		a, errA := json.Marshal(v)
		b, errB := json.Marshal(got[name])
		if errA != nil || errB != nil || string(a) != string(b) {
			return false
		}
	}
	return true
}
