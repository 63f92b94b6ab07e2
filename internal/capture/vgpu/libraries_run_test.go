package vgpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// A moment passes before the interpreter ends, because PyTorch's backward thread
// may still be putting away Python objects, which aborts a finished script.
const patient = `import atexit, runpy, sys, time
atexit.register(time.sleep, 0.2)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")`

// libraryScripts try the computing libraries beside the runtime; each file of
// testdata/libraries has a row.
var libraryScripts = []struct {
	file    string
	args    []string
	devices int
	refuses string // library whose calls may be refused
}{
	{file: "attention.py"},
	{file: "collectives.py"},
	{file: "collectives.py", devices: 2},
	{file: "convolution.py"},
	{file: "fourier.py"},
	{file: "linear_algebra.py"},
	{file: "losses.py"},
	{file: "matmul.py"},
	{file: "profiled.py", refuses: "cupti"},
	{file: "recurrent.py"},
	{file: "run_time_compiled.py"},
	{file: "sparse.py"},
	{file: "versions.py"},
}

func TestLibraryScriptsAreComplete(t *testing.T) {
	files, err := filepath.Glob("testdata/libraries/*.py")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, s := range libraryScripts {
		listed[s.file] = true
	}
	for _, file := range files {
		if !listed[filepath.Base(file)] {
			t.Errorf("%s has no row", file)
		}
	}
}

// TestLibraries runs the scripts on the interpreters of PLIMSOLL_PYTHON.
func TestLibraries(t *testing.T) {
	eachTorch(t, func(t *testing.T, python string, lib Library) {
		for _, s := range libraryScripts {
			t.Run(strings.Join(append([]string{s.file}, s.args...), " "), func(t *testing.T) {
				args := append([]string{"-W", "ignore", "-c", patient, "testdata/libraries/" + s.file}, s.args...)
				log := runPython(t, python, lib, max(1, s.devices), args...)
				for line := range strings.Lines(log) {
					if strings.HasPrefix(line, "refused") && (s.refuses == "" || !strings.HasPrefix(line, "refused\t"+s.refuses+"\t")) {
						t.Errorf("%s: %s", s.file, line)
					}
				}
			})
		}
	})
}

// TestSweep runs PyTorch's operator database, which takes a minute or two for
// each interpreter: only when PLIMSOLL_SWEEP is set.
func TestSweep(t *testing.T) {
	if os.Getenv("PLIMSOLL_SWEEP") == "" {
		t.Skip("PLIMSOLL_SWEEP is not set")
	}
	eachTorch(t, func(t *testing.T, python string, lib Library) {
		log := runPython(t, python, lib, 1, "testdata/sweep.py")
		for line := range strings.Lines(log) {
			if strings.HasPrefix(line, "refused") || strings.HasPrefix(line, "unknown") {
				t.Error(line)
			}
		}
	})
}

func eachTorch(t *testing.T, run func(t *testing.T, python string, lib Library)) {
	t.Helper()
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
		t.Run(torch.Version, func(t *testing.T) { run(t, python, lib) })
	}
}

// runPython runs an interpreter on the virtual GPU, fails the test when it
// fails, and returns the log.
func runPython(t *testing.T, python string, lib Library, devices int, args ...string) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	config := Config{
		Name: "NVIDIA H100 80GB HBM3", Count: devices, Capability: 90, Multiprocessors: 132,
		Capacity: 79 * unit.GiB, Log: log,
	}
	if lib.CUDA < 11080 { // knows no card of capability 9.0, where PyTorch takes most of its paths
		config.Name, config.Capability, config.Multiprocessors = "NVIDIA A100-SXM4-80GB", 80, 108
	}
	cmd := exec.CommandContext(t.Context(), python, args...)
	cmd.Env = append(append(os.Environ(), lib.Env()...), config.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text, _ := os.ReadFile(log)
	return string(text)
}
