package proc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/series"
)

// tree writes files below a new folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	return root
}

func write(t testing.TB, root, name, text string) {
	t.Helper()
	at := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stat is a line as the kernel writes it.
func stat(pid int, name, state string, parent, started int) string {
	return fmt.Sprintf("%d (%s) %s %d 1 1 0 -1 4194560 100 0 7 0 250 50 0 0 20 0 9 0 %d 1000000 500 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 42 0 0 0 0 0 0 0 0 0 0\n", pid, name, state, parent, started)
}

// addProcess writes a process into files.
func addProcess(files map[string]string, pid int, name string, parent, started int, more map[string]string) {
	dir := fmt.Sprintf("proc/%d/", pid)
	files[dir+"stat"] = stat(pid, name, "S", parent, started)
	files[dir+"status"] = fmt.Sprintf("Name:\t%s\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t%d\nCpus_allowed_list:\t0-3,8\nvoluntary_ctxt_switches:\t11\nnonvoluntary_ctxt_switches:\t22\n", name, pid)
	files[dir+"schedstat"] = "2000000000 500000000 77\n"
	files[dir+"statm"] = "1000 500 120 1 0 300 0\n"
	files[dir+"io"] = "rchar: 1000\nwchar: 200\nsyscr: 5\nsyscw: 5\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n"
	files[dir+"cmdline"] = "python\x00train.py\x00--token\x00abc\x00"
	files[dir+"cgroup"] = "0::/\n"
	files[dir+"environ"] = "RANK=2\x00WORLD_SIZE=8\x00CUDA_VISIBLE_DEVICES=1,3\x00SECRET=x\x00"
	files[dir+"wchan"] = "futex_wait_queue"
	for k, v := range more {
		files[dir+k] = v
	}
}

func use(device string) []series.Use { return []series.Use{{Device: device, Kind: series.Compute}} }

func find(t *testing.T, ps []series.Process, pid int) series.Process {
	t.Helper()
	for _, p := range ps {
		if p.PID == pid {
			return p
		}
	}
	t.Fatalf("process %d is not there", pid)
	return series.Process{}
}

func TestProcessInDepth(t *testing.T) {
	files := map[string]string{"etc/passwd": "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n"}
	addProcess(files, 100, "python) R 1 (x", 1, 5000, nil)
	r := proc.New(proc.Options{Root: tree(t, files)})
	defer r.Close()
	p := find(t, r.Read(map[int][]series.Use{100: use("GPU-1")}).Processes, 100)
	if p.Name != "python) R 1 (x" || p.State != "S" || p.Parent != 1 || p.Started != 5000 || p.User != "ada" || p.Wait != "futex_wait_queue" {
		t.Errorf("process is %+v", p)
	}
	if p.Rank != 2 || p.WorldSize != 8 || p.Visible != "1,3" || p.Command != "python train.py --token ***" {
		t.Errorf("of its environment and command: rank %d of %d, devices %q, command %q", p.Rank, p.WorldSize, p.Visible, p.Command)
	}
	page := float64(os.Getpagesize())
	for c, want := range map[series.Counter]float64{
		series.CPUTime: 3, series.MainCPUTime: 2, series.CPUWait: 0.5, series.Resident: 500 * page, series.SharedMemory: 120 * page,
		series.Threads: 9, series.MajorFaults: 7, series.BytesRead: 4096, series.BytesWritten: 8192, series.BytesAsked: 1000, series.BytesGiven: 200,
		series.SwitchesVoluntary: 11, series.SwitchesForced: 22, series.DiskWait: 0.42, series.CPUsAllowed: 5,
	} {
		if got, ok := p.Values.Get(c).Get(); !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", c.Info().Name, got, ok, want)
		}
	}
}

func TestTreeOfAGPUProcess(t *testing.T) {
	files := map[string]string{}
	addProcess(files, 1, "systemd", 0, 1, nil)
	addProcess(files, 50, "bash", 1, 10, nil)
	addProcess(files, 60, "torchrun", 50, 20, nil)
	addProcess(files, 61, "python", 60, 30, nil)
	addProcess(files, 62, "python", 60, 30, nil) // on no GPU
	addProcess(files, 70, "pt_data_worker", 61, 40, nil)
	addProcess(files, 71, "cc", 70, 50, nil)
	addProcess(files, 90, "vim", 50, 60, nil)
	r := proc.New(proc.Options{Root: tree(t, files), Roots: []int{90}})
	defer r.Close()
	var pids []int
	for _, p := range r.Read(map[int][]series.Use{61: use("GPU-1")}).Processes {
		pids = append(pids, p.PID)
	}
	if got, want := fmt.Sprint(pids), "[60 61 70 71 90]"; got != want {
		t.Errorf("processes %s, want %s: the launcher without its shell, the descendants, and the tree of a root", got, want)
	}
}

