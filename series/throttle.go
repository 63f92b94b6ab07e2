package series

// A ThrottleReason is a bit of ThrottleReasons, as NVML numbers them (nvml.h,
// nvmlClocksEventReason).
type ThrottleReason uint64

// The reasons.
const (
	GPUIdle           ThrottleReason = 0x1
	ApplicationClocks ThrottleReason = 0x2
	SoftwarePowerCap  ThrottleReason = 0x4
	HardwareSlowdown  ThrottleReason = 0x8
	SyncBoost         ThrottleReason = 0x10
	SoftwareThermal   ThrottleReason = 0x20
	HardwareThermal   ThrottleReason = 0x40
	PowerBrake        ThrottleReason = 0x80
	DisplayClocks     ThrottleReason = 0x100
)
