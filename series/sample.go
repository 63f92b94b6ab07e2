package series

import "time"

// A Sample is what was seen of one host at one moment.
type Sample struct {
	// Wall is the time by the host's clock, which may jump.
	Wall time.Time
	// Since is the time since the series began by a clock that never jumps;
	// differences between samples are taken of it.
	Since time.Duration

	Host      Host
	Devices   []Device
	Processes []Process
	// Problems are what could not be read, beside what the values say.
	Problems []Problem
}

// A Host is the machine.
type Host struct {
	Name          string // "" for the one that this runs on and that has none
	Driver        string // version of the GPU driver, "" where unknown
	CUDA          string // highest CUDA version of that driver, "" where unknown
	Values        Values // ScopeHost
	BootID        string // tells a PID of this boot from one of another
	Unprivileged  bool   // processes of other users cannot be looked into
	UnifiedMemory bool   // GPUs have the host's memory
}

// A Device is a GPU, or a MIG instance of one.
type Device struct {
	ID     string // stays: its UUID, or "pci:" and its address
	Index  int    // as the driver counts now, which may shift
	Parent string // ID of the GPU that a MIG instance is part of, else ""
	Name   string // "NVIDIA H100 80GB HBM3"
	Vendor string // "nvidia", "amd"
	PCI    string // "0000:01:00.0", "" where unknown
	Minor  int    // the number in /dev/nvidiaN, -1 where unknown
	MIG    string // profile of an instance, "1g.10gb"; "on" for a GPU that is cut; else ""

	// Status is OK while the device answers; Stuck or Lost make every value
	// that was not read Stuck or Lost, too.
	Status Status
	// Problem is the driver's own sentence about Status, or "".
	Problem string
	// StaleFor is the age of the values where the device is Stuck and the last
	// ones are shown; 0 for fresh ones.
	StaleFor time.Duration
	Values   Values // ScopeDevice
}

// A UseKind is what a process does on a device.
type UseKind string

// The kinds of use, as nvidia-smi letters them.
const (
	Compute  UseKind = "C"
	Graphics UseKind = "G"
	Shared   UseKind = "M" // through the multi-process service
)

// A Use is what one process takes of one device.
type Use struct {
	Device string // Device.ID
	Kind   UseKind
	Values Values // ScopeUse
}

// A Process is a process on a device, or one that belongs to such a process: a
// worker, a child, a parent that launched it.
type Process struct {
	PID    int
	Parent int // PID of the parent, 0 where unknown
	// Started tells processes apart that have had the same PID: clock ticks
	// since boot as in /proc/PID/stat, 0 where unknown.
	Started uint64
	// Status is OK for a process of the host that could be read; NoPermission
	// for one of others; Lost for a PID that holds memory and is no process
	// that can be seen here (a container's, or one that died).
	Status Status

	User      string
	Name      string // short, as in /proc/PID/comm
	Command   string // with secrets masked; "" where unknown
	State     string // letter of the kernel: R, S, D, Z, T; "" where unknown
	Wait      string // what the kernel says it waits in (wchan), or ""
	Container string // short id of its container, or ""
	Job       string // "slurm:1234", "k8s:namespace/pod", or ""
	Rank      int    // RANK of its environment, -1 without
	WorldSize int    // WORLD_SIZE of its environment, 0 without
	Visible   string // CUDA_VISIBLE_DEVICES of its environment; "" without

	Uses   []Use
	Values Values // ScopeProcess
}

// A Problem is something that could not be read.
type Problem struct {
	Source string // "nvml", "nvidia-smi", "amdgpu", "proc"
	Status Status
	What   string // a sentence: what was being read and what came
}
