package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// xml is what nvidia-smi says of one GPU with a process.
func xml(pid int) string {
	return fmt.Sprintf(`<?xml version="1.0" ?>
<nvidia_smi_log>
	<driver_version>570.86.15</driver_version>
	<cuda_version>12.8</cuda_version>
	<gpu id="00000000:18:00.0">
		<product_name>NVIDIA H100 80GB HBM3</product_name>
		<uuid>GPU-aa</uuid>
		<minor_number>0</minor_number>
		<fb_memory_usage><total>81559 MiB</total><reserved>500 MiB</reserved><used>71234 MiB</used><free>9825 MiB</free></fb_memory_usage>
		<utilization><gpu_util>97 %%</gpu_util><memory_util>41 %%</memory_util></utilization>
		<processes><process_info><pid>%d</pid><type>C</type><process_name>python</process_name><used_memory>71000 MiB</used_memory></process_info></processes>
	</gpu>
</nvidia_smi_log>
`, pid)
}

// other is a machine whose shell finds an nvidia-smi that runs these lines.
func other(t *testing.T, smi string, o Options) *Machine {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte("#!/bin/sh\n"+smi), 0o755); err != nil {
		t.Fatal(err)
	}
	o.Host, o.Now = "ada@node1", time.Now
	if o.Command == nil {
		o.Command = []string{"env", "PATH=" + bin + ":" + os.Getenv("PATH"), "sh"}
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(m.tree.root); !os.IsNotExist(err) {
			t.Errorf("the folder of the host is left: %v", err)
		}
	})
	return m
}

func read(t *testing.T, m *Machine, patience time.Duration) (monitor.Reading, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return m.Read(ctx)
}

// cat is a script that prints text.
func cat(text string) string { return "cat <<'EOF'\n" + text + "EOF\n" }

func TestReadsAHost(t *testing.T) {
	m := other(t, cat(xml(os.Getpid())), Options{})
	h := m.Host()
	for round := range 3 {
		r, err := read(t, m, 30*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Devices) != 1 || r.Devices[0].ID != "GPU-aa" || r.Driver != "570.86.15" {
			t.Fatalf("reading %+v", r)
		}
		if v := r.Devices[0].Values.Get(series.Busy); v != series.Of(0.97) {
			t.Errorf("busy %v", v)
		}
		out := h.Read(r.Uses)
		if out.Host.Name != "node1" || len(out.Problems) > 0 {
			t.Errorf("host %q, problems %v", out.Host.Name, out.Problems)
		}
		for _, c := range []series.Counter{series.HostCPUs, series.HostMemoryTotal, series.HostCPUTime, series.HostNetReceived, series.HostLoad} {
			if v, ok := out.Host.Values.Get(c).Get(); !ok || c != series.HostLoad && v <= 0 {
				t.Errorf("round %d: %s is %v", round, c.Info().Name, out.Host.Values.Get(c))
			}
		}
		me := processOf(out.Processes, os.Getpid())
		if me == nil || len(me.Uses) != 1 || me.Parent != os.Getppid() || me.User == "" || !strings.Contains(me.Command, "remote.test") {
			t.Fatalf("round %d: this process is %+v", round, me)
		}
		for _, c := range []series.Counter{series.CPUTime, series.Resident, series.Threads, series.BytesAsked} {
			if _, ok := me.Values.Get(c).Get(); !ok {
				t.Errorf("%s of this process is %v", c.Info().Name, me.Values.Get(c))
			}
		}
	}
}

func processOf(list []series.Process, pid int) *series.Process {
	for i := range list {
		if list[i].PID == pid {
			return &list[i]
		}
	}
	return nil
}

