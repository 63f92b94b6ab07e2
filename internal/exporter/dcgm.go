package exporter

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plimsoll-dev/plimsoll/series"
)

// dcgmLabels are the labels that dcgm-exporter gives its metrics of a GPU.
var dcgmLabels = []string{"gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION", "GPU_I_PROFILE"}

// A dcgmRow is a metric of dcgm-exporter that means what a counter of ours means,
// in another unit.
type dcgmRow struct {
	*family
	counter series.Counter
	times   float64
}

func dcgm(name string, c series.Counter, times float64, help string) dcgmRow {
	// All are gauges here: as a counter the energy would be renamed in OpenMetrics,
	// and boards would not find it.
	return dcgmRow{newFamily("DCGM_FI_"+name, help, prometheus.GaugeValue, "NVIDIA "+perGPU+", with --dcgm-names", dcgmLabels...), c, times}
}

const mib = 1 << 20

// dcgmRows are the names and units of NVIDIA/dcgm-exporter
// (etc/default-counters.csv). Its PCIe and NVLink rates, violations and ECC counts
// are counted another way and are not here.
var dcgmRows = []dcgmRow{
	dcgm("DEV_SM_CLOCK", series.ClockSM, 1e-6, "SM clock frequency (in MHz)."),
	dcgm("DEV_MEM_CLOCK", series.ClockMemory, 1e-6, "Memory clock frequency (in MHz)."),
	dcgm("DEV_GPU_TEMP", series.Temperature, 1, "GPU temperature (in C)."),
	dcgm("DEV_POWER_USAGE", series.Power, 1, "Power draw (in W)."),
	dcgm("DEV_TOTAL_ENERGY_CONSUMPTION", series.Energy, 1e3, "Total energy since the driver was loaded (in mJ)."),
	dcgm("DEV_GPU_UTIL", series.Busy, 100, "GPU utilization (in %)."),
	dcgm("DEV_MEM_COPY_UTIL", series.MemoryBusy, 100, "Memory utilization (in %)."),
	dcgm("DEV_ENC_UTIL", series.EncoderBusy, 100, "Encoder utilization (in %)."),
	dcgm("DEV_DEC_UTIL", series.DecoderBusy, 100, "Decoder utilization (in %)."),
	dcgm("DEV_XID_ERRORS", series.XID, 1, "Value of the last XID error."),
	dcgm("DEV_FB_FREE", series.MemoryFree, 1.0/mib, "Frame buffer memory free (in MiB)."),
	dcgm("DEV_FB_USED", series.MemoryUsed, 1.0/mib, "Frame buffer memory used (in MiB)."),
	dcgm("DEV_FB_RESERVED", series.MemoryReserved, 1.0/mib, "Frame buffer memory reserved (in MiB)."),
	dcgm("PROF_SM_ACTIVE", series.SMActive, 1, "Ratio of cycles in which an SM had at least one warp."),
	dcgm("PROF_SM_OCCUPANCY", series.SMOccupancy, 1, "Ratio of warps resident on an SM to those that could be."),
	dcgm("PROF_PIPE_TENSOR_ACTIVE", series.TensorActive, 1, "Ratio of cycles in which the tensor pipe was active."),
	dcgm("PROF_DRAM_ACTIVE", series.DRAMActive, 1, "Ratio of cycles in which the device memory was active."),
}

// collectDCGM sends the metrics of a device under dcgm-exporter's names.
func collectDCGM(ch chan<- prometheus.Metric, s *series.Sample, d *series.Device, gpu string) {
	profile := d.MIG
	if d.Parent == "" {
		profile = ""
	}
	labels := []string{gpu, d.ID, d.PCI, fmt.Sprintf("nvidia%d", d.Index), d.Name, s.Host.Name, s.Host.Driver, profile}
	for _, row := range dcgmRows {
		if v, ok := d.Values.Get(row.counter).Get(); ok {
			ch <- row.metric(v*row.times, labels...)
		}
	}
}
