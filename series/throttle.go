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

// A NamedReason is a reason with the word that nvidia-smi has for it.
type NamedReason struct {
	Reason ThrottleReason
	Name   string
}

// namedReasons are all, by bit (nvidia-smi --help-query-gpu,
// clocks_event_reasons).
var namedReasons = []NamedReason{
	{GPUIdle, "gpu_idle"}, {ApplicationClocks, "applications_clocks_setting"}, {SoftwarePowerCap, "sw_power_cap"},
	{HardwareSlowdown, "hw_slowdown"}, {SyncBoost, "sync_boost"}, {SoftwareThermal, "sw_thermal_slowdown"},
	{HardwareThermal, "hw_thermal_slowdown"}, {PowerBrake, "hw_power_brake_slowdown"}, {DisplayClocks, "display_clocks_setting"},
}

// NamedReasons are all reasons, the lowest bit first.
func NamedReasons() []NamedReason { return namedReasons }

// ReasonNamed is the reason that nvidia-smi calls name, 0 for none.
func ReasonNamed(name string) ThrottleReason {
	for _, r := range namedReasons {
		if r.Name == name {
			return r.Reason
		}
	}
	return 0
}