func TestOnlyNamesOfTheEnvironmentComeOver(t *testing.T) {
	t.Setenv("MY_SECRET_TOKEN", "hunter2")
	job := exec.CommandContext(t.Context(), "sleep", "60")
	job.Env = append(os.Environ(), "RANK=3")
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	defer job.Wait()         //nolint:errcheck // it is killed
	defer job.Process.Kill() //nolint:errcheck // it may be gone
	m := other(t, cat(xml(job.Process.Pid)), Options{})
	r, err := read(t, m, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	out := m.Host().Read(r.Uses)
	rank := -1
	for _, p := range out.Processes {
		rank = max(rank, p.Rank)
	}
	if rank != 3 {
		t.Errorf("rank %d: %+v", rank, out.Processes)
	}
	err = filepath.WalkDir(m.tree.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("%s holds a secret of the environment", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTroubles are hosts that fail, each told in a sentence.
func TestTroubles(t *testing.T) {
	for name, tc := range map[string]struct {
		smi     string
		command []string
		status  series.Status
		says    string
	}{
		"no nvidia-smi": {"", []string{"env", "PATH=/nothing:" + filepath.Dir(lookSh(t)), "sh"}, series.NotSupported, "no nvidia-smi there"},
		"refused":       {"", []string{"sh", "-c", "echo 'Permission denied (publickey).' >&2; exit 255"}, series.Failed, "Permission denied (publickey)."},
		"no such host":  {"", []string{"sh", "-c", "echo 'ssh: Could not resolve hostname node1: Name or service not known' >&2; exit 255"}, series.Failed, "Could not resolve hostname"},
		"no shell":      {"", []string{"cat"}, series.Failed, ""},
		"ends":          {"", []string{"true"}, series.Failed, "connection ended"},
		"no program":    {"", []string{"/nothing/at/all"}, series.Failed, "no such file"},
		"mismatch":      {"echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18\n", nil, series.Failed, "version mismatch"},
		"floods":        {"", []string{"sh", "-c", "yes"}, series.Failed, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no nvidia-smi" {
				if _, err := os.Stat(filepath.Join(filepath.Dir(lookSh(t)), "nvidia-smi")); err == nil {
					t.Skip("this machine has one")
				}
			}
			m := other(t, tc.smi, Options{Command: tc.command, Patience: 3 * time.Second})
			_, err := read(t, m, 30*time.Second)
			u, ok := errors.AsType[*monitor.Unavailable](err)
			if !ok || u.Status != tc.status || !strings.Contains(u.Msg, tc.says) || u.Source != "ssh ada@node1" {
				t.Fatalf("%#v", err)
			}
			// The next read does not try again at once.
			began := time.Now()
			if _, err := read(t, m, 30*time.Second); !errors.As(err, &u) || time.Since(began) > time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		})
	}
}

func lookSh(t *testing.T) string {
	t.Helper()
	for _, path := range []string{"/bin/sh", "/usr/bin/sh"} {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
	}
	t.Skip("there is no sh")
	return ""
}

func TestAHostThatHangs(t *testing.T) {
	m := other(t, "sleep 30\n", Options{Patience: 2 * time.Second})
	began := time.Now()
	_, err := read(t, m, 300*time.Millisecond)
	u, ok := errors.AsType[*monitor.Unavailable](err)
	if !ok || u.Status != series.Stuck || time.Since(began) > 2*time.Second {
		t.Fatalf("%v after %v", err, time.Since(began))
	}
	if _, err := read(t, m, 20*time.Second); !errors.As(err, &u) || u.Status != series.Failed {
		t.Errorf("then: %v", err)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"", "-oProxyCommand=touch /tmp/owned", "a b", "a\nb"} {
		if _, err := New(Options{Host: name, Now: time.Now}); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

// TestFilesThatPretend holds a command line that looks like another file's.
func TestFilesThatPretend(t *testing.T) {
	tr := tree{root: t.TempDir()}
	tr.start()
	tr.putProcesses([]byte("7 (a) S 1 1\n8 (b) S 1 1\n"))
	var text strings.Builder
	for _, p := range []string{"/proc/stat", "/proc/7/io", "/proc/8/io", "/proc/7/cmdline", "/proc/8/cmdline"} {
		fmt.Fprintf(&text, "==> %s <==\ntext of %s\n", p, p)
		if p == "/proc/7/cmdline" {
			text.WriteString("==> /proc/8/io <==\nmine\n==> /../../etc/shadow <==\nmine\n")
		}
		text.WriteString("\n")
	}
	tr.putFiles([]byte(text.String()), []int{7, 8})
	for path, want := range map[string]string{
		"proc/stat": "text of /proc/stat\n", "proc/8/io": "text of /proc/8/io\n", "proc/8/cmdline": "text of /proc/8/cmdline\n",
		"proc/7/cmdline": "text of /proc/7/cmdline\n==> /proc/8/io <==\nmine\n==> /../../etc/shadow <==\nmine\n",
	} {
		if got, err := os.ReadFile(filepath.Join(tr.root, path)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte("7 (a) S 1 1\n"), []byte("==> /proc/stat <==\ncpu 1\n\n==> /proc/7/io <==\nx\n"), []byte("==> /proc/7/environ <==\nRANK=1\n"))
	f.Fuzz(func(t *testing.T, stats, files, names []byte) {
		tr := tree{root: t.TempDir()}
		tr.start()
		if len(stats) > 4096 {
			return
		}
		parents := tr.putProcesses(stats)
		uses := map[int][]series.Use{}
		for pid := range parents {
			uses[pid] = nil
		}
		deep := around(parents, uses)
		tr.putFiles(files, deep)
		tr.putNames(names)
	})
}
