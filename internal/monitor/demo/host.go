package demo

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// firstPID is above pid_max of Linux, which is 4194304 at most.
const firstPID = 5_000_000

// A process is one of the demo; its values grow by rates.
type process struct {
	parent                 int // index in processes, -1 for none
	status                 series.Status
	user, name, command    string
	state, wait            string
	container, job         string
	rank, world            int
	visible                string
	cpu, wants             float64 // processors taken, and waited for
	resident, shared       float64 // GiB
	threads                float64
	read, asked, voluntary float64 // a second
}

// processes are the demo's: first those on GPUs, then those around them.
var processes = []process{
	0: {parent: 10, status: series.OK, user: "ada", name: "python", command: "python train.py --config llama8b.yaml --api-key=***", state: "R", container: "9f2c4e1a7b30", job: "slurm:48211", rank: 0, world: 3, visible: "0", cpu: 1.02, resident: 9.1, shared: 2.2, threads: 84, asked: 90e6, voluntary: 900},
	1: {parent: -1, status: series.OK, user: "bob", name: "python", command: "python finetune.py --workers 4 --data /data/images", state: "S", wait: "futex_wait_queue", rank: -1, visible: "1", cpu: 0.31, resident: 5.6, shared: 1.1, threads: 61, asked: 1e5, voluntary: 240},
	2: {parent: -1, status: series.OK, user: "eve", name: "python", command: "python -m ipykernel_launcher -f kernel-7c1d.json", state: "S", wait: "do_epoll_wait", rank: -1, cpu: 0.002, resident: 12.4, shared: 0.6, threads: 38, voluntary: 4},
	3: {parent: 10, status: series.OK, user: "ada", name: "python", command: "python train.py --config llama8b.yaml --api-key=***", state: "R", container: "9f2c4e1a7b30", job: "slurm:48211", rank: 1, world: 3, visible: "3", cpu: 1.01, resident: 9.0, shared: 2.2, threads: 84, asked: 90e6, voluntary: 880},
	4: {parent: 10, status: series.OK, user: "ada", name: "python", command: "python train.py --config llama8b.yaml --api-key=***", state: "D", wait: "os_acquire_mutex", container: "9f2c4e1a7b30", job: "slurm:48211", rank: 2, world: 3, visible: "4", resident: 9.0, shared: 2.2, threads: 84},
	5: {parent: -1, status: series.Lost, rank: -1},
	6: {parent: -1, status: series.NoPermission, user: "mallory", name: "python3", rank: -1},
	7: {parent: -1, status: series.OK, user: "ada", name: "python", command: "python eval.py --checkpoint last.pt", state: "R", rank: -1, visible: "7", cpu: 0.9, resident: 3.3, shared: 0.3, threads: 30, asked: 5e6, voluntary: 60},
	8: {parent: -1, status: series.OK, user: "bob", name: "python", command: "python serve.py --port 8000 --token ***", state: "S", wait: "do_epoll_wait", job: "k8s:serving/llama-0", container: "41d9b2aa03cd", rank: -1, cpu: 0.4, resident: 4.4, shared: 0.3, threads: 52, voluntary: 700},
	9: {parent: -1, status: series.OK, user: "eve", name: "python", command: "python probe.py", state: "S", rank: -1, cpu: 0.2, resident: 2.1, shared: 0.1, threads: 24, voluntary: 120},

	10: {parent: -1, status: series.OK, user: "ada", name: "torchrun", command: "torchrun --nproc-per-node 3 train.py --config llama8b.yaml --api-key=***", state: "S", container: "9f2c4e1a7b30", job: "slurm:48211", rank: -1, cpu: 0.01, resident: 0.3, threads: 5, voluntary: 10},
	11: loader(0, "ada", 0.55, 0.01), 12: loader(0, "ada", 0.55, 0.01), 13: loader(0, "ada", 0.56, 0.01), 14: loader(0, "ada", 0.54, 0.01),
	15: loader(1, "bob", 0.99, 0.01), 16: loader(1, "bob", 0.98, 0.02), 17: loader(1, "bob", 0.99, 0.01), 18: loader(1, "bob", 0.98, 0.02),
	19: loader(3, "ada", 0.41, 0.01), 20: loader(3, "ada", 0.42, 0.01), 21: loader(3, "ada", 0.4, 0.01), 22: loader(3, "ada", 0.41, 0.01),
}

