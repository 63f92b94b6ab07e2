package vgpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// scripts run on a real PyTorch when PLIMSOLL_PYTHON names interpreters that
// have one, separated by colons. A script fails by an assertion of its own.
var scripts = []struct {
	file    string
	devices int
	env     []string
	from    string // PyTorch version that can do it, "2.6"; "" for all
}{
	{file: "train.py"},
	{file: "oom.py"},
	{file: "expandable.py", env: []string{"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"}, from: "2.1"},
	{file: "parallel.py", devices: 4},
	{file: "graphs.py"},
	{file: "compile.py", from: "2.15"},
	{file: "snapshot.py"},
	{file: "contents.py"},
	{file: "nothing_real.py"},
	{file: "visible.py", devices: 4},
	{file: "driver_pool.py", env: []string{"PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync"}},
}

func TestScripts(t *testing.T) {
	interpreters := os.Getenv("PLIMSOLL_PYTHON")
	if interpreters == "" {
		t.Skip("PLIMSOLL_PYTHON names no interpreter")
	}
	for python := range strings.SplitSeq(interpreters, ":") {
		torch, err := Probe(t.Context(), python)
		if err != nil {
			t.Fatal(err)
		}
		lib, err := Prepare(t.Context(), torch, sharedCache, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scripts {
			t.Run(torch.Version+"/"+s.file, func(t *testing.T) {
				if !atLeast(torch.Version, s.from) {
					t.Skipf("PyTorch %s cannot do it", torch.Version)
				}
				env := append(s.env, decoys(t, lib)...)
				runScript(t, python, lib, filepath.Join("testdata/scripts", s.file), max(1, s.devices), env)
			})
		}
	}
}

func atLeast(version, from string) bool {
	major, minor, _ := twoNumbers(version)
	wantMajor, wantMinor, ok := twoNumbers(from)
	return !ok || major > wantMajor || major == wantMajor && minor >= wantMinor
}

// runScript runs a script on a card of 24 GiB and demands that it refused nothing.
func runScript(t *testing.T, python string, lib Library, script string, devices int, env []string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	config := Config{
		Name: "NVIDIA Test 24GB", Count: devices, Capability: 86, Multiprocessors: 82,
		Capacity: 24 * unit.GiB, Context: 500 * unit.MiB, Log: log,
	}
	cmd := exec.CommandContext(t.Context(), python, "-W", "ignore", script)
	cmd.Env = append(append(append(os.Environ(), lib.Env()...), config.Env()...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text, _ := os.ReadFile(log)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "refused") {
			t.Errorf("%s: %s", script, line)
		}
	}
}

// decoys lie where the loader and PyTorch look for NVIDIA's libraries, and end
// the process when they are loaded: a machine that has the real ones.
func decoys(t *testing.T, lib Library) []string {
	t.Helper()
	dir := t.TempDir()
	wheel := filepath.Join(dir, "decoy", "nvidia", "cublas", "lib")
	if err := os.MkdirAll(wheel, 0o700); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "decoy.c")
	if err := os.WriteFile(source, []byte("#include <stdlib.h>\n__attribute__((constructor)) static void loaded(void) { abort(); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, soname := range lookedUp(lib.CUDA / 1000) {
		if out, err := exec.CommandContext(t.Context(), "cc", "-shared", "-fPIC", source, "-Wl,-soname,"+soname, "-o", filepath.Join(wheel, soname)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return []string{"LD_LIBRARY_PATH=" + wheel, fmt.Sprint("PYTHONPATH=", filepath.Join(dir, "decoy"))}
}
