package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/attribute"
	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/whatif"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// growing is a script that allocates 1 MiB for each sample, in "batch=N" of its
// arguments, and off bytes more.
func growing(t *testing.T, off func(batch int64) int64) runCapture {
	return func(_ context.Context, o capture.Options) (*capture.Capture, error) {
		batch, err := strconv.ParseInt(strings.TrimPrefix(o.Argv[len(o.Argv)-1], "batch="), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		var b tape.Builder
		for _, e := range []tape.Event{
			{Kind: tape.Alloc, Addr: 1 << 40, Bytes: unit.Bytes(batch<<20 + off(batch))},
			{Kind: tape.Alloc, Addr: 2 << 40, Bytes: 64 * unit.MiB},
			{Kind: tape.FreeRequested, Addr: 1 << 40}, {Kind: tape.Free, Addr: 1 << 40},
		} {
			if _, err := b.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		rec := attribute.Attribute(attribute.Input{Tape: b.Tape(), Marks: []attribute.Mark{{Kind: "phase", Value: "forward"}, {Count: 1, Kind: "phase", Value: "backward"}}})
		a, err := whatif.New("", "2.15.0")
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.Replay(rec.Tape, whatif.Endless)
		if err != nil {
			t.Fatal(err)
		}
		res := &capture.Result{Peak: capture.Peak{Allocated: out.Allocated, Reserved: out.Reserved}}
		res.RecordedWith.Torch = "2.15.0"
		return &capture.Capture{Result: res, Recordings: []capture.Recording{{Recording: rec}}}, nil
	}
}

func TestSymbolicCaptures(t *testing.T) {
	exact := func(int64) int64 { return 0 }
	near := func(batch int64) int64 { return batch % 7 * 40000 } // some hundred KB that nobody can explain
	file := filepath.Join(t.TempDir(), "run.sym")
	for name, c := range map[string]struct {
		off  func(int64) int64
		want []string
	}{
		"exact":   {exact, []string{"solved " + file + " has 3 events with sizes as formulas of batch (B)", "equal to the byte", "plimsoll estimate " + file + " --batch 12"}},
		"roughly": {near, []string{"solved roughly", "Not solved", "backward"}},
	} {
		change := func(o *captureOptions) {
			o.Argv = []string{"python", "train.py", "batch={batch}"}
			o.Symbolic, o.Vary, o.File = true, []string{"batch=4,8,12"}, file
		}
		out, _, err := captureWith(t, growing(t, c.off), change)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, want := range c.want {
			if flat := strings.Join(strings.Fields(out), " "); !strings.Contains(flat, want) && name != "roughly" {
				t.Errorf("%s: %q is not in\n%s", name, want, out)
			}
		}
		out, _, err = captureWith(t, growing(t, c.off), func(o *captureOptions) { change(o); o.Format, o.Strict = "json", true })
		if got, want := exitOf(err), map[string]Exit{"exact": ExitOK, "roughly": ExitGaps}[name]; got != want {
			t.Errorf("%s: exit %d, want %d", name, got, want)
		}
		checkSchema(t, "symbolic.schema.json", []byte(out))
		// The tape answers.
		out, errs, exit := run(t, "estimate", file, "--batch", "100", "--gpu", "h100", "--format", "json")
		if exit != ExitOK {
			t.Fatalf("%s: %s", name, errs)
		}
		checkSchema(t, "estimate.schema.json", []byte(out))
		var e estimate.Estimate
		if err := json.Unmarshal([]byte(out), &e); err != nil {
			t.Fatal(err)
		}
		if want := 164 * unit.MiB; name == "exact" && e.Peak.Allocated != want || e.Method != "capture" || e.Script.Varied[0].Value != 100 {
			t.Errorf("%s: %+v %+v", name, e.Peak, e.Script)
		}
		if e.ByCategory.Sum() != e.Peak.Device || e.Peak.High <= e.Peak.Device {
			t.Errorf("%s: %+v", name, e.Peak)
		}
	}
}

// TestSymbolicUnderPyTorch captures a script with PyTorch, and asks the tape about
// a value that it did not see: the answer is a capture's.
func TestSymbolicUnderPyTorch(t *testing.T) {
	python := os.Getenv("PLIMSOLL_PYTHON")
	if python == "" {
		t.Skip("PLIMSOLL_PYTHON names no interpreter with PyTorch; make test does")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(scriptsDir)); err != nil {
		t.Fatal(err)
	}
	plimsoll := func(to any, words ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "plimsoll", words...)
		cmd.Dir = dir
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", words, err, out, errs.String())
		}
		if err := json.Unmarshal(out, to); err != nil {
			t.Fatal(err)
		}
	}
	var solved symbolicDocument
	plimsoll(&solved, "capture", "--gpu", "h100", "--symbolic", "--vary", "batch=8,12,20", "-o", "run.sym", "--format", "json", "--", python, "arguments.py", "--workers", "0", "--batch-size", "{batch}")
	for _, c := range solved.Checks {
		if c.Allocated != 0 || c.Reserved != 0 || c.Equal != c.Events {
			t.Errorf("%+v", c)
		}
	}
	var e estimate.Estimate
	plimsoll(&e, "estimate", "run.sym", "--batch", "50", "--gpu", "h100", "--format", "json")
	var c capture.Result
	plimsoll(&c, "capture", "--gpu", "h100", "--format", "json", "--", python, "arguments.py", "--workers", "0", "--batch-size", "50")
	if e.Peak.Allocated != c.Peak.Allocated || e.Peak.Reserved != c.Peak.Reserved || e.Model.Parameter == 0 {
		t.Errorf("estimated %d and %d bytes, captured %d and %d", e.Peak.Allocated, e.Peak.Reserved, c.Peak.Allocated, c.Peak.Reserved)
	}
}
