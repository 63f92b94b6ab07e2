package vgpu

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// Config is the machine that a process shall see. All its devices are alike.
// The zero value of a property that hangs on the compute capability takes the
// value of that capability.
type Config struct {
	Name            string // "NVIDIA H100 80GB HBM3"
	Count           int    // devices; 0 means 1
	Capability      int    // 90 is 9.0
	Multiprocessors int

	ThreadsPerMultiprocessor      int
	BlocksPerMultiprocessor       int
	SharedMemoryPerBlockOptin     unit.Bytes
	SharedMemoryPerMultiprocessor unit.Bytes
	L2                            unit.Bytes
	MemoryBusBits                 int
	ClockKHz, MemoryClockKHz      int

	Capacity       unit.Bytes // what CUDA reports as total
	NVMLTotal      unit.Bytes // what nvidia-smi shows as total; 0: the capacity
	Context        unit.Bytes // taken by the CUDA context of a process
	CuDNNWorkspace unit.Bytes // per convolution plan
	Log            string     // file for refusals and notes; "" for none
}

// Env is the configuration as the variable that the library reads.
func (c Config) Env() []string {
	l := limitsOf(c.Capability)
	var b strings.Builder
	text := func(key, value string) {
		// A card's name and a path of ours hold no semicolon; should one, it
		// must not become another setting.
		fmt.Fprintf(&b, "%s=%s;", key, strings.ReplaceAll(value, ";", ","))
	}
	number := func(key string, values ...int64) {
		for _, v := range values {
			if v != 0 {
				fmt.Fprintf(&b, "%s=%d;", key, v)
				return
			}
		}
	}
	text("name", c.Name)
	number("devices", int64(c.Count), 1)
	number("capability", int64(c.Capability))
	number("multiprocessors", int64(c.Multiprocessors))
	number("threads", int64(c.ThreadsPerMultiprocessor), int64(l.threads))
	number("blocks", int64(c.BlocksPerMultiprocessor), int64(l.blocks))
	number("registers", 65536)
	number("shared_optin", int64(c.SharedMemoryPerBlockOptin), int64(l.sharedOptin))
	number("shared_multiprocessor", int64(c.SharedMemoryPerMultiprocessor), int64(l.sharedMultiprocessor))
	fmt.Fprintf(&b, "shared_reserved=%d;", int64(l.sharedReserved))
	number("l2", int64(c.L2))
	number("bus_bits", int64(c.MemoryBusBits))
	number("clock_khz", int64(c.ClockKHz))
	number("memory_clock_khz", int64(c.MemoryClockKHz))
	number("capacity", int64(c.Capacity))
	number("nvml_total", int64(c.NVMLTotal), int64(c.Capacity))
	fmt.Fprintf(&b, "context=%d;cudnn_workspace=%d;", int64(c.Context), int64(c.CuDNNWorkspace))
	text("log", c.Log)
	return []string{"PLIMSOLL_VGPU=" + b.String()}
}
