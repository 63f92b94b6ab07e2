package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/format/oomlog"
)

// explained runs the command on a log and returns its JSON.
func explained(t *testing.T, path string, in string) explainDocument {
	t.Helper()
	stdio, out, errs := record()
	stdio.In = strings.NewReader(in)
	if exit := Run(t.Context(), []string{"explain", path, "--format", "json"}, stdio); exit != ExitOK {
		t.Fatalf("%s: exit %d: %s", path, exit, errs)
	}
	checkSchema(t, "explain.schema.json", out.Bytes())
	var d explainDocument
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestGivenLogsAreExplained holds the whole command to what people found out,
// as a program that reads its JSON would see it.
func TestGivenLogsAreExplained(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "oom", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]struct {
		Kind    string         `json:"kind"`
		Device  bool           `json:"device_memory_oom"`
		Fields  map[string]any `json:"fields"`
		Derived map[string]any `json:"derived"`
		Cause   string         `json:"cause"`
		Also    []string       `json:"also_accept_causes"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for name, want := range cases {
		d := explained(t, filepath.Join(dir, "oom", name), "")
		if len(d.OOM) != 1 || len(d.Findings) != 1 {
			t.Errorf("%s: %d messages, %d findings", name, len(d.OOM), len(d.Findings))
			continue
		}
		got := d.OOM[0]
		if got.Kind != want.Kind || got.Device != want.Device || got.Cause != want.Cause && !slices.Contains(want.Also, got.Cause) {
			t.Errorf("%s: %s, %v, %s", name, got.Kind, got.Device, got.Cause)
		}
		for field, v := range want.Fields {
			if _, ok := v.(float64); ok && got.Fields[field] != v && field != "interval_s" {
				t.Errorf("%s: %s is %v, want %v", name, field, got.Fields[field], v)
			}
		}
		for field, v := range want.Derived {
			if got.Derived[field] != v {
				t.Errorf("%s: %s is %v, want %v", name, field, got.Derived[field], v)
			}
		}
	}
}

func TestEveryKindKeepsTheSchema(t *testing.T) {
	for _, k := range oomlog.Kinds() {
		d := explained(t, "-", k.Example)
		if d.Input.File != "-" || len(d.OOM) != 1 || d.OOM[0].Kind != k.Name {
			t.Errorf("%s: %+v", k.Name, d.OOM)
		}
	}
}

func TestZippedLogs(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte("RuntimeError: CUDA error: out of memory\n")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "train.log.gz")
	if err := os.WriteFile(name, zipped.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if d := explained(t, name, ""); d.OOM[0].Kind != "cuda_error_oom" {
		t.Errorf("%+v", d.OOM)
	}
	// Cut inside: what came before is explained, and said to be part.
	if err := os.WriteFile(name, zipped.Bytes()[:zipped.Len()-6], 0o644); err != nil {
		t.Fatal(err)
	}
	stdio, out, _ := record()
	if exit := Run(t.Context(), []string{"explain", "--strict", name}, stdio); exit != ExitGaps || !strings.Contains(out.String(), "log-unreadable") {
		t.Errorf("exit %d: %s", exit, out)
	}
}

func TestSeveralLogsKeepTheSchema(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "rank0.log"), filepath.Join(dir, "rank1.log")
	for name, text := range map[string]string{a: "RuntimeError: CUDA error: out of memory\n", b: "RuntimeError: DataLoader worker (pid 1) is killed by signal: Killed.\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stdio, out, _ := record()
	if exit := Run(t.Context(), []string{"explain", a, b, "--format", "json"}, stdio); exit != ExitOK {
		t.Fatalf("exit %d", exit)
	}
	checkSchema(t, "explanations.schema.json", out.Bytes())
	var set struct {
		Explanations []json.RawMessage `json:"explanations"`
	}
	if err := json.Unmarshal(out.Bytes(), &set); err != nil || len(set.Explanations) != 2 {
		t.Fatal(err, len(set.Explanations))
	}
	for _, e := range set.Explanations {
		checkSchema(t, "explain.schema.json", e)
	}
}

func TestCountersKeepTheSchema(t *testing.T) {
	const counters = `OrderedDict([('allocated_bytes.all.current', 5368709120), ('inactive_split_bytes.all.current', 3221225472), ('num_alloc_retries', 2), ('num_ooms', 1), ('reserved_bytes.all.current', 9663676416)])`
	dir := t.TempDir()
	const asJSON = `{"allocated_bytes.all.current": 5368709120, "inactive_split_bytes.all.current": 3221225472, "num_ooms": 1, "reserved_bytes.all.current": 9663676416}`
	for name, text := range map[string]string{"stats.txt": counters, "stats.json": asJSON, "train.log": "step 1\n" + counters + "\nstep 2\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		d := explained(t, path, "")
		if d.Input.Kind != "memory_stats" || len(d.MemoryStats) != 1 || d.Findings[0].Cause != "fragmentation" || d.MemoryStats[0].Values["num_ooms"] != 1 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestFilesWithoutAnAnswer checks that a rank whose log has no message does not
// keep the others from being explained.
func TestFilesWithoutAnAnswer(t *testing.T) {
	dir := t.TempDir()
	quiet, loud := filepath.Join(dir, "rank0.log"), filepath.Join(dir, "rank1.log")
	for name, text := range map[string]string{quiet: "step 1\nstep 2\n", loud: "RuntimeError: CUDA error: out of memory\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stdio, out, _ := record()
	if exit := Run(t.Context(), []string{"explain", quiet, loud}, stdio); exit != ExitOK || !strings.Contains(out.String(), "out of GPU memory") || !strings.Contains(out.String(), "file-left") {
		t.Errorf("exit %d: %s", exit, out)
	}
	stdio, out, _ = record()
	if exit := Run(t.Context(), []string{"explain", quiet, loud, "--format", "json", "--strict"}, stdio); exit != ExitGaps {
		t.Errorf("strict: exit %d", exit)
	}
	checkSchema(t, "explanations.schema.json", out.Bytes())
	stdio, _, _ = record()
	if exit := Run(t.Context(), []string{"explain", quiet, quiet}, stdio); exit != ExitFailed {
		t.Errorf("no answer at all: exit %d", exit)
	}
}

// TestRecordingThroughAPipe checks that a snapshot on standard input is named
// as one.
func TestRecordingThroughAPipe(t *testing.T) {
	stdio, _, errs := record()
	stdio.In = strings.NewReader("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x08segments\x94]\x94s.")
	if exit := Run(t.Context(), []string{"explain", "-"}, stdio); exit != ExitFailed || !strings.Contains(errs.String(), "snapshot") {
		t.Errorf("exit %d: %s", exit, errs)
	}
}

func TestDevicesThatAreNoGPUs(t *testing.T) {
	for in, want := range map[string]string{
		"Ran out of memory in memory space hbm. Used 21.95G of 15.48G hbm. Exceeded hbm capacity by 6.47G.":                                                                                               "out of TPU memory",
		"NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity; 58.10 GiB already allocated; 58.10 GiB current active; 512.00 MiB free; 59.30 GiB reserved in total by PyTorch)": "out of NPU memory",
	} {
		stdio, out, _ := record()
		stdio.In = strings.NewReader(in)
		if exit := Run(t.Context(), []string{"explain", "-"}, stdio); exit != ExitOK || !strings.HasPrefix(out.String(), want) {
			t.Errorf("exit %d: %s", exit, out)
		}
	}
}
