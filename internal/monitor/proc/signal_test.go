package proc

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// sleeper starts a process and returns when it began.
func sleeper(t *testing.T, env ...string) (*exec.Cmd, uint64) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Skip("there is no sleep:", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it may have ended
		cmd.Wait()         //nolint:errcheck // it was killed
	})
	root, err := openProcess(cmd.Process.Pid)
	if err != nil {
		t.Skip("there is no /proc:", err)
	}
	defer root.close()
	line, err := root.read("stat")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := parseStat(line)
	return cmd, s.started
}

func TestSignalReachesOnlyTheOneThatWasMeant(t *testing.T) {
	cmd, started := sleeper(t)
	pid := cmd.Process.Pid
	if err := Signal(pid, started+1, unix.SIGKILL); err == nil || !strings.Contains(err.Error(), "another has its number") {
		t.Errorf("a process that began at another time: %v", err)
	}
	if err := unix.Kill(pid, 0); err != nil {
		t.Fatalf("the process was ended: %v", err)
	}
	if err := Signal(pid, started, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("after SIGTERM: %v", err)
	}
	if err := Signal(pid, started, unix.SIGTERM); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a process that has ended: %v", err)
	}
}

func TestEnvironmentTellsNoSecret(t *testing.T) {
	cmd, started := sleeper(t, "OMP_NUM_THREADS=8", "WANDB_API_KEY=abc", "NCCL_SECRET_KEY=abc", "CUDA_VISIBLE_DEVICES=3", "HOME=/root", "TOKENIZERS_PARALLELISM=false")
	got, err := Environment(cmd.Process.Pid, started)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range got {
		names = append(names, v.Name)
	}
	if want := "folder CUDA_VISIBLE_DEVICES OMP_NUM_THREADS TOKENIZERS_PARALLELISM"; strings.Join(names, " ") != want {
		t.Errorf("got %v, want %s", names, want)
	}
	if here, _ := os.Getwd(); got[0].Value != here {
		t.Errorf("the folder is %s, want %s", got[0].Value, here)
	}
	if _, err := Environment(cmd.Process.Pid, started+1); err == nil {
		t.Error("another process's environment is told")
	}
}
