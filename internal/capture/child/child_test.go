//go:build linux

package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be its own supervisor, and, under the verb
// "run", a plimsoll that a test can kill.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case Verb:
			os.Exit(Supervise())
		case "run":
			Run(context.Background(), Spec{Argv: os.Args[3:], Env: os.Environ(), Dir: "/", Folder: os.Args[2]}) //nolint:errcheck // killed by the test
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func shell(t *testing.T, script string, out *bytes.Buffer) Spec {
	t.Helper()
	return Spec{Argv: []string{"/bin/sh", "-c", script}, Env: append(os.Environ(), "MARK="+t.TempDir()), Dir: t.TempDir(), Output: out}
}

func TestRunReportsHowTheCommandEnded(t *testing.T) {
	for _, c := range []struct {
		script string
		want   Exit
	}{
		{"exit 0", Exit{}},
		{"exit 7", Exit{Code: 7}},
		{"kill -SEGV $$", Exit{Code: 139, Signal: "SIGSEGV"}},
		{"kill -TERM $$", Exit{Code: 143, Signal: "SIGTERM"}},
		{"kill -INT $$", Exit{Code: 130, Signal: "SIGINT"}},
	} {
		var out bytes.Buffer
		got, err := Run(t.Context(), shell(t, "echo out; echo err >&2; "+c.script, &out))
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.script, got, err, c.want)
		}
		if out.String() != "out\nerr\n" {
			t.Errorf("%s: output %q", c.script, out.String())
		}
	}
}

func TestRunGivesNoInput(t *testing.T) {
	var out bytes.Buffer
	if _, err := Run(t.Context(), shell(t, "cat; echo done", &out)); err != nil || out.String() != "done\n" {
		t.Errorf("output %q, %v", out.String(), err)
	}
}

func TestRunReportsAMissingProgram(t *testing.T) {
	_, err := Run(t.Context(), Spec{Argv: []string{"/no/such/program"}, Dir: "/"})
	if err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("got %v", err)
	}
}

// alive lists the processes whose environment holds mark.
func alive(mark string) (pids []int) {
	for _, pid := range processes() {
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && bytes.Contains(env, []byte(mark)) && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// detached leaves four processes behind: in the background, in a session of
// their own, and orphaned twice.
const detached = `sleep 1000 & setsid sleep 1000 & (setsid sh -c 'sleep 1000 & exec sleep 1000' &) ; `

func TestRunLeavesNothingBehind(t *testing.T) {
	var out bytes.Buffer
	s := shell(t, detached+"sleep 0.2", &out)
	got, err := Run(t.Context(), s)
	if err != nil || got.Code != 0 || got.Left < 4 {
		t.Errorf("got %+v, %v", got, err)
	}
	if pids := alive(s.Env[len(s.Env)-1]); len(pids) > 0 {
		t.Errorf("still there: %v", pids)
	}
}

func TestRunStopsWhenItsContextEnds(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(cause) })
	var out bytes.Buffer
	s := shell(t, "trap '' TERM INT; "+detached+"sleep 1000", &out)
	begin := time.Now()
	if _, err := Run(ctx, s); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
	if pids := alive(s.Env[len(s.Env)-1]); len(pids) > 0 {
		t.Errorf("still there: %v", pids)
	}
}

func TestAKilledRunLeavesNothingBehind(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	mark := "MARK=" + t.Name()
	cmd := exec.Command("/proc/self/exe", "run", folder, "/bin/sh", "-c", detached+"touch "+folder+"/started; sleep 1000")
	cmd.Env = append(os.Environ(), mark)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the command to start", func() bool { _, err := os.Stat(folder + "/started"); return err == nil })
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() //nolint:errcheck // killed
	waitFor(t, "everything to be gone", func() bool { return len(alive(mark)) == 0 })
	waitFor(t, "the folder to be gone", func() bool { _, err := os.Stat(folder); return errors.Is(err, os.ErrNotExist) })
}

func TestAKilledSupervisorTakesTheCommandWithIt(t *testing.T) {
	mark := "MARK=" + t.Name()
	s := Spec{Argv: []string{"/bin/sh", "-c", "echo $PPID; exec sleep 1000"}, Env: append(os.Environ(), mark), Dir: "/"}
	done := make(chan error, 1)
	r, err := NewLog(filepath.Join(t.TempDir(), "log"), 1<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Output = r
	go func() { _, err := Run(t.Context(), s); done <- err }()
	var supervisor int
	waitFor(t, "the command to start", func() bool { supervisor, err = strconv.Atoi(r.Tail(1)); return err == nil && supervisor > 0 })
	syscall.Kill(supervisor, syscall.SIGKILL) //nolint:errcheck // it is there
	if err := <-done; err == nil || !strings.Contains(err.Error(), "supervisor of the script was killed") {
		t.Errorf("got %v", err)
	}
	waitFor(t, "the command to be gone", func() bool { return len(alive(mark)) == 0 })
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited ten seconds for %s", what)
}

func TestSharedMemoryOfDeadProcessesIsSwept(t *testing.T) {
	if _, err := os.Stat(sharedDir); err != nil {
		t.Skip("no " + sharedDir)
	}
	name := func(n int) string {
		return fmt.Sprintf("%s/torch_%d_%d_%d", sharedDir, os.Getpid(), time.Now().UnixNano()%1e9, n)
	}
	gone, kept, foreign, other := name(0), name(1), name(2), sharedDir+"/plimsoll-test-"+strconv.Itoa(os.Getpid())
	files := map[string]*os.File{}
	for _, path := range []string{gone, kept, foreign, other} {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
		defer f.Close()
		files[path] = f
	}
	files[foreign].Close() // between the process that made it and the one that will open it
	if _, err := files[gone].WriteString("x"); err != nil {
		t.Fatal(err)
	}
	memory, err := syscall.Mmap(int(files[gone].Fd()), 0, 1, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	files[gone].Close()
	held := shared([]int{os.Getpid()})
	if err := syscall.Munmap(memory); err != nil {
		t.Fatal(err)
	}
	files[other].Close()
	sweepShared(held)
	for path, want := range map[string]bool{gone: false, kept: true, foreign: true, other: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: there is %v, want %v", path, err == nil, want)
		}
	}
}

func TestLogKeepsBothEndsAndNoMoreThanItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var also bytes.Buffer
	l, err := NewLog(path, 1000, &also)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 99) + "\n"
	for range 20000 {
		fmt.Fprint(l, line)
	}
	fmt.Fprint(l, "epoch 1\repoch 2\r\n\x1b[31mred\x00\xff")
	if got := l.Tail(2); got != "epoch 2\n.[31mred.." {
		t.Errorf("tail %q", got)
	}
	dropped, err := l.Close()
	if err != nil || dropped != int64(also.Len())-1000 {
		t.Errorf("dropped %d of %d, %v", dropped, also.Len(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 1000 {
		t.Errorf("file: %v, %v", info, err)
	}
}
