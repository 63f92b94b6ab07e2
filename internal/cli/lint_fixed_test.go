package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/lint"
)

// leastRun is how many fixed examples run: what others need (TensorFlow, models
// of the hub, several processes) is not there.
const leastRun = 25

// TestFixedExamplesRun runs each rule's example, and what its fix makes of it,
// with PyTorch on the CPU: where the one runs the other must. A capture lends
// the libraries that this PyTorch looks for.
func TestFixedExamplesRun(t *testing.T) {
	python := os.Getenv("PLIMSOLL_PYTHON")
	if python == "" {
		t.Skip("PLIMSOLL_PYTHON names no interpreter with PyTorch; make test does")
	}
	dir := t.TempDir()
	for _, r := range lintRules() {
		if r.Fix == lint.NoFix || r.Run == nil {
			continue
		}
		folder := filepath.Join(dir, r.Name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"bad.py", "fixed.py"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(r.Bad), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		fixed := filepath.Join(folder, "fixed.py")
		if _, stderr, exit := run(t, "lint", "--no-cache", "--select", r.Code, "--fix", "--unsafe", fixed); exit != ExitOK {
			t.Fatalf("%s: exit %d after its fixes: %s", r.Name, exit, stderr)
		}
	}
	script, err := filepath.Abs("testdata/lint/run.py")
	if err != nil {
		t.Fatal(err)
	}
	said, failed := exec.CommandContext(t.Context(), "plimsoll", "capture", "--gpu", "h100", "--allow-writes", "--steps", "10000", "--timeout", "5m",
		"--values", "none", "-v", "--", python, script, dir).CombinedOutput() // it fails: nothing is on a GPU
	text, err := os.ReadFile(filepath.Join(dir, "results.txt"))
	if err != nil {
		t.Fatalf("%v, %v: %s", failed, err, said)
	}
	results := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.SplitN(strings.TrimSpace(line), " ", 3); len(f) == 3 {
			results[f[0]+" "+f[1]] = f[2]
		}
	}
	ran := 0
	for _, r := range lintRules() {
		before, after := results[r.Name+" bad.py"], results[r.Name+" fixed.py"]
		switch {
		case r.Fix == lint.NoFix || r.Run == nil:
		case before == "ok" && after == "ok":
			ran++
		case strings.HasPrefix(before, "skip") && strings.HasPrefix(after, "skip"):
			t.Logf("%s: %s", r.Name, after)
		default:
			t.Errorf("%s: the example: %s; fixed: %s", r.Name, before, after)
		}
	}
	if ran < leastRun {
		t.Errorf("%d fixed examples ran", ran)
	}
}
