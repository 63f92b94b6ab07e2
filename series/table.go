package series

// A Unit is what a counter's number is in.
type Unit string

// The units. Their words end the names of counters and metrics.
const (
	Bytes   Unit = "bytes"
	Ratio   Unit = "ratio" // a share, 0 to 1
	Watts   Unit = "watts"
	Joules  Unit = "joules"
	Celsius Unit = "celsius"
	Hertz   Unit = "hertz"
	Seconds Unit = "seconds"
	Count   Unit = "count"
	Mask    Unit = "mask" // bits, see ThrottleReason
	Rate    Unit = "bytes_per_second"
)

// A Kind says how a counter's numbers go on.
type Kind uint8

// The kinds.
const (
	Gauge Kind = iota // a state: the last number holds
	Total             // grows since the thing began; what counts is the difference
)

// An Info is a row of the table of counters.
type Info struct {
	Counter Counter
	Name    string // with its unit, unique within the scope: "memory_used_bytes"
	Unit    Unit
	Kind    Kind
	Help    string // one sentence
}

// Info is the row of c. It panics on a Counter that is none of the constants.
func (c Counter) Info() Info { return tables[c.Scope()][c.index()] }

// Counters are all counters of a scope, in the order of the table.
func Counters(s Scope) []Info { return tables[s] }

// Find returns the counter with this name.
func Find(s Scope, name string) (Counter, bool) {
	for _, row := range tables[s] {
		if row.Name == name {
			return row.Counter, true
		}
	}
	return 0, false
}