func TestOrphansAreAskedAboutAgain(t *testing.T) {
	files := map[string]string{}
	addProcess(files, 1, "init", 0, 1, nil)
	addProcess(files, 100, "python", 1, 5000, nil)
	addProcess(files, 101, "python", 100, 5001, nil)
	addProcess(files, 102, "python", 101, 5002, nil)
	root := tree(t, files)
	r := proc.New(proc.Options{Root: root})
	defer r.Close()
	uses := map[int][]series.Use{100: use("GPU-1")}
	r.Read(uses)
	if err := os.RemoveAll(filepath.Join(root, "proc/101")); err != nil {
		t.Fatal(err)
	}
	write(t, root, "proc/102/stat", stat(102, "python", "S", 100, 5002)) // 100 is a subreaper
	find(t, r.Read(uses).Processes, 102)
}

func TestOneWhoEndedAndAnotherWithItsPID(t *testing.T) {
	files := map[string]string{}
	addProcess(files, 1, "init", 0, 1, nil)
	addProcess(files, 100, "python", 1, 5000, nil)
	root := tree(t, files)
	r := proc.New(proc.Options{Root: root})
	defer r.Close()
	uses := map[int][]series.Use{100: use("GPU-1")}
	r.Read(uses)

	write(t, root, "proc/100/stat", stat(100, "python", "R", 1, 9000))
	write(t, root, "proc/100/cmdline", "python\x00other.py\x00")
	p := find(t, r.Read(uses).Processes, 100)
	if p.Started != 9000 || p.Command != "python other.py" {
		t.Errorf("a new process with an old PID is shown as %d, %q", p.Started, p.Command)
	}

	if err := os.RemoveAll(filepath.Join(root, "proc/100")); err != nil {
		t.Fatal(err)
	}
	p = find(t, r.Read(uses).Processes, 100)
	if p.Status != series.Lost || len(p.Uses) != 1 {
		t.Errorf("a process that ended and still holds memory is %v with %d uses", p.Status, len(p.Uses))
	}
	if v := p.Values.Get(series.CPUTime); v.Status != series.Lost {
		t.Errorf("its processor time is %v", v)
	}
}

func TestProcessesOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can read as somebody else")
	}
	files := map[string]string{}
	addProcess(files, 100, "python", 1, 5000, nil)
	root := tree(t, files)
	for _, name := range []string{"io", "environ"} {
		if err := os.Chmod(filepath.Join(root, "proc/100", name), 0); err != nil {
			t.Fatal(err)
		}
	}
	r := proc.New(proc.Options{Root: root})
	defer r.Close()
	// The kernel looks at this thread's own id for files only.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	reading := r.Read(map[int][]series.Use{100: use("GPU-1")})
	if err := unix.Setfsuid(0); err != nil {
		t.Fatal(err)
	}
	p := find(t, reading.Processes, 100)
	if p.Status != series.NoPermission {
		t.Errorf("a process of another is %v", p.Status)
	}
	if v := p.Values.Get(series.BytesRead); v.Status != series.NoPermission {
		t.Errorf("its bytes read are %v, want no-permission", v)
	}
	if v, ok := p.Values.Get(series.CPUTime).Get(); !ok || v != 3 {
		t.Errorf("its processor time, which all may know, is %v, %v", v, ok)
	}
	if p.Rank != -1 {
		t.Errorf("its rank is %d, want unknown", p.Rank)
	}
}

