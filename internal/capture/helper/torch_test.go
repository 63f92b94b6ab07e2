package helper_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/capture/helper"
	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// bench is one interpreter with PyTorch on the virtual GPU.
type bench struct {
	python string
	env    []string // of the virtual GPU
	helper string   // folder with the Python
}

// A run is what a script did under the helper.
type run struct {
	code   int
	output string
	out    string           // folder with the results
	result []map[string]any // result.json of each process
}

// benches are the interpreters that PLIMSOLL_PYTHON names, separated by colons.
func benches(t *testing.T) []bench {
	t.Helper()
	names := os.Getenv("PLIMSOLL_PYTHON")
	if names == "" {
		t.Skip("PLIMSOLL_PYTHON names no interpreter with PyTorch")
	}
	cache, err := vgpu.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	var all []bench
	for _, python := range filepath.SplitList(names) {
		torch, err := vgpu.Probe(t.Context(), python)
		if err != nil {
			t.Fatal(err)
		}
		library, err := vgpu.Prepare(t.Context(), torch, cache, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		config := vgpu.Config{Name: "NVIDIA A100-SXM4-80GB", Count: 1, Capability: 80, Multiprocessors: 108, Capacity: 80 * unit.GiB}
		b := bench{python: python, env: append(config.Env(), library.Env()...), helper: t.TempDir()}
		if err := helper.Write(b.helper); err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// run runs Python with the helper under some settings; further are environment entries.
func (b bench) run(t *testing.T, s helper.Settings, args []string, further ...string) run {
	t.Helper()
	dir := t.TempDir()
	s.Out = filepath.Join(dir, "out")
	if err := os.Mkdir(s.Out, 0o755); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, "settings.json")
	if err := helper.WriteSettings(settings, s); err != nil {
		t.Fatal(err)
	}
	further = append(further, helper.Variable+"="+settings, "PYTHONPATH="+b.helper)
	r := run{out: s.Out}
	r.code, r.output = b.python3(t, dir, args, further...)
	folders, _ := filepath.Glob(filepath.Join(s.Out, "p*", helper.Result))
	for _, path := range folders {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		r.result = append(r.result, fields)
	}
	return r
}

func (b bench) python3(t *testing.T, dir string, args []string, further ...string) (code int, output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), b.python, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), b.env...), further...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSmallValues(t *testing.T) {
	for _, b := range benches(t) {
		r := b.run(t, helper.Settings{Steps: 100}, []string{script(t, "values.py")}, "PLIMSOLL_HELPER_DEBUG=1")
		if r.code != 0 {
			t.Errorf("%s: exit code %d\n%s", b.python, r.code, r.output)
		}
	}
}

// TestEvents is the proof that the helper does not change what it records.
func TestEvents(t *testing.T) {
	for _, b := range benches(t) {
		for _, name := range []string{"events_conv.py", "events_encoder.py", "events_gpt.py", "events_lstm.py"} {
			plain, helped := filepath.Join(t.TempDir(), "plain"), filepath.Join(t.TempDir(), "helped")
			if code, out := b.python3(t, t.TempDir(), []string{script(t, name)}, "EVENTS="+plain); code != 0 {
				t.Fatalf("%s: %s without the helper: exit code %d\n%s", b.python, name, code, out)
			}
			if r := b.run(t, helper.Settings{Steps: 100}, []string{script(t, name)}, "EVENTS="+helped); r.code != 0 {
				t.Fatalf("%s: %s with the helper: exit code %d\n%s", b.python, name, r.code, r.output)
			}
			want, err := os.ReadFile(plain)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(helped)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %s: events with the helper differ (%d bytes of them, %d without)", b.python, name, len(got), len(want))
			}
		}
	}
}

// ends are the ways in which a script can end.
var ends = []struct {
	name, python, end string
	code              int
}{
	{"runs to its end", "x = torch.ones(9, device='cuda')", "script_end", 0},
	{"exits with a status", "x = torch.ones(9, device='cuda'); sys.exit(3)", "exit", 3},
	{"exits past atexit", "x = torch.ones(9, device='cuda'); os._exit(4)", "exit", 4},
	{"raises", "x = torch.ones(9, device='cuda'); raise ValueError('no')", "exception", 1},
	{"runs out of memory", "x = torch.empty(2**40, device='cuda')", "oom", 1},
	{"is terminated", "x = torch.ones(9, device='cuda'); os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)", "signal", -1},
	{"is interrupted", "x = torch.ones(9, device='cuda'); os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", "signal", -1},
	// A handler of ours in the child could keep it from ending at all.
	{"forks", "x = torch.ones(9, device='cuda'); p = os.fork() or os._exit(signal.getsignal(signal.SIGTERM) != signal.SIG_DFL); sys.exit(os.waitpid(p, 0)[1])", "exit", 0},
	{"hangs", "x = torch.ones(9, device='cuda'); time.sleep(600)", "timeout", 0},
	{"never uses CUDA", "x = torch.ones(9)", "", 0},
}

