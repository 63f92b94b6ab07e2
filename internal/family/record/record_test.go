package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/solve"
)

const llama = "internal/symbolic/solve/testdata/llama-bf16"

// What PyTorch does now is what the recordings in testdata say.
func TestRecord(t *testing.T) {
	python := os.Getenv("PLIMSOLL_PYTHON")
	if python == "" {
		t.Skip("PLIMSOLL_PYTHON names no interpreter with PyTorch")
	}
	t.Chdir("../../..")
	r, err := newRecorder(t.Context(), options{python: python, rows: "internal/family/families"})
	if err != nil {
		t.Fatal(err)
	}
	if r.torch() != "2.15.0" {
		t.Skip("the recordings in testdata are not of PyTorch", r.torch())
	}
	text, job := firstJob(t, llama+".check.jsonl.gz")
	rw, err := readRow("internal/family/families/llama.json")
	if err != nil {
		t.Fatal(err)
	}
	given, err := rw.given(variant{Job: job})
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	u := unit{device: job.Device, lines: []string{`{"row":` + string(given) + `,"job":` + text + `}`}, path: filepath.Join(t.TempDir(), "x.jsonl.gz")}
	if err := r.record(t.Context(), rw, []unit{u}, func() { stored++ }); err != nil || stored != 1 {
		t.Fatal(stored, err)
	}
	recs, err := readAll(u.path)
	if err != nil || len(recs) != 1 {
		t.Fatal(len(recs), err)
	}
	from, err := readAll(llama + ".solve.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	s, err := solve.Solve(from)
	if err != nil {
		t.Fatal(err)
	}
	if _, said := check(s.Tape, recs[0]); said != "equal" {
		t.Error(said)
	}
}

// firstJob is the job of a file's first recording.
func firstJob(t *testing.T, path string) (string, solve.Job) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var line struct{ Job json.RawMessage }
	var job solve.Job
	if err := json.NewDecoder(bufio.NewReader(in)).Decode(&line); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line.Job, &job); err != nil {
		t.Fatal(err)
	}
	return string(line.Job), job
}

// Every row has a plan; its tapes have keys of their own, and each is checked on
// two cards with more layers than it is solved from.
func TestPlan(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../families/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no rows:", err)
	}
	for _, path := range append(paths, "torchvision-resnet50.json", "torchvision-vit_b_16.json", "torchvision-deeplabv3_resnet50.json") {
		r, err := readRow(path)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		list := planOf(r, "")
		if len(list) == 0 && len(r.Structures) > 0 {
			t.Errorf("%s: nothing is recorded", r.Family)
		}
		for _, v := range list {
			if seen[v.key()] {
				t.Errorf("%s: %s is there twice", r.Family, v.key())
			}
			seen[v.key()] = true
			p, err := (&recorder{}).planned(r, v)
			if err != nil {
				t.Fatal(err)
			}
			if p.solved < 8 || len(p.at)-p.solved != 2 || len(p.units) != 2 {
				t.Errorf("%s %s: %d jobs, %d of them to solve from, on %d cards", r.Family, v.key(), len(p.at), p.solved, len(p.units))
			}
		}
	}
}

// Jobs that failed are kept for this run and tried again by the next one.
func TestStore(t *testing.T) {
	t.Parallel()
	u := unit{lines: []string{"a", "b"}, path: filepath.Join(t.TempDir(), "x.jsonl.gz")}
	good, bad := `{"job":{},"events":[]}`+"\n", `{"job":{},"error":"RuntimeError: x"}`+"\n"
	for _, c := range []struct {
		text         string
		cached, done bool
	}{{good, false, false}, {bad + good, true, false}, {good + good, true, true}} {
		err := store(u, bufio.NewReader(strings.NewReader(c.text)))
		if u.isCached() != c.cached || u.isDone() != c.done || (err == nil) != c.cached {
			t.Errorf("%q: cached %v, done %v, %v", c.text, u.isCached(), u.isDone(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Dir(u.path) + "/*"); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	const from = "../../../" + llama
	var b strings.Builder
	if err := look(&b, from+".solve.jsonl.gz", ""); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "plimsoll symbolic 1\nbody 0\n") || !strings.Contains(b.String(), "\nparam model.layers.{}.mlp.up_proj.weight layers - 0 bfloat16 trained ") {
		t.Errorf("%.200s", b.String())
	}
	b.Reset()
	if err := look(&b, from+".solve.jsonl.gz", from+".check.jsonl.gz"); err != nil {
		t.Fatal(err)
	}
	if strings.Count(b.String(), " equal\n") != 2 {
		t.Error(b.String())
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                               "name families",
		"-solve testdata/nothing.jsonl":  "no such file",
		"-solve record_test.go":          "record_test.go: recording 1",
		"-plan bse llama":                "-plan bse: base, unpadded",
		"-python /nowhere/python llama":  "/nowhere/python",
		"-jobs x llama":                  "invalid value",
		"-jobs 0 llama":                  "-jobs 0: at least one",
		"-list -cached -python x llama":  "-list with -cached",
		"-solve record_test.go -check x": "record_test.go: recording 1",
	} {
		err := run(context.Background(), strings.Fields(args))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
