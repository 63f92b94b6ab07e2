package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/capture"
)

// An accepted is a script that a capture must get through, the command that
// runs it, and what must come out.
type accepted struct {
	name    string
	flags   []string // of plimsoll capture; --gpu h100 when none names a card
	command string   // "python plain.py"; its first word is taken from the interpreter's folder
	needs   []string // modules beside torch
	since   [2]int   // first PyTorch that can run it

	exit    Exit
	end     string // "steps" when empty
	steps   int    // 3 when 0, none when negative
	verdict string // "fits" when empty
	bound   bool   // the answer is a lower bound
	check   func(t *testing.T, a answer)
}

// An answer is what the command said.
type answer struct {
	capture.Result
	torch  [2]int // version
	dir    string // where it ran
	stderr string // the script's own output, and errors
}

// TestScriptsThatPeopleWrite captures every script under
// internal/capture/testdata/scripts by the command itself.
func TestScriptsThatPeopleWrite(t *testing.T) {
	python := os.Getenv("PLIMSOLL_PYTHON")
	if python == "" {
		t.Skip("PLIMSOLL_PYTHON names no interpreter with PyTorch; make test does")
	}
	has := installed(t, python)
	for _, s := range acceptedScripts {
		t.Run(s.name, func(t *testing.T) {
			s.possible(t, has)
			s.run(t, python, has.torch)
		})
	}
}

// TestEveryScriptIsCaptured keeps the table and the folder together.
func TestEveryScriptIsCaptured(t *testing.T) {
	entries, err := os.ReadDir(scriptsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		word := strings.TrimSuffix(e.Name(), ".py")
		if !slices.ContainsFunc(acceptedScripts, func(s accepted) bool {
			return strings.Contains(s.command, e.Name()) || strings.HasSuffix(s.command, "-m "+word)
		}) {
			t.Errorf("no test captures %s", e.Name())
		}
	}
}

const scriptsDir = "../capture/testdata/scripts"

// An environment is what an interpreter has to offer.
type installation struct {
	torch   [2]int
	modules map[string]bool
}

func installed(t *testing.T, python string) installation {
	t.Helper()
	var names []string
	for _, s := range acceptedScripts {
		names = append(names, s.needs...)
	}
	const ask = `import importlib.metadata, importlib.util, json, sys
print(json.dumps([importlib.metadata.version("torch"), {n: importlib.util.find_spec(n) is not None for n in sys.argv[1:]}]))`
	out, err := exec.CommandContext(t.Context(), python, append([]string{"-c", ask}, names...)...).Output()
	if err != nil {
		t.Fatalf("ask %s for its packages: %v", python, err)
	}
	var has installation
	var version string
	if err := json.Unmarshal(out, &[]any{&version, &has.modules}); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(version, "%d.%d", &has.torch[0], &has.torch[1]); err != nil {
		t.Fatalf("version %q: %v", version, err)
	}
	return has
}

// possible skips a script that this interpreter cannot run. Where the packages
// of requirements/test.txt are said to be there, a missing one is a failure.
func (s accepted) possible(t *testing.T, has installation) {
	t.Helper()
	if slices.Compare(has.torch[:], s.since[:]) < 0 {
		t.Skipf("needs PyTorch %d.%d", s.since[0], s.since[1])
	}
	for _, name := range s.needs {
		if !has.modules[name] && os.Getenv("PLIMSOLL_EVERY_SCRIPT") != "" {
			t.Fatalf("%s is not installed", name)
		} else if !has.modules[name] {
			t.Skipf("%s is not installed", name)
		}
	}
}

func (s accepted) run(t *testing.T, python string, torch [2]int) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(scriptsDir)); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	args := append([]string{"capture", "--format", "json", "-v"}, s.flags...)
	if !slices.Contains(s.flags, "--gpu") {
		args = append(args, "--gpu", "h100")
	}
	words := strings.Fields(s.command)
	words[0] = filepath.Join(filepath.Dir(python), words[0])
	cmd := exec.CommandContext(t.Context(), "plimsoll", append(append(args, "--"), words...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	if got := Exit(cmd.ProcessState.ExitCode()); got != s.exit {
		t.Fatalf("exit %d, want %d\n%s", got, s.exit, tail(stderr.String()))
	}
	if after := contents(t, dir); !slices.Equal(after, before) {
		t.Errorf("files after the capture: %s", added(after, before))
	}
	a := answer{dir: dir, torch: torch, stderr: stderr.String()}
	if s.exit != ExitFailed {
		checkSchema(t, "capture.schema.json", stdout.Bytes())
		if err := json.Unmarshal(stdout.Bytes(), &a.Result); err != nil {
			t.Fatal(err)
		}
		s.checkAny(t, a)
	}
	if s.check != nil {
		s.check(t, a)
	}
	if t.Failed() {
		t.Logf("peak %+v\nby category %+v\nsteps %+v\nwarnings %+v\nwrites %+v\n%s", a.Peak, a.ByCategory, a.Steps, a.Warnings, a.Writes, tail(a.stderr))
	}
}

// checkAny holds for every answer.
func (s accepted) checkAny(t *testing.T, a answer) {
	t.Helper()
	verdict, end, steps := s.verdict, s.end, s.steps
	if verdict == "" {
		verdict = capture.Fits
	}
	if end == "" {
		end = "steps"
	}
	if steps == 0 {
		steps = capture.DefaultSteps
	}
	if a.Verdict != verdict || a.End != end || len(a.Steps) != max(steps, 0) || a.LowerBound != s.bound {
		t.Errorf("verdict %s, end %s, %d steps, lower bound %v; want %s, %s, %d, %v",
			a.Verdict, a.End, len(a.Steps), a.LowerBound, verdict, end, max(steps, 0), s.bound)
	}
	if !a.Replay.Equal {
		t.Errorf("our allocator differs from PyTorch's: %+v", a.Replay)
	}
	if got := a.ByCategory.Sum(); got != a.Peak.Device {
		t.Errorf("categories sum to %d, the device peak is %d", got, a.Peak.Device)
	}
	p := a.Peak
	if p.Requested <= 0 || p.Requested > p.Allocated || p.Allocated > p.Reserved || p.Reserved >= p.Device || p.Low > p.Device || p.Device > p.High {
		t.Errorf("peaks are not in order: %+v", p)
	}
	if unnamed := a.ByCategory.Unknown; unnamed*50 > p.Requested {
		t.Errorf("%s of %s are not named", unnamed, p.Requested)
	}
	if !slices.ContainsFunc(a.Sites, func(s capture.Site) bool { return s.User && strings.HasPrefix(s.File, a.dir) }) {
		t.Errorf("no line of the script's own among %+v", a.Sites)
	}
	for _, w := range a.Warnings {
		if strings.ContainsAny(w.Message, "\n\t") || w.Message == "" {
			t.Errorf("warning %+v is no sentence", w)
		}
	}
}

// contents is every file below a folder, with its size and when it was written.
func contents(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			path = fmt.Sprint(path, " ", info.Size(), " ", info.ModTime())
		}
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func added(after, before []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(after), func(s string) bool { return slices.Contains(before, s) }), "\n")
}

// tail is the end of a long output.
func tail(s string) string {
	const most = 3000
	return s[max(0, len(s)-most):]
}
