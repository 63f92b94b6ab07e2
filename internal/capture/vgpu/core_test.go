package vgpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// checkProgram links the program that checks the core, and returns its path.
func checkProgram(t *testing.T) string {
	t.Helper()
	core := testCore(t, variant{12, 9, runtime.GOARCH})
	program := core + ".check"
	if exists(program) {
		return program
	}
	// The program names the core by its soname and finds it by the preload.
	source, err := filepath.Abs("testdata/core_check.c")
	if err != nil {
		t.Fatal(err)
	}
	c, err := findCompiler()
	if err != nil {
		t.Skip(err)
	}
	if err := c.run(t.Context(), sharedCache, "-Wall", "-Wextra", "-O1", "-pthread", source, core, "-o", program); err != nil {
		t.Fatal(err)
	}
	return program
}

// runCore runs checks on a machine of two devices of 1 GiB.
func runCore(t *testing.T, env []string, shell string, checks ...string) (log string) {
	t.Helper()
	program := checkProgram(t)
	logFile := filepath.Join(t.TempDir(), "log")
	config := Config{Name: "A; card", Count: 2, Capability: 80, Multiprocessors: 10, Capacity: unit.GiB, Context: 64 * unit.MiB, Log: logFile}
	line := fmt.Sprintf("%s exec %s %s", shell, program, strings.Join(checks, " "))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(append(append(os.Environ(), preloadCore(program)), config.Env()...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", checks, err, out)
	}
	text, _ := os.ReadFile(logFile)
	return string(text)
}

func preloadCore(program string) string { return "LD_PRELOAD=" + strings.TrimSuffix(program, ".check") }

func TestCore(t *testing.T) {
	for _, name := range []string{"books", "devices", "contents", "pointers", "virtual", "reuse", "capture", "events", "pool", "nvml", "threads", "fork", "touch"} {
		t.Run(name, func(t *testing.T) { runCore(t, nil, "", name) })
	}
}

// Login nodes limit the address space, and some systems do not overcommit: a
// smaller range, or pages that are opened one by one, give the same answers.
func TestCoreUnderLimits(t *testing.T) {
	t.Run("16 GiB of address space", func(t *testing.T) { runCore(t, nil, "ulimit -v 16777216;", "virtual") })
	t.Run("pages opened one by one", func(t *testing.T) {
		closed := []string{"PLIMSOLL_VGPU=devices=2;capacity=1073741824;context=67108864;closed_pages=1;"}
		runCore(t, closed, "", "books")
		runCore(t, closed, "", "touch")
	})
}

func TestRefusalsAreLoggedOnce(t *testing.T) {
	log := runCore(t, nil, "", "lookups", "lookups")
	for _, want := range []string{"refused\tcudart\tcudaGraphClone\t", "unknown\tcuFromTheFuture\t"} {
		if n := strings.Count(log, want); n != 1 {
			t.Errorf("the log has %q %d times, want once:\n%s", want, n, log)
		}
	}
}

func TestVisibleDevices(t *testing.T) {
	for visible, want := range map[string]string{"": "0", "1": "1", "0,1,2": "2", "5,7": "2", "-1": "0", "0,-1,1": "1", "x": "0"} {
		program := checkProgram(t)
		cmd := exec.CommandContext(t.Context(), program, "count")
		cmd.Env = append(os.Environ(), preloadCore(program), "PLIMSOLL_VGPU=devices=2;", "CUDA_VISIBLE_DEVICES="+visible)
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("CUDA_VISIBLE_DEVICES=%q shows %s devices (%v), want %s", visible, got, err, want)
		}
	}
}
