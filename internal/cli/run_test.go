package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/idle/period"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/nvml/fake"
)

// A rig is a machine with the scripted driver, for plimsoll as a process.
type rig struct {
	dir, program, script string
	env                  []string
}

func newRig(t *testing.T, script string) *rig {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs a C compiler")
	}
	dir := t.TempDir()
	if err := fake.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	r := &rig{dir: dir, program: filepath.Join(dir, "plimsoll"), script: filepath.Join(dir, "script")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// TestMain is the program under this name.
	if err := os.Symlink(self, r.program); err != nil {
		t.Fatal(err)
	}
	r.env = append(os.Environ(), "LD_LIBRARY_PATH="+dir, fake.ScriptVariable+"="+r.script, "PLIMSOLL_GPU_LOCKS="+filepath.Join(dir, "locks"))
	r.says(t, script)
	return r
}

func (r *rig) says(t *testing.T, script string) {
	t.Helper()
	if err := os.WriteFile(r.script+".next", []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.script+".next", r.script); err != nil {
		t.Fatal(err)
	}
}

// A started is plimsoll as it runs, and what it said.
type started struct {
	*exec.Cmd
	out, err bytes.Buffer
}

func (r *rig) start(t *testing.T, args ...string) *started {
	t.Helper()
	s := &started{Cmd: exec.CommandContext(t.Context(), r.program, args...)}
	s.Env, s.Dir, s.Stdout, s.Stderr = r.env, r.dir, &s.out, &s.err
	s.WaitDelay = time.Second // a command that outlives plimsoll keeps its streams open
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// code waits for the end.
func (s *started) code() int {
	s.Wait() //nolint:errcheck // the code says it
	return s.ProcessState.ExitCode()
}

// await waits for a file that a command makes.
func (r *rig) await(t *testing.T, name string) {
	t.Helper()
	for range 500 {
		if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s never came", name)
}

func TestRunChoosesGPUs(t *testing.T) {
	r := newRig(t, "gpus 4\ngpu 0 used=50000\ngpu 2 lost=2\nproc 0 4194303 40000 90 C\n")
	command := func(name string) []string {
		return []string{"run", "-q", "--gpus", "auto", "--", "sh", "-c", "echo $CUDA_DEVICE_ORDER $CUDA_VISIBLE_DEVICES; touch " + name + "; while test -e " + name + "; do sleep 0.02; done"}
	}
	first := r.start(t, command("one")...)
	r.await(t, "one")
	second := r.start(t, command("two")...)
	r.await(t, "two")
	third := r.start(t, command("three")...)
	if code := third.code(); code != 2 || !strings.Contains(third.err.String(), "GPU 1 is taken by another plimsoll run") || !strings.Contains(third.err.String(), "GPU 0 is used by PID 4194303") || !strings.Contains(third.err.String(), "GPU 2 is lost") {
		t.Errorf("with all GPUs taken it ends with %d and says %s", code, &third.err)
	}
	patient := r.start(t, "run", "--gpus", "auto", "--wait", "300ms", "--free", "70GiB", "--gpus", "2", "--", "true")
	if code := patient.code(); code != 2 || !strings.Contains(patient.err.String(), "after waiting for 300ms") {
		t.Errorf("--wait 300ms with GPUs taken ends with %d and says %s", code, &patient.err)
	}
	waiting := r.start(t, append([]string{"run", "--wait=20s"}, command("four")[1:]...)...)
	time.Sleep(300 * time.Millisecond)
	if err := os.Remove(filepath.Join(r.dir, "one")); err != nil {
		t.Fatal(err)
	}
	r.await(t, "four")
	for _, name := range []string{"two", "four"} {
		if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range []*started{first, second, waiting} {
		want := fmt.Sprintf("PCI_BUS_ID %d\n", []int{1, 3, 1}[i])
		if code := s.code(); code != 0 || s.out.String() != want {
			t.Errorf("run %d ends with %d, has GPUs %q, want %q; %s", i, code, s.out.String(), want, &s.err)
		}
	}
	late := r.start(t, "run", "--gpus", "4", "--wait", "--free", "1GiB", "-q", "--", "true")
	time.Sleep(200 * time.Millisecond)
	if err := late.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := late.code(); code != 130 {
		t.Errorf("a wait that is interrupted ends with %d: %s", code, &late.err)
	}
}

func TestRunSaysHowGPUsWereUsed(t *testing.T) {
	r := newRig(t, "gpus 2\n")
	s := r.start(t, "run", "--format", "json", "-o", "run.json", "--interval", "100ms", "--gpus", "auto", "--", "sh", "-c", "echo $$ > pid; touch there; while test -e there; do sleep 0.02; done")
	r.await(t, "there")
	pid, err := os.ReadFile(filepath.Join(r.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	r.says(t, "gpus 2\ngpu 0 util=97 memutil=50 used=70000 power=600\nproc 0 "+strings.TrimSpace(string(pid))+" 69000 97 C\n")
	time.Sleep(2 * time.Second)
	r.says(t, "gpus 2\ngpu 0 util=97 used=70000\nhang * 0 forever\n")
	time.Sleep(1500 * time.Millisecond)
	began := time.Now()
	if err := os.Remove(filepath.Join(r.dir, "there")); err != nil {
		t.Fatal(err)
	}
	if code := s.code(); code != 0 {
		t.Errorf("it ends with %d: %s", code, &s.err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("with a driver that hangs it took %v to end", took)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, "run.schema.json", text)
	var doc runDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Devices) != 1 || !doc.Devices[0].Used || doc.Devices[0].Index != 0 || len(doc.Given) != 1 {
		t.Fatalf("devices %+v, given %v", doc.Devices, doc.Given)
	}
	d := doc.Devices[0]
	if d.MemoryMost == nil || *d.MemoryMost != 70000<<20 {
		t.Errorf("most memory is %v", d.MemoryMost)
	}
	if d.Status["stuck"] <= 0 || d.Status["ok"] <= 1 {
		t.Errorf("statuses are %v", d.Status)
	}
}

// TestRunBesideOthers runs a command that is on no GPU on a machine whose GPU somebody
// else uses: nothing is said of that GPU as if the command waited for it.
func TestRunBesideOthers(t *testing.T) {
	r := newRig(t, "gpus 2\ngpu 0 util=80 used=40000 power=500\nproc 0 1 39000 80 C\n")
	s := r.start(t, "run", "--format", "json", "-o", "run.json", "--interval", "100ms", "--", "sleep", "5")
	if code := s.code(); code != 0 {
		t.Fatalf("it ends with %d: %s", code, &s.err)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc runDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if a := doc.Answer; doc.Samples < 20 || len(a.Findings) > 0 || len(a.Unsure) > 0 || a.Period.Status != period.TooFew {
		t.Errorf("of %d samples: %+v", doc.Samples, a)
	}
}

// TestRunWithADriverThatDoesNotStart starts the command all the same, and says what
// was not known.
func TestRunWithADriverThatDoesNotStart(t *testing.T) {
	r := newRig(t, "gpus 2\nhang nvmlInit * forever\n")
	began := time.Now()
	s := r.start(t, "run", "--", "touch", "there")
	r.await(t, "there")
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the command was started after %v", took)
	}
	if code := s.code(); code != 0 || !strings.Contains(s.err.String(), "GPUs not read") {
		t.Errorf("it ends with %d and says %s", code, &s.err)
	}
}

// TestRunWithNoVisibleGPU gives none where CUDA would see none.
func TestRunWithNoVisibleGPU(t *testing.T) {
	r := newRig(t, "gpus 2\n")
	r.env = append(r.env, "CUDA_VISIBLE_DEVICES=")
	s := r.start(t, "run", "--gpus", "auto", "--", "touch", "there")
	if code := s.code(); code != 2 || !strings.Contains(s.err.String(), "CUDA_VISIBLE_DEVICES is set to nothing") {
		t.Errorf("it ends with %d and says %s", code, &s.err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "there")); err == nil {
		t.Error("the command was started")
	}
	r.env = append(r.env, "CUDA_VISIBLE_DEVICES=1")
	s = r.start(t, "run", "-q", "--gpus", "auto", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES")
	if code := s.code(); code != 0 || strings.TrimSpace(s.out.String()) != "1" {
		t.Errorf("with one it ends with %d and says %s%s", code, &s.out, &s.err)
	}
}

// TestTopWithADriverThatDoesNotStart answers within a second with what is known, and
// waits where it is told to.
func TestTopWithADriverThatDoesNotStart(t *testing.T) {
	r := newRig(t, "gpus 2\nhang nvmlInit * forever\n")
	for _, args := range [][]string{{"--once"}, {"--once", "--gpu", "1"}, {"--once", "--sort", "cpu"}, {"--format", "json"}, {"--format", "csv"}} {
		began := time.Now()
		s := r.start(t, append([]string{"top"}, args...)...)
		code := s.code()
		if took := time.Since(began); took > hangs {
			t.Errorf("top %v answers after %v", args, took)
		}
		if code != 1 || !strings.Contains(s.err.String(), "nvmlInit has not returned") {
			t.Errorf("top %v ends with %d and says %s", args, code, &s.err)
		}
		if args[0] == "--once" && !strings.Contains(s.out.String(), "stuck") {
			t.Errorf("top %v prints\n%s", args, &s.out)
		}
	}
	r = newRig(t, "gpus 2\nhang nvmlInit * 1.5\n")
	s := r.start(t, "top", "--once", "--patience", "20s")
	if code := s.code(); code != 0 || !strings.Contains(s.err.String(), "waiting for the driver") {
		t.Errorf("with patience it ends with %d and says %s", code, &s.err)
	}
}

// hangs is how long a command may take that answers in a second, on a machine that
// does other things, too.
const hangs = 2500 * time.Millisecond

// TestRunIsKilled kills plimsoll with what cannot be caught: the command goes on,
// and what was recorded can be read.
func TestRunIsKilled(t *testing.T) {
	r := newRig(t, "gpus 2\n")
	s := r.start(t, "run", "--interval", "100ms", "--record", "run.series", "--", "sh", "-c", "touch there; while test -e there; do sleep 0.02; done; touch finished")
	r.await(t, "there")
	time.Sleep(1500 * time.Millisecond)
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.code()
	if err := os.Remove(filepath.Join(r.dir, "there")); err != nil {
		t.Fatal(err)
	}
	r.await(t, "finished")
	replay := r.start(t, "replay", "run.series")
	if code := replay.code(); code == 2 {
		t.Errorf("the recording cannot be read: %s", &replay.err)
	}
}
