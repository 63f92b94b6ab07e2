package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/catalog"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/estimate/toy"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// toys answers every query with the toy.
type toys struct{}

func (toys) Find(_ context.Context, q catalog.Query) (estimate.Source, error) {
	if q.Name == "unknown" {
		return nil, &estimate.Error{Msg: "not known"}
	}
	return toy.New(), nil
}

const cases = `{"gpu": "Tesla T4", "torch": "2.15.0+cu132", "device": {"VGPU_CC": "75", "VGPU_SMS": "40", "VGPU_CAP": "15634661376", "VGPU_CTX": null}, "cases": [
 {"id": "equal", "model": "toy", "task": "causal-lm", "recipe": {"precision": "fp32", "optimizer": "adamw", "batch": 16, "seq": 512},
  "measured": {"parameters": 90704896, "trainable_parameters": 90704896, "peak_allocated_bytes": 3724644352, "peak_reserved_bytes": 4049600512}},
 {"id": "half", "model": "toy", "task": "causal-lm", "recipe": {"precision": "fp32", "optimizer": "adamw", "batch": 16, "seq": 512},
  "measured": {"parameters": 1, "trainable_parameters": 1, "peak_allocated_bytes": 7449288704, "peak_reserved_bytes": 4049600512}},
 {"id": "ran out", "model": "toy", "task": "causal-lm", "recipe": {"precision": "fp32", "optimizer": "adamw", "batch": 400, "seq": 512, "image": null},
  "measured": {"out_of_memory": "CUDA out of memory."}},
 {"id": "a false fit", "model": "toy", "task": "causal-lm", "mode": "inference", "recipe": {"precision": "bf16", "optimizer": "adamw", "batch": 1, "seq": 64},
  "measured": {"out_of_memory": "CUDA out of memory."}},
 {"id": "a false no", "model": "toy", "task": "causal-lm", "recipe": {"precision": "fp32", "optimizer": "adamw", "batch": 400, "seq": 512, "lora": {"r": 8, "targets": ["up"]}},
  "measured": {"peak_allocated_bytes": 1, "peak_reserved_bytes": 1}},
 {"id": "refused", "model": "unknown", "task": "causal-lm", "recipe": {"precision": "fp32", "optimizer": "adamw", "batch": 400, "image": [1, 2]}, "measured": {}}
]}`

func TestCasesAreScored(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t4.json")
	if err := os.WriteFile(name, []byte(cases), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := readFiles([]string{filepath.Dir(name)})
	if err != nil {
		t.Fatal(err)
	}
	results := runAll(t.Context(), toys{}, files, "")
	for i, want := range []outcome{right, right, right, falseFit, falseNo, refused} {
		if results[i].outcome != want {
			t.Errorf("%s: %s, want %s (%v)", results[i].truth.ID, results[i].outcome, want, results[i].err)
		}
	}
	if r := results[0]; r.allocated != 0 || r.reserved != 0 || !r.parameters {
		t.Errorf("%s: %s", r.truth.ID, r.line())
	}
	if r := results[1]; r.allocated != -0.5 || r.parameters {
		t.Errorf("%s: %s", r.truth.ID, r.line())
	}
	s := summarize(results)
	if s.measured != 3 || s.ranOut != 2 || s.wrongParameters != 1 || s.refused != 1 || !s.missed() {
		t.Errorf("%+v", s)
	}
	var out strings.Builder
	printCases(&out, results, false)
	printSummary(&out, s)
	for _, want := range []string{"FALSE FIT, ran out", "refused: not known", "allocated -50.0000 %  reserved equal", "MISSED"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	page := filepath.Join(t.TempDir(), "docs", "accuracy.md")
	if err := writePage(page, files, results); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	for _, want := range []string{
		"| half | Tesla T4 | allocated -50.0000 %",
		"| unknown | 1 | 1 | 0 | - | - | - | - | - | - | 0 | 0 |", // a refused case was not measured
		"| toy | 5 | 0 | 3 | ",
		"## What the recorder checked",
	} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %q: %v\n%s", want, err, text)
		}
	}
}

// TestChecksAreCounted counts what tapes say of themselves.
func TestChecksAreCounted(t *testing.T) {
	var c checks
	c.add(&symbolic.Tape{Checked: []symbolic.Check{{Events: 10, Equal: 10}, {Events: 10, Equal: 9, Peak: -0.01}}})
	c.add(&symbolic.Tape{Checked: []symbolic.Check{{Events: 10, Equal: 8}}})
	c.add(&symbolic.Tape{})
	if want := (checks{tapes: 3, unchecked: 1, done: 3, equal: 1, peaks: 2, worst: -0.01, events: 30, equalInPlace: 27}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

func TestQuantiles(t *testing.T) {
	s := spreadOf([]float64{0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.07, -0.08, 0.09, -0.1})
	if s.median != 0.05 || s.p90 != 0.09 || s.worst != 0.1 || s.bias > -0.0049 || s.bias < -0.0051 {
		t.Errorf("%+v", s)
	}
	if (spreadOf(nil) != spread{}) {
		t.Error("a spread of nothing")
	}
}
