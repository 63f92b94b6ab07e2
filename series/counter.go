package series

// A Scope is what a counter is counted of.
type Scope uint8

// The scopes.
const (
	ScopeDevice  Scope = iota // one GPU, or one MIG instance
	ScopeUse                  // one process on one device
	ScopeProcess              // one process on the host
	ScopeHost                 // the host
)

// A Counter is one thing that is measured. Its row in the table of counters says
// its name, unit and meaning.
type Counter uint16

// perScope is more than any scope has counters.
const perScope = 1 << 8

// Scope is what c is counted of.
func (c Counter) Scope() Scope { return Scope(c / perScope) }

func (c Counter) index() int { return int(c % perScope) }

// Counters of devices.
const (
	Busy Counter = perScope*Counter(ScopeDevice) + iota
	MemoryBusy
	MemoryTotal
	MemoryUsed
	MemoryReserved
	MemoryFree
	Power
	PowerLimit
	Energy
	Temperature
	TemperatureLimit
	Fan
	ClockSM
	ClockSMMax
	ClockMemory
	ClockMemoryMax
	ThrottleReasons
	ThrottlePower
	ThrottleThermal
	PerformanceState
	PCIeSent
	PCIeReceived
	PCIeGeneration
	PCIeGenerationMax
	PCIeWidth
	PCIeWidthMax
	NVLinkSent
	NVLinkReceived
	SMActive
	SMOccupancy
	TensorActive
	DRAMActive
	EncoderBusy
	DecoderBusy
	ECCUncorrected
	RemappedRows
	XID
	XIDEvents
)

// Counters of a process on a device.
const (
	UseMemory Counter = perScope*Counter(ScopeUse) + iota
	UseBusy
	UseMemoryBusy
)

// Counters of a process on the host.
const (
	CPUTime Counter = perScope*Counter(ScopeProcess) + iota
	CPUWait
	Resident
	SharedMemory
	Threads
	MajorFaults
	BytesRead
	BytesWritten
	BytesAsked
	BytesGiven
	SwitchesVoluntary
	SwitchesForced
	DiskWait
	MainCPUTime
	CPUsAllowed
)

// Counters of the host.
const (
	HostCPUs Counter = perScope*Counter(ScopeHost) + iota
	HostCPUsAllowed
	HostCPUTime
	HostIOWaitTime
	HostMemoryTotal
	HostMemoryAvailable
	HostPageCache
	HostSwapUsed
	HostSharedTotal
	HostSharedUsed
	HostLoad
	HostPressureCPU
	HostPressureIO
	HostPressureMemory
	HostPressureIOFull
	HostThrottledTime
	HostDiskBusyTime
	HostDiskRead
	HostDiskWritten
	HostNetReceived
	HostNetSent
	HostMajorFaults
)