func TestPIDsOfContainers(t *testing.T) {
	const id = "4f1c9f2d6b7a8e0d4f1c9f2d6b7a8e0d4f1c9f2d6b7a8e0d4f1c9f2d6b7a8e0d"
	files := map[string]string{}
	addProcess(files, 300, "python", 1, 5000, map[string]string{
		"status": "Uid:\t0\t0\t0\t0\nNSpid:\t300\t17\n",
		"cgroup": "0::/system.slice/docker-" + id + ".scope\n",
	})
	addProcess(files, 400, "python", 1, 5000, map[string]string{"status": "Uid:\t0\t0\t0\t0\nNSpid:\t400\t18\n"})
	addProcess(files, 500, "monitor", 1, 5000, map[string]string{"status": "Uid:\t0\t0\t0\t0\nNSpid:\t500\t17\n"})
	root := tree(t, files)
	for pid, target := range map[int]string{300: "/dev/nvidia0", 400: "/dev/nvidia1", 500: "/dev/nvidiactl"} {
		dir := filepath.Join(root, fmt.Sprintf("proc/%d/fd", pid))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, "9")); err != nil {
			t.Fatal(err)
		}
	}
	r := proc.New(proc.Options{Root: root})
	defer r.Close()
	// 17 is an inner PID of 300, and of 500, which has no GPU open; 99999 is a PID
	// of a namespace above, and the one process left is 400.
	for range 2 {
		reading := r.Read(map[int][]series.Use{17: use("GPU-1"), 99999: use("GPU-2")})
		for pid, device := range map[int]string{300: "GPU-1", 400: "GPU-2"} {
			p := find(t, reading.Processes, pid)
			if len(p.Uses) != 1 || p.Uses[0].Device != device {
				t.Errorf("process %d has uses %v, want one of %s", pid, p.Uses, device)
			}
		}
		if p := find(t, reading.Processes, 300); p.Container != "4f1c9f2d6b7a" {
			t.Errorf("container is %q", p.Container)
		}
		if len(reading.Processes) != 2 {
			t.Errorf("%d processes, want 2", len(reading.Processes))
		}
	}
	// With two strange PIDs and one process nothing can be told.
	other := proc.New(proc.Options{Root: root})
	defer other.Close()
	reading := other.Read(map[int][]series.Use{300: use("GPU-1"), 99998: use("GPU-2"), 99997: use("GPU-2")})
	for _, pid := range []int{99998, 99997} {
		if p := find(t, reading.Processes, pid); p.Status != series.Lost {
			t.Errorf("PID %d, which may be anybody's, is %v", pid, p.Status)
		}
	}
}

func TestHost(t *testing.T) {
	root := tree(t, map[string]string{
		"proc/sys/kernel/hostname": "node7\n", "proc/sys/kernel/random/boot_id": "abc\n",
		"proc/stat":        "cpu  100 10 20 1000 30 5 6 7 50 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 5\n",
		"proc/meminfo":     "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 600 kB\nCached: 300 kB\nShmem: 100 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n",
		"proc/vmstat":      "pgfault 5\npgmajfault 9\n",
		"proc/loadavg":     "1.25 1.00 0.50 1/100 4000\n",
		"proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n",
		"proc/diskstats":   "   8 0 sda 10 0 200 5 20 0 400 5 0 1500 10\n   8 1 sda1 9 0 190 5 20 0 400 5 0 1400 10\n 259 0 nvme0n1 10 0 100 5 20 0 100 5 0 9000 10\n   7 0 loop0 10 0 7777 5 20 0 0 5 0 9999 10\n",
		"sys/block/sda/x":  "", "sys/block/nvme0n1/x": "", "sys/block/loop0/x": "",
		"proc/net/dev":                         "Inter-|\n face |bytes\n    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n  eth0: 100 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0\nveth1: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n",
		"sys/class/net/eth0/device/x":          "",
		"proc/self/cgroup":                     "0::/user.slice/job\n",
		"sys/fs/cgroup/user.slice/job/cpu.max": "max 100000\n", "sys/fs/cgroup/user.slice/job/cpu.stat": "usage_usec 1\nthrottled_usec 3500000\n",
		"sys/fs/cgroup/user.slice/cpu.max": "150000 100000\n",
		"dev/shm/x":                        "",
	})
	r := proc.New(proc.Options{Root: root})
	defer r.Close()
	h := r.Read(nil).Host
	if h.Name != "node7" || h.BootID != "abc" {
		t.Errorf("host is %q, boot %q", h.Name, h.BootID)
	}
	for c, want := range map[series.Counter]float64{
		series.HostCPUs: 2, series.HostCPUsAllowed: 1.5, series.HostCPUTime: 1.48, series.HostIOWaitTime: 0.3,
		series.HostMemoryTotal: 1000 << 10, series.HostMemoryAvailable: 600 << 10, series.HostPageCache: 200 << 10, series.HostSwapUsed: 30 << 10,
		series.HostMajorFaults: 9, series.HostLoad: 1.25, series.HostPressureIO: 2.5, series.HostPressureIOFull: 0.5,
		series.HostDiskRead: 300 * 512, series.HostDiskWritten: 500 * 512, series.HostDiskBusyTime: 9, series.HostNetReceived: 100, series.HostNetSent: 50,
		series.HostThrottledTime: 3.5,
	} {
		if got, ok := h.Values.Get(c).Get(); !ok || got != want {
			t.Errorf("%s is %v, %v; want %v", c.Info().Name, got, ok, want)
		}
	}
	if v := h.Values.Get(series.HostPressureCPU); v.Status != series.NotSupported {
		t.Errorf("pressure that the kernel does not count is %v, want not-supported", v)
	}
	if v, ok := h.Values.Get(series.HostSharedTotal).Get(); !ok || v <= 0 {
		t.Errorf("size of shared memory is %v, %v", v, ok)
	}
}

