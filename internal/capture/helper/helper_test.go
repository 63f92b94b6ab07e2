package helper_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/capture/helper"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := helper.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sitecustomize.py", "_plimsoll/__init__.py", "_plimsoll/session.py"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestWriteSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := helper.WriteSettings(path, helper.Settings{Out: "/out", Steps: 3, World: 8, Rank: 5}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"out":"/out"`, `"steps":3`, `"world":8`, `"rank":5`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("settings %s lack %s", text, want)
		}
	}
}

// TestWithoutTorch runs the parts that need no PyTorch on each Python 3.8 or
// later that this machine has.
func TestWithoutTorch(t *testing.T) {
	dir := t.TempDir()
	if err := helper.Write(dir); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/without_torch.py")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, python := range pythons() {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(python)))+"/"+filepath.Base(python), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), python, script, dir)
			cmd.Env = append(os.Environ(), "PYTHONPATH="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
		ran++
	}
	if ran == 0 {
		t.Skip("no Python 3.8 or later on this machine")
	}
}

// pythons are the interpreters that the helper must run on, one for each version.
func pythons() []string {
	var found []string
	for _, name := range []string{"python3.8", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13", "python3.14"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", "").Run() == nil {
			found = append(found, path)
		}
	}
	if path, err := exec.LookPath("python3"); err == nil && len(found) == 0 {
		if out, err := exec.Command(path, "-c", "import sys; print(sys.version_info >= (3, 8))").Output(); err == nil && strings.TrimSpace(string(out)) == "True" {
			found = append(found, path)
		}
	}
	return slices.Compact(found)
}
