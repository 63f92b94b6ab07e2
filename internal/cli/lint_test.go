package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// badScripts makes a project of all rules' bad examples, with a name that is no
// plain word, a notebook and a file that cannot be read.
func badScripts(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range lintRules() {
		write(r.Name+"/a b,%é.py", r.Bad)
	}
	cell, err := json.Marshal(lintRules()[0].Bad)
	if err != nil {
		t.Fatal(err)
	}
	write("book.ipynb", `{"cells": [{"cell_type": "code", "source": `+string(cell)+`}]}`)
	write("binary.py", "torch\x00")
	write("half.py", "import torch\ndef f(:\n")
	return dir
}

func TestLintJSONKeepsItsSchema(t *testing.T) {
	stdio, out, _ := record()
	if exit := Run(t.Context(), []string{"lint", "--no-cache", "--select", "ALL", "--format", "json", badScripts(t)}, stdio); exit != ExitNo {
		t.Fatalf("exit %d", exit)
	}
	checkSchema(t, "lint.schema.json", out.Bytes())
	var doc lintDocument
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Findings) < len(lintRules()) || len(doc.Passed) != 2 {
		t.Errorf("%d findings, %d passed over", len(doc.Findings), len(doc.Passed))
	}
	stdio, out, _ = record()
	if exit := Run(t.Context(), []string{"lint", "--explain", "all", "--format", "json"}, stdio); exit != ExitOK {
		t.Fatalf("exit %d", exit)
	}
	checkSchema(t, "lint-rules.schema.json", out.Bytes())
}

// TestSARIF validates against the standard's schema (testdata/sarif).
func TestSARIF(t *testing.T) {
	stdio, out, _ := record()
	if exit := Run(t.Context(), []string{"lint", "--no-cache", "--select", "ALL", "--format", "sarif", badScripts(t)}, stdio); exit != ExitNo {
		t.Fatalf("exit %d", exit)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	f, err := os.Open(filepath.Join("testdata", "sarif", "sarif-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
	var log sarifLog
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	for _, r := range run.Results {
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("result of %s points to %s", r.RuleID, run.Tool.Driver.Rules[r.RuleIndex].ID)
		}
		if uri := r.Locations[0].Physical.Artifact.URI; strings.ContainsAny(uri, " é") {
			t.Errorf("%q is no URI", uri)
		}
	}
}

// TestWatch lints again after a change, and ends when it is interrupted.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.py")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("import torch\n")
	stdio, _, _ := record()
	out := &waitWriter{text: make(chan string, 16)}
	stdio.Out = out
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan Exit)
	go func() { done <- Run(ctx, []string{"lint", "--watch", "--no-cache", dir}, stdio) }()
	out.wait(t, "no findings")
	write("import torch\nx = 1  # plimsoll: ignore[GPU001]\n")
	out.wait(t, "nothing here is reported as GPU001")
	write("import torch\nx = 12\n")
	out.wait(t, "no findings")
	stop()
	if exit := <-done; exit != ExitInterrupted {
		t.Errorf("exit %d", exit)
	}
}

// A waitWriter hands on what is written to it.
type waitWriter struct{ text chan string }

func (w *waitWriter) Write(p []byte) (int, error) {
	w.text <- string(p)
	return len(p), nil
}

func (w *waitWriter) wait(t *testing.T, word string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case s := <-w.text:
			if strings.Contains(s, word) {
				return
			}
		case <-deadline:
			t.Fatalf("%q was not written", word)
		}
	}
}
