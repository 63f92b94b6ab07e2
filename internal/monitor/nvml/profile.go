//go:build cgo && linux

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A profile is what Hopper and newer GPUs count of themselves (GPM, the GPU
// performance monitor): between two samples, how much of the GPU worked.
type profile struct {
	before, now nvml.GpmSample
	taken       bool // before is filled
	missing     bool // the GPU has none
}

// profiled are the counters of a profile, in percent, by the driver's number.
var profiled = []struct {
	id nvml.GpmMetricId
	c  series.Counter
}{
	{nvml.GPM_METRIC_SM_UTIL, series.SMActive},
	{nvml.GPM_METRIC_SM_OCCUPANCY, series.SMOccupancy},
	{nvml.GPM_METRIC_ANY_TENSOR_UTIL, series.TensorActive},
	{nvml.GPM_METRIC_DRAM_BW_UTIL, series.DRAMActive},
	// Last, as it is for instances only: whole GPUs have a counter for it.
	{nvml.GPM_METRIC_GRAPHICS_UTIL, series.Busy},
}

// wholeGPU stands for no instance.
const wholeGPU = -1

// read reads what happened since it was last read, on dev or on an instance of it.
// The first time there is nothing to compare with, and values stay as they are.
func (p *profile) read(w *worker, dev nvml.Device, instance int, vs *series.Values) {
	counters := profiled
	if instance == wholeGPU {
		counters = profiled[:len(profiled)-1]
	}
	c := p.sample(w, dev, instance)
	if c == monitor.CodeOK && p.taken {
		var get nvml.GpmMetricsGetType
		get.NumMetrics, get.Sample1, get.Sample2 = uint32(len(counters)), p.before, p.now
		for i, row := range counters {
			get.Metrics[i].MetricId = uint32(row.id)
		}
		c = w.call("nvmlGpmMetricsGet", func() nvml.Return { return w.s.lib.GpmMetricsGet(&get) })
		if c == monitor.CodeOK {
			for i, row := range counters {
				m := get.Metrics[i]
				if one := code(nvml.Return(m.NvmlReturn)); one != monitor.CodeOK {
					vs.Set(row.c, series.Without(one.Status()))
					continue
				}
				vs.Set(row.c, series.Of(min(m.Value/percent, 1)))
			}
		}
	}
	if c != monitor.CodeOK {
		for _, row := range counters {
			vs.Set(row.c, series.Without(c.Status()))
		}
		p.taken = false
		return
	}
	p.before, p.now, p.taken = p.now, p.before, true
}

// sample fills p.now. A GPU without a profile is asked once.
func (p *profile) sample(w *worker, dev nvml.Device, instance int) monitor.DriverCode {
	if p.missing {
		return monitor.CodeNotSupported
	}
	if p.now == nil {
		if c := p.begin(w, dev); c != monitor.CodeOK {
			p.missing = c.Status() == series.NotSupported
			return c
		}
	}
	if instance == wholeGPU {
		return w.call("nvmlGpmSampleGet", func() nvml.Return { return p.now.Get(dev) })
	}
	return w.call("nvmlGpmMigSampleGet", func() nvml.Return { return p.now.MigGet(dev, instance) })
}

// begin asks whether the GPU has a profile, and makes room for two samples.
func (p *profile) begin(w *worker, dev nvml.Device) monitor.DriverCode {
	var support nvml.GpmSupport
	c := w.call("nvmlGpmQueryDeviceSupport", func() (ret nvml.Return) { support, ret = dev.GpmQueryDeviceSupport(); return ret })
	if c == monitor.CodeOK && support.IsSupportedDevice == 0 {
		c = monitor.CodeNotSupported
	}
	for _, needed := range []string{"nvmlGpmSampleGet", "nvmlGpmMetricsGet"} {
		if c == monitor.CodeOK && !w.s.lib.has(needed) {
			c = monitor.CodeNoFunction
		}
	}
	for _, s := range []*nvml.GpmSample{&p.before, &p.now} {
		if c == monitor.CodeOK {
			c = w.call("nvmlGpmSampleAlloc", func() (ret nvml.Return) { *s, ret = w.s.lib.GpmSampleAlloc(); return ret })
		}
	}
	if c != monitor.CodeOK {
		p.before, p.now = nil, nil
	}
	return c
}