// tables are the rows of each scope, in the order of its constants.
var tables = [...][]Info{
	ScopeDevice: {
		{Busy, "busy_ratio", Ratio, Gauge, "Share of the driver's last sample period in which at least one kernel ran; not how much of the GPU it used."},
		{MemoryBusy, "memory_busy_ratio", Ratio, Gauge, "Share of the driver's last sample period in which device memory was read or written; not how full it is."},
		{MemoryTotal, "memory_total_bytes", Bytes, Gauge, "Memory of the device as its driver counts it."},
		{MemoryUsed, "memory_used_bytes", Bytes, Gauge, "Memory held by processes, without what the driver reserves where it tells the two apart."},
		{MemoryReserved, "memory_reserved_bytes", Bytes, Gauge, "Memory that the driver and firmware keep."},
		{MemoryFree, "memory_free_bytes", Bytes, Gauge, "Memory that nobody holds."},
		{Power, "power_watts", Watts, Gauge, "Power drawn; an average of one second on Ampere and newer but GA100."},
		{PowerLimit, "power_limit_watts", Watts, Gauge, "The enforced power limit."},
		{Energy, "energy_joules", Joules, Total, "Energy used since the driver was loaded."},
		{Temperature, "temperature_celsius", Celsius, Gauge, "Temperature of the chip."},
		{TemperatureLimit, "temperature_limit_celsius", Celsius, Gauge, "Temperature at which the chip slows down."},
		{Fan, "fan_ratio", Ratio, Gauge, "Speed of the fan as a share of its maximum."},
		{ClockSM, "clock_sm_hertz", Hertz, Gauge, "Clock of the multiprocessors."},
		{ClockSMMax, "clock_sm_max_hertz", Hertz, Gauge, "Highest clock of the multiprocessors."},
		{ClockMemory, "clock_memory_hertz", Hertz, Gauge, "Clock of the memory."},
		{ClockMemoryMax, "clock_memory_max_hertz", Hertz, Gauge, "Highest clock of the memory."},
		{ThrottleReasons, "throttle_reasons_mask", Mask, Gauge, "Why the clocks are what they are, in NVML's bits."},
		{ThrottlePower, "throttle_power_seconds", Seconds, Total, "Time for which clocks were lowered to keep the power limit."},
		{ThrottleThermal, "throttle_thermal_seconds", Seconds, Total, "Time for which clocks were lowered since the chip was hot."},
		{PerformanceState, "performance_state_count", Count, Gauge, "Performance state, 0 the fastest."},
		{PCIeSent, "pcie_sent_bytes_per_second", Rate, Gauge, "Bytes sent over PCIe, in a window of 20 ms: a detector of bursts, not a rate."},
		{PCIeReceived, "pcie_received_bytes_per_second", Rate, Gauge, "Bytes received over PCIe, in a window of 20 ms: a detector of bursts, not a rate."},
		{PCIeGeneration, "pcie_generation_count", Count, Gauge, "Generation of the PCIe link now; an idle link steps down by design."},
		{PCIeGenerationMax, "pcie_generation_max_count", Count, Gauge, "Highest generation of the PCIe link."},
		{PCIeWidth, "pcie_width_count", Count, Gauge, "Lanes of the PCIe link now."},
		{PCIeWidthMax, "pcie_width_max_count", Count, Gauge, "Lanes that the PCIe link could have."},
		{NVLinkSent, "nvlink_sent_bytes", Bytes, Total, "Bytes sent over NVLink."},
		{NVLinkReceived, "nvlink_received_bytes", Bytes, Total, "Bytes received over NVLink."},
		{SMActive, "sm_active_ratio", Ratio, Gauge, "Share of time in which a multiprocessor had a warp, over all of them."},
		{SMOccupancy, "sm_occupancy_ratio", Ratio, Gauge, "Warps that were there as a share of those that could be."},
		{TensorActive, "tensor_active_ratio", Ratio, Gauge, "Share of time in which tensor cores worked."},
		{DRAMActive, "dram_active_ratio", Ratio, Gauge, "Share of time in which the device's memory moved data."},
		{EncoderBusy, "encoder_busy_ratio", Ratio, Gauge, "Share of time in which the video encoder worked."},
		{DecoderBusy, "decoder_busy_ratio", Ratio, Gauge, "Share of time in which the video decoder worked."},
		{ECCUncorrected, "ecc_uncorrected_count", Count, Total, "Memory errors that could not be corrected."},
		{RemappedRows, "remapped_rows_count", Count, Gauge, "Rows of memory replaced for errors that could not be corrected."},
		{XID, "xid_count", Count, Gauge, "Number of the last error event (XID) that the driver told."},
		{XIDEvents, "xid_events_count", Count, Total, "Error events (XIDs) that the driver told since they are listened for."},
	},
	ScopeUse: {
		{UseMemory, "memory_used_bytes", Bytes, Gauge, "Memory that the process holds on the device."},
		{UseBusy, "busy_ratio", Ratio, Gauge, "Share of time in which a kernel of the process ran."},
		{UseMemoryBusy, "memory_busy_ratio", Ratio, Gauge, "Share of time in which the process moved device memory."},
	},
	ScopeProcess: {
		{CPUTime, "cpu_seconds", Seconds, Total, "Processor time of the process, user and system."},
		{CPUWait, "cpu_wait_seconds", Seconds, Total, "Time for which its main thread was ready to run and had no processor."},
		{Resident, "resident_bytes", Bytes, Gauge, "Resident memory, shared pages included."},
		{SharedMemory, "shared_bytes", Bytes, Gauge, "Resident memory that is shared with others, /dev/shm included."},
		{Threads, "threads_count", Count, Gauge, "Threads of the process."},
		{MajorFaults, "major_faults_count", Count, Total, "Page faults that had to read a disk."},
		{BytesRead, "disk_read_bytes", Bytes, Total, "Bytes fetched from a disk for it."},
		{BytesWritten, "disk_written_bytes", Bytes, Total, "Bytes that it caused to be written to a disk."},
		{BytesAsked, "read_bytes", Bytes, Total, "Bytes that it read by system calls, page cache included."},
		{BytesGiven, "written_bytes", Bytes, Total, "Bytes that it wrote by system calls, page cache included."},
		{SwitchesVoluntary, "switches_voluntary_count", Count, Total, "Times its main thread gave the processor away to wait."},
		{SwitchesForced, "switches_forced_count", Count, Total, "Times the processor was taken from its main thread."},
		{DiskWait, "disk_wait_seconds", Seconds, Total, "Time for which its main thread waited for a block device."},
		{MainCPUTime, "main_cpu_seconds", Seconds, Total, "Processor time of its main thread, user and system."},
		{CPUsAllowed, "cpus_allowed_count", Count, Gauge, "Processors that it may take, by its affinity."},
	},
	ScopeHost: {
		{HostCPUs, "cpus_count", Count, Gauge, "Processors of the host."},
		{HostCPUsAllowed, "cpus_allowed_count", Count, Gauge, "Processors that this user's processes may take, by affinity and cgroup; may be a fraction."},
		{HostCPUTime, "cpu_seconds", Seconds, Total, "Processor time spent by all processes."},
		{HostIOWaitTime, "iowait_seconds", Seconds, Total, "Time for which processors idled while a disk was waited for."},
		{HostMemoryTotal, "memory_total_bytes", Bytes, Gauge, "Memory of the host."},
		{HostMemoryAvailable, "memory_available_bytes", Bytes, Gauge, "Memory that new work could have without swapping."},
		{HostPageCache, "page_cache_bytes", Bytes, Gauge, "Memory that keeps contents of files."},
		{HostSwapUsed, "swap_used_bytes", Bytes, Gauge, "Swap space in use."},
		{HostSharedTotal, "shm_total_bytes", Bytes, Gauge, "Size of /dev/shm."},
		{HostSharedUsed, "shm_used_bytes", Bytes, Gauge, "Used part of /dev/shm."},
		{HostLoad, "load_count", Count, Gauge, "Load average of one minute."},
		{HostPressureCPU, "pressure_cpu_seconds", Seconds, Total, "Time for which some task waited for a processor (PSI some)."},
		{HostPressureIO, "pressure_io_seconds", Seconds, Total, "Time for which some task waited for input or output (PSI some)."},
		{HostPressureMemory, "pressure_memory_seconds", Seconds, Total, "Time for which some task waited for memory (PSI some)."},
		{HostPressureIOFull, "pressure_io_full_seconds", Seconds, Total, "Time for which all tasks waited for input or output (PSI full)."},
		{HostThrottledTime, "cpu_throttled_seconds", Seconds, Total, "Time for which the cgroup's processor quota was used up."},
		{HostDiskBusyTime, "disk_busy_seconds", Seconds, Total, "Time for which the busiest block device had requests."},
		{HostDiskRead, "disk_read_bytes", Bytes, Total, "Bytes read from block devices."},
		{HostDiskWritten, "disk_written_bytes", Bytes, Total, "Bytes written to block devices."},
		{HostNetReceived, "net_received_bytes", Bytes, Total, "Bytes received by network interfaces but the loopback."},
		{HostNetSent, "net_sent_bytes", Bytes, Total, "Bytes sent by network interfaces but the loopback."},
		{HostMajorFaults, "major_faults_count", Count, Total, "Page faults that had to read a disk, of all processes."},
	},
}