func TestWaitsThatAreNotCountedAreNotZero(t *testing.T) {
	files := map[string]string{"proc/sys/kernel/task_delayacct": "0\n"}
	addProcess(files, 100, "python", 1, 5000, nil)
	r := proc.New(proc.Options{Root: tree(t, files)})
	defer r.Close()
	p := find(t, r.Read(map[int][]series.Use{100: use("GPU-1")}).Processes, 100)
	if v := p.Values.Get(series.DiskWait); v.Status != series.NotSupported {
		t.Errorf("wait for disks is %v, want not-supported", v)
	}
}

func TestNoProc(t *testing.T) {
	r := proc.New(proc.Options{Root: filepath.Join(t.TempDir(), "missing")})
	defer r.Close()
	reading := r.Read(map[int][]series.Use{7: use("GPU-1")})
	if len(reading.Problems) != 1 || len(reading.Processes) != 1 {
		t.Errorf("without /proc: problems %v, processes %v", reading.Problems, reading.Processes)
	}
}

// TestHostileFiles cuts every file of a process at every length that differs, and
// puts rubbish in its place.
func TestHostileFiles(t *testing.T) {
	files := map[string]string{}
	addProcess(files, 100, "python", 1, 5000, nil)
	root := tree(t, files)
	r := proc.New(proc.Options{Root: root})
	defer r.Close()
	for name, text := range files {
		for _, bad := range []string{"", "\x00", ")", "((((", strings.Repeat("9", 5000), text[:len(text)/2], strings.Repeat("x\n", 100000)} {
			write(t, root, name, bad)
			r.Read(map[int][]series.Use{100: use("GPU-1")})
		}
		write(t, root, name, text)
	}
	if err := os.Remove(filepath.Join(root, "proc/100/wchan")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(root, "proc/100/wchan"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A reader that has nothing open yet must not wait for a writer.
	other := proc.New(proc.Options{Root: root})
	defer other.Close()
	for range 3 {
		find(t, other.Read(map[int][]series.Use{100: use("GPU-1")}).Processes, 100)
	}
}

func TestThisMachine(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.Env = append(os.Environ(), "RANK=3", "HF_TOKEN=hf_abcdefghijklmnopqrst")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := proc.New(proc.Options{})
	defer r.Close()
	var p series.Process
	for range 100 { // until it has become sleep, and has its pages
		p = find(t, r.Read(map[int][]series.Use{cmd.Process.Pid: use("GPU-1")}).Processes, cmd.Process.Pid)
		if p.Name == "sleep" && p.Values.Get(series.Resident).V >= 1e5 {
			break
		}
	}
	if p.Rank != 3 || p.Command != "sleep 60" || p.Parent != os.Getpid() || p.Status != series.OK {
		t.Errorf("a child is %+v", p)
	}
	if v, ok := p.Values.Get(series.Resident).Get(); !ok || v < 1e5 {
		t.Errorf("its resident memory is %v, %v", v, ok)
	}
	h := r.Read(nil).Host
	if v, ok := h.Values.Get(series.HostCPUsAllowed).Get(); !ok || v <= 0 {
		t.Errorf("processors allowed: %v, %v", v, ok)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if p := find(t, r.Read(map[int][]series.Use{cmd.Process.Pid: use("GPU-1")}).Processes, cmd.Process.Pid); p.Status != series.Lost {
		t.Errorf("after its end it is %v", p.Status)
	}
}

// BenchmarkTenThousand reads 50 processes on GPUs among ten thousand.
func BenchmarkTenThousand(b *testing.B) {
	files := map[string]string{}
	uses := map[int][]series.Use{}
	addProcess(files, 1, "init", 0, 1, nil)
	for i := range 10000 {
		pid := 100 + i
		files[fmt.Sprintf("proc/%d/stat", pid)] = stat(pid, "other", "S", 1, 5000)
		if i%200 == 0 {
			addProcess(files, pid, "python", 1, 5000, nil)
			uses[pid] = use("GPU-1")
		}
	}
	r := proc.New(proc.Options{Root: tree(b, files)})
	defer r.Close()
	r.Read(uses)
	b.ReportAllocs()
	for b.Loop() {
		r.Read(uses)
	}
}
