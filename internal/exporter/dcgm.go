package exporter

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plimsoll-dev/plimsoll/internal/dcgm"
	"github.com/plimsoll-dev/plimsoll/series"
)

// dcgmLabels are the labels that dcgm-exporter gives its metrics of a GPU.
var dcgmLabels = []string{"gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION", "GPU_I_PROFILE"}

// dcgmFamilies are the metrics of dcgm-exporter, by place in dcgm.Metrics. All are
// gauges here: as a counter the energy would be renamed in OpenMetrics, and boards
// would not find it.
var dcgmFamilies = func() []*family {
	var list []*family
	for _, m := range dcgm.Metrics {
		list = append(list, newFamily(dcgm.Prefix+m.Name, m.Help, prometheus.GaugeValue, "NVIDIA "+perGPU+", with --dcgm-names", dcgmLabels...))
	}
	return list
}()

// collectDCGM sends the metrics of a device under dcgm-exporter's names.
func collectDCGM(ch chan<- prometheus.Metric, s *series.Sample, d *series.Device, gpu string) {
	profile := d.MIG
	if d.Parent == "" {
		profile = ""
	}
	labels := []string{gpu, d.ID, d.PCI, fmt.Sprintf("nvidia%d", d.Index), d.Name, s.Host.Name, s.Host.Driver, profile}
	for i, m := range dcgm.Metrics {
		if v, ok := d.Values.Get(m.Counter).Get(); ok {
			ch <- dcgmFamilies[i].metric(v*m.Times, labels...)
		}
	}
}
