package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// printed is what -list prints, by line.
func printed(t *testing.T, o options, families ...string) []string {
	t.Helper()
	var out strings.Builder
	if err := printPlan(&out, o, families); err != nil {
		t.Fatal(err)
	}
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' })
}

// What is printed are the tapes that the other flags would record, less those that the
// newest version's file has; without names, those of all rows and of the models of
// images that there are files of.
func TestPrintPlan(t *testing.T) {
	t.Parallel()
	const have, want = "causal-lm/train/bf16/sdpa/none/80/untied-gqa", "llama causal-lm/train/fp32/sdpa/none/80/untied-gqa"
	o := options{rows: "../families", out: t.TempDir()}
	for path, key := range map[string]string{"torch-2.15.0/llama": have, "torch-2.6.0/llama": strings.TrimPrefix(want, "llama "), "torch-2.15.0/torchvision-alexnet": "any"} {
		c := symbolic.NewCollection()
		c.Add(key, &symbolic.Tape{})
		if err := write(filepath.Join(o.out, path+recordings.Extension), c); err != nil {
			t.Fatal(err)
		}
	}
	all := printed(t, o, "llama")
	o.missing = true
	rest := printed(t, o, "llama")
	if len(rest) != len(all)-1 || !strings.Contains(strings.Join(all, "\n"), "llama "+have+"\n") || strings.Contains(strings.Join(rest, "\n"), have+"\n") {
		t.Errorf("%d of all, %d of the missing: %v", len(all), len(rest), rest)
	}
	o.only, o.plan = strings.TrimPrefix(want, "llama "), "base"
	if got := printed(t, o, "llama"); len(got) != 1 || got[0] != want {
		t.Error(got)
	}
	o.plan = "infer"
	if got := printed(t, o, "llama", "torchvision-alexnet"); len(got) != 0 {
		t.Error("what is not of the plan's part:", got)
	}
	o.only, o.plan = "train/fp32/sdpa/none/80", ""
	seen := map[string]bool{}
	for _, line := range printed(t, o) {
		family, _, _ := strings.Cut(line, " ")
		seen[family] = true
	}
	if !seen["llama"] || !seen["gpt2"] || !seen["torchvision-alexnet"] || seen["torchvision-resnet50"] {
		t.Error(seen)
	}
}

func TestPrintPlanRefuses(t *testing.T) {
	t.Parallel()
	damaged := t.TempDir()
	if err := os.MkdirAll(filepath.Join(damaged, "torch-2.15.0"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, "torch-2.15.0", "llama"+recordings.Extension), []byte("no tapes"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o      options
		family []string
		want   string
	}{
		{options{rows: "../families", cached: true}, nil, "-list with -cached"},
		{options{rows: "nowhere"}, nil, "no *.json in nowhere"},
		{options{rows: "../families"}, []string{"lama"}, "lama.json: no such file"},
		{options{rows: "../families", out: damaged}, []string{"llama"}, "llama.sym.zst: unpack"},
	} {
		if err := printPlan(&strings.Builder{}, c.o, c.family); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
}