func TestEnds(t *testing.T) {
	for _, b := range benches(t) {
		for _, c := range ends {
			settings := helper.Settings{Steps: 3}
			if c.end == "timeout" {
				settings.Timeout = 1
			}
			r := b.run(t, settings, []string{"-c", "import os, signal, sys, time, torch\n" + c.python})
			if c.end == "" {
				if len(r.result) != 0 || r.code != 0 {
					t.Errorf("%s: a script that %s: %d results, exit code %d", b.python, c.name, len(r.result), r.code)
				}
				continue
			}
			if len(r.result) != 1 {
				t.Errorf("%s: a script that %s wrote %d results\n%s", b.python, c.name, len(r.result), r.output)
				continue
			}
			if got := r.result[0]["end"]; got != c.end || c.code >= 0 && r.code != c.code {
				t.Errorf("%s: a script that %s: end %v, exit code %d; want %s, %d\n%s", b.python, c.name, got, r.code, c.end, c.code, r.output)
			}
		}
	}
}

func TestCaughtOutOfMemory(t *testing.T) {
	const program = `import torch
for size in (2**41, 2**40, 1):
    try:
        x = torch.empty(size, device="cuda")
    except torch.cuda.OutOfMemoryError:
        pass`
	for _, b := range benches(t) {
		r := b.run(t, helper.Settings{Steps: 3}, []string{"-c", program})
		if len(r.result) != 1 {
			t.Fatalf("%s: %d results\n%s", b.python, len(r.result), r.output)
		}
		all, _ := r.result[0]["ooms"].([]any)
		if len(all) != 2 || r.result[0]["end"] != "script_end" {
			t.Fatalf("%s: %d errors, end %v", b.python, len(all), r.result[0]["end"])
		}
		if text := fmt.Sprint(all[0].(map[string]any)["message"]); !strings.HasPrefix(text, "CUDA out of memory. Tried to allocate 8192.00 GiB") {
			t.Errorf("%s: message %q", b.python, text)
		}
	}
}

func TestTrains(t *testing.T) {
	for _, b := range benches(t) {
		r := b.run(t, helper.Settings{Steps: 3}, []string{script(t, "trains.py")})
		if len(r.result) != 1 || r.result[0]["end"] != "steps" || r.result[0]["rounds"] != 3.0 {
			t.Fatalf("%s: %v\n%s", b.python, r.result, r.output)
		}
		folder, _ := filepath.Glob(filepath.Join(r.out, "p*"))
		marks := read(t, filepath.Join(folder[0], helper.Marks))
		for _, want := range []string{
			"phase\tload\t", "phase\tforward\t", "enter\tf\tNet", "enter\tf\tbody.0", "exit\tf\tbody.0", "enter\tf\thead", "phase\tloss\t",
			"phase\tbackward\t", "enter\tb\thead", "enter\tb\tbody.1", "phase\tstep\t", "step\t1\t", "step\t3\t", "phase\teval\t", "phase\tsave\t",
		} {
			if !strings.Contains(marks, "\t"+want) {
				t.Errorf("%s: no mark %q in\n%s", b.python, want, marks)
			}
		}
		labels := read(t, filepath.Join(folder[0], helper.Labels))
		for _, want := range []string{"parameter", "gradient", "optimizer_state", "input"} {
			if !strings.Contains(labels, "\t"+want+"\t") {
				t.Errorf("%s: no label %q in\n%s", b.python, want, labels)
			}
		}
	}
}

func TestAlone(t *testing.T) {
	for _, b := range benches(t) {
		r := b.run(t, helper.Settings{Steps: 3, World: 8, Rank: 5, Timeout: 120}, []string{script(t, "alone.py")})
		if r.code != 0 || len(r.result) != 1 || r.result[0]["end"] != "steps" {
			t.Errorf("%s: exit code %d, %v\n%s", b.python, r.code, r.result, r.output)
		}
	}
}

func TestSaves(t *testing.T) {
	for _, b := range benches(t) {
		r := b.run(t, helper.Settings{Steps: 3}, []string{script(t, "saves.py"), t.TempDir()})
		if r.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", b.python, r.code, r.output)
		}
		if writes, _ := r.result[0]["writes"].([]any); len(writes) == 0 {
			t.Errorf("%s: no writes are listed", b.python)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