// loader is a worker of process parent that reads and decodes data.
func loader(parent int, user string, cpu, wants float64) process {
	return process{
		parent: parent, status: series.OK, user: user, name: "pt_data_worker", command: "pt_data_worker", state: "R", rank: -1,
		cpu: cpu, wants: wants, resident: 1.2, shared: 0.7, threads: 3, asked: 22e6, voluntary: 90,
	}
}

func pidOf(i int) int { return firstPID + 17*i }

// Host is the machine's host; the processes are those of the demo whatever it is
// asked about.
func (m *Machine) Host() monitor.Host { return host{m} }

type host struct{ m *Machine }

// Read plays the host and its processes at this moment.
func (h host) Read(uses map[int][]series.Use) monitor.HostReading {
	t := h.m.now().Sub(h.m.began).Seconds()
	r := monitor.HostReading{Host: series.Host{Name: "demo", BootID: fmt.Sprintf("demo-%d", h.m.seed), Values: hostValues(t)}}
	for i, p := range processes {
		pid := pidOf(i)
		out := series.Process{
			PID: pid, Started: uint64(1000 + i), Status: p.status, User: p.user, Name: p.name, Command: p.command, State: p.state, Wait: p.wait,
			Container: p.container, Job: p.job, Rank: p.rank, WorldSize: p.world, Visible: p.visible, Uses: uses[pid],
		}
		if p.parent >= 0 {
			out.Parent = pidOf(p.parent)
			out.Container, out.Job = processes[p.parent].container, processes[p.parent].job
		}
		switch p.status {
		case series.OK:
			out.Values = p.values(t)
		case series.Lost:
			out.Started = 0
			out.Values = monitor.WithoutAll(series.ScopeProcess, p.status)
		default:
			out.Values = monitor.WithoutAll(series.ScopeProcess, p.status)
		}
		r.Processes = append(r.Processes, out)
	}
	return r
}

func (p process) values(t float64) series.Values {
	var vs series.Values
	for _, v := range []struct {
		c series.Counter
		v float64
	}{
		{series.CPUTime, p.cpu * t}, {series.CPUWait, p.wants * t}, {series.Resident, p.resident * gib}, {series.SharedMemory, p.shared * gib},
		{series.Threads, p.threads}, {series.MajorFaults, 12}, {series.BytesRead, p.read * t}, {series.BytesWritten, 0},
		{series.BytesAsked, p.asked * t}, {series.BytesGiven, 2e4 * t}, {series.SwitchesVoluntary, p.voluntary * t}, {series.SwitchesForced, 5 * t},
		{series.DiskWait, 0},
	} {
		vs.Set(v.c, series.Of(v.v))
	}
	return vs
}

func hostValues(t float64) series.Values {
	busy := 0.0
	for _, p := range processes {
		busy += p.cpu
	}
	var vs series.Values
	for _, v := range []struct {
		c series.Counter
		v float64
	}{
		{series.HostCPUs, 64}, {series.HostCPUsAllowed, 64}, {series.HostCPUTime, (busy + 0.3) * t}, {series.HostIOWaitTime, 0.02 * t},
		{series.HostMemoryTotal, 1007 * gib}, {series.HostMemoryAvailable, 842 * gib}, {series.HostPageCache, 310 * gib}, {series.HostSwapUsed, 0},
		{series.HostSharedTotal, 503 * gib}, {series.HostSharedUsed, 9 * gib}, {series.HostLoad, busy + 0.5},
		{series.HostPressureCPU, 0.004 * t}, {series.HostPressureIO, 0.01 * t}, {series.HostPressureMemory, 0}, {series.HostPressureIOFull, 0.002 * t},
		{series.HostThrottledTime, 0}, {series.HostDiskBusyTime, 0.06 * t}, {series.HostDiskRead, 12e6 * t}, {series.HostDiskWritten, 3e6 * t},
		{series.HostNetReceived, 90e6 * t}, {series.HostNetSent, 4e6 * t}, {series.HostMajorFaults, 0.1 * t},
	} {
		vs.Set(v.c, series.Of(v.v))
	}
	return vs
}
