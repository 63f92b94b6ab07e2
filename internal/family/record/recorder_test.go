package main

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// cached is a recorder whose cache has recordings of llama's first tape: those
// that are solved from (twice, since there are less than planned), and for the
// check either good ones or jobs that failed.
func cached(t *testing.T, checked bool) (*recorder, *row, variant) {
	t.Helper()
	r := &recorder{versions: [][2]string{{"torch", "2.15.0"}, {"peft", "1"}}}
	r.jobs, r.cached, r.only = 1, true, "train/bf16/sdpa/none/80/untied-gqa"
	r.rows, r.cache, r.out = "../families", t.TempDir(), t.TempDir()
	rw, err := readRow("../families/llama.json")
	if err != nil {
		t.Fatal(err)
	}
	v := r.wanted(rw, symbolic.NewCollection())[0]
	p, err := r.planned(rw, v)
	if err != nil {
		t.Fatal(err)
	}
	from, err := linesOf("../../../" + llama + ".solve.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	good, err := linesOf("../../../" + llama + ".check.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	text := make([]string, len(p.units))
	for i, at := range p.at {
		switch {
		case i < p.solved:
			text[at[0]] += from[i%(len(from)-1)]
		case checked:
			text[at[0]] += good[i-p.solved]
		default:
			text[at[0]] += `{"job":{},"error":"RuntimeError: no"}` + "\n"
		}
	}
	for k, u := range p.units {
		if err := pack(u.path, gzip.BestSpeed, func(w io.Writer) error { _, err := io.WriteString(w, text[k]); return err }); err != nil {
			t.Fatal(err)
		}
	}
	return r, rw, v
}

// file writes a file of tapes that has the given keys.
func (r *recorder) file(t *testing.T, versions [][2]string, keys ...string) string {
	t.Helper()
	path := filepath.Join(r.out, "torch-2.15.0", "llama"+recordings.Extension)
	c := symbolic.NewCollection()
	c.Meta = versions
	for _, k := range keys {
		c.Add(k, &symbolic.Tape{})
	}
	if err := write(path, c); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run of some tapes replaces these, and those that it could not make; the
// others stay, but for what no plan has any more.
func TestFamilyKeepsOtherTapes(t *testing.T) {
	t.Parallel()
	const other = "causal-lm/train/fp32/sdpa/none/80/untied-gqa"
	for _, checked := range []bool{true, false} {
		r, _, v := cached(t, checked)
		path := r.file(t, r.versions, v.key(), other, "causal-lm/train/int3/sdpa/none/80/untied-gqa")
		missing, err := r.family(t.Context(), "llama")
		if err != nil {
			t.Fatal(err)
		}
		c, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		if !c.Has(other) || c.Has(v.key()) != checked || len(c.Keys) > 2 {
			t.Errorf("checked %v: the file has %v", checked, c.Keys)
		}
		said := strings.Join(missing, " ")
		if checked && said != "" || !checked && !strings.Contains(said, v.key()+": LEFT OUT unchecked: RuntimeError: no") {
			t.Errorf("checked %v: %s", checked, said)
		}
		if tp, err := c.Tape(v.key()); checked && (err != nil || len(tp.Checked) != 2 || !tp.Checked[0].Exact()) {
			t.Error("the new tape:", err)
		}
	}
}

// A run of all tapes writes a new file: of what is in the cache, if no more is asked for.
func TestFamilyWritesANewFile(t *testing.T) {
	t.Parallel()
	r, rw, v := cached(t, true)
	r.only = ""
	path := r.file(t, [][2]string{{"torch", "2.14.0"}}, v.key(), "causal-lm/train/fp32/sdpa/none/80/untied-gqa")
	if _, err := r.family(t.Context(), "llama"); err != nil {
		t.Fatal(err)
	}
	c, err := open(path)
	if err != nil || strings.Join(c.Keys, " ") != v.key() || len(c.Symbols) != len(rw.Symbols) || c.Meta[0] != r.versions[0] {
		t.Error(err, c.Keys, c.Meta)
	}
}

func TestVersionsAreNotMixed(t *testing.T) {
	t.Parallel()
	r, _, v := cached(t, true)
	path := r.file(t, [][2]string{{"torch", "2.15.0"}, {"peft", "2"}}, v.key())
	if _, err := r.family(t.Context(), "llama"); err == nil || !strings.Contains(err.Error(), "record all of the family, without -only, -plan, -missing and -inexact") {
		t.Error(err)
	}
	if c, err := open(path); err != nil || c.Meta[1][1] != "2" {
		t.Error("the file was changed:", err)
	}
}

// A run that is stopped leaves the file alone.
func TestFamilyIsStopped(t *testing.T) {
	t.Parallel()
	r, _, _ := cached(t, true)
	r.only = ""
	path := r.file(t, r.versions, "old")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.family(ctx, "llama"); err == nil || !strings.Contains(err.Error(), "nothing is written") {
		t.Error(err)
	}
	if c, err := open(path); err != nil || !c.Has("old") {
		t.Error("the file was changed:", err)
	}
}

func TestMissingError(t *testing.T) {
	t.Parallel()
	if err := missingError(nil); err != nil {
		t.Error(err)
	}
	const want = "2 tapes of the plan could not be made:\n  llama a: FAILED x\n  gpt2 b: LEFT OUT"
	if err := missingError([]string{"llama a: FAILED x", "gpt2 b: LEFT OUT"}); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// A process that ends early is an error that says what it said last.
func TestRecordSaysWhatWentWrong(t *testing.T) {
	t.Parallel()
	python := filepath.Join(t.TempDir(), "python")
	for script, want := range map[string]string{
		"echo no module named torch >&2; exit 3":                          "EOF\nexit status 3; the process said: no module named torch",
		"read -r x; echo '{\"job\":{}}'; echo it ended badly >&2; exit 4": "exit status 4; the process said: it ended badly",
	} {
		if err := os.WriteFile(python, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		r := &recorder{options: options{python: python}}
		u := unit{lines: []string{"{}"}, path: filepath.Join(t.TempDir(), "x.jsonl.gz")}
		if err := r.record(t.Context(), &row{}, []unit{u}, func() {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
}
