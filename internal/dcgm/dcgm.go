// Package dcgm knows the metrics of NVIDIA's dcgm-exporter that mean what a counter
// of package series means, under their names and in their units.
package dcgm

import "github.com/plimsoll-dev/plimsoll/series"

// A Metric is a row of the table.
type Metric struct {
	Name    string // without the prefix "DCGM_FI_"
	Counter series.Counter
	Times   float64 // what a value of the counter is multiplied by
	Help    string
}

// Prefix begins all names.
const Prefix = "DCGM_FI_"

const mib = 1 << 20

// Metrics are all (NVIDIA/dcgm-exporter, etc/default-counters.csv). Its PCIe and
// NVLink rates, violations and ECC counts are counted another way and are not here.
var Metrics = []Metric{
	{"DEV_SM_CLOCK", series.ClockSM, 1e-6, "SM clock frequency (in MHz)."},
	{"DEV_MEM_CLOCK", series.ClockMemory, 1e-6, "Memory clock frequency (in MHz)."},
	{"DEV_GPU_TEMP", series.Temperature, 1, "GPU temperature (in C)."},
	{"DEV_POWER_USAGE", series.Power, 1, "Power draw (in W)."},
	{"DEV_TOTAL_ENERGY_CONSUMPTION", series.Energy, 1e3, "Total energy since the driver was loaded (in mJ)."},
	{"DEV_GPU_UTIL", series.Busy, 100, "GPU utilization (in %)."},
	{"DEV_MEM_COPY_UTIL", series.MemoryBusy, 100, "Memory utilization (in %)."},
	{"DEV_ENC_UTIL", series.EncoderBusy, 100, "Encoder utilization (in %)."},
	{"DEV_DEC_UTIL", series.DecoderBusy, 100, "Decoder utilization (in %)."},
	{"DEV_XID_ERRORS", series.XID, 1, "Value of the last XID error."},
	{"DEV_FB_FREE", series.MemoryFree, 1.0 / mib, "Frame buffer memory free (in MiB)."},
	{"DEV_FB_USED", series.MemoryUsed, 1.0 / mib, "Frame buffer memory used (in MiB)."},
	{"DEV_FB_RESERVED", series.MemoryReserved, 1.0 / mib, "Frame buffer memory reserved (in MiB)."},
	{"PROF_SM_ACTIVE", series.SMActive, 1, "Ratio of cycles in which an SM had at least one warp."},
	{"PROF_SM_OCCUPANCY", series.SMOccupancy, 1, "Ratio of warps resident on an SM to those that could be."},
	{"PROF_PIPE_TENSOR_ACTIVE", series.TensorActive, 1, "Ratio of cycles in which the tensor pipe was active."},
	{"PROF_DRAM_ACTIVE", series.DRAMActive, 1, "Ratio of cycles in which the device memory was active."},
}

// The first of the values that stand for none: an integer of 32 or 64 bits, and a
// floating-point number (DCGM, dcgm_structs.h). What follows them says why: 1 not
// found, 2 not supported, 3 not permitted.
const (
	blank32 = 0x7ffffff0
	blank64 = float64(0x7ffffffffffffff0)
	blankF  = float64(1 << 47)
)

// Value is what DCGM means with v, in the unit of the counter.
func (m Metric) Value(v float64) series.Value {
	switch {
	case v >= blank32 && v <= blank32+15:
		return blank(v - blank32)
	case v >= blankF && v <= blankF+15:
		return blank(v - blankF)
	case v >= blank64:
		return series.Without(series.NotSupported)
	}
	return series.Of(v / m.Times)
}

func blank(why float64) series.Value {
	if why == 3 {
		return series.Without(series.NoPermission)
	}
	return series.Without(series.NotSupported)
}
