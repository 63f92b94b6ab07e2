package proc

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// realReader reads this machine, and the processes that uses name.
func realReader(t *testing.T, pids ...int) (*Reader, map[int][]series.Use) {
	t.Helper()
	r := New(Options{})
	if r.err != nil || r.clock == nil {
		t.Skip("the processes of this machine have no clocks: ", r.err)
	}
	t.Cleanup(r.Close)
	uses := map[int][]series.Use{}
	for _, pid := range pids {
		uses[pid] = []series.Use{{Device: "GPU-1"}}
	}
	return r, uses
}

func read(t *testing.T, r *Reader, uses map[int][]series.Use, pid int) series.Process {
	t.Helper()
	for _, p := range r.Read(uses).Processes {
		if p.PID == pid {
			return p
		}
	}
	t.Fatalf("process %d is not there", pid)
	return series.Process{}
}

func start(t testing.TB, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it may have ended
		cmd.Wait()         //nolint:errcheck // it was killed
	})
	return cmd
}

// A process that has not run since it was read is not read again, and has the same
// values; the moment it has, it is.
func TestProcessThatDoesNotRun(t *testing.T) {
	sleeper, busy := start(t, "sleep", "60"), start(t, "sh", "-c", "while :; do :; done")
	r, uses := realReader(t, sleeper.Process.Pid, busy.Process.Pid)
	time.Sleep(100 * time.Millisecond) // until it sleeps
	reads := func(pid int, ready func(ran int64) bool) int {
		n := 0
		for range 8 {
			for r.held[pid] != nil && !ready(r.held[pid].ran) {
				time.Sleep(time.Millisecond)
			}
			before := r.held[pid]
			was := int64(0)
			if before != nil {
				was = before.ran
			}
			p := read(t, r, uses, pid)
			if p.Status != series.OK || p.Values.Get(series.CPUTime).Status != series.OK || p.Values.Get(series.Resident).Status != series.OK {
				t.Fatalf("process %d has %v", pid, p)
			}
			if len(p.Uses) != 1 {
				t.Fatalf("process %d is on %v", pid, p.Uses)
			}
			if before == nil || r.held[pid].ran != was {
				n++
			}
		}
		return n
	}
	if n := reads(sleeper.Process.Pid, func(int64) bool { return true }); n > 1 {
		t.Errorf("a process that sleeps was read %d times of 8", n)
	}
	hasRun := func(ran int64) bool { return r.ran(busy.Process.Pid) != ran }
	if n := reads(busy.Process.Pid, hasRun); n < 8 {
		t.Errorf("a process that runs was read %d times of 8", n)
	}
	if err := sleeper.Process.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	sleeper.Wait() //nolint:errcheck // it was killed
	if p := read(t, r, uses, sleeper.Process.Pid); p.Status != series.Lost {
		t.Errorf("a process that ended is %v", p.Status)
	}
}

// Another process under the same PID has another clock.
func TestProcessWithTheSamePID(t *testing.T) {
	sleeper := start(t, "sleep", "60")
	r, uses := realReader(t, sleeper.Process.Pid)
	now := int64(7)
	r.clock = func(int) (int64, bool) { return now, true }
	read(t, r, uses, sleeper.Process.Pid)
	h := r.held[sleeper.Process.Pid]
	h.last.Name, r.before = "the one before", nil
	if p := read(t, r, uses, sleeper.Process.Pid); p.Name != "the one before" {
		t.Errorf("with the same clock it is read again, and is %q", p.Name)
	}
	now = 8
	if p := read(t, r, uses, sleeper.Process.Pid); p.Name != "sleep" {
		t.Errorf("with another clock it is still %q", p.Name)
	}
	now = 0 // not known
	h = r.held[sleeper.Process.Pid]
	h.last.Name, r.before = "the one before", nil
	if p := read(t, r, uses, sleeper.Process.Pid); p.Name != "sleep" {
		t.Errorf("without a clock it is still %q", p.Name)
	}
}

// A sparing reader lists processes when there may be new ones.
func TestListsWhenProcessesBegin(t *testing.T) {
	r, uses := realReader(t, os.Getpid())
	r.sparing = true
	read(t, r, uses, os.Getpid())
	child := start(t, "sleep", "60")
	for range listEvery {
		for _, p := range r.Read(uses).Processes {
			if p.PID == child.Process.Pid {
				return
			}
		}
	}
	t.Errorf("a child that began is not seen in %d samples", listEvery)
}
