package exporter

import (
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A family is one metric: its name, meaning, labels, and how many series of it
// there are.
type family struct {
	name   string
	help   string
	kind   prometheus.ValueType
	labels []string
	per    string // what there is one series for: "GPU", "host"
	desc   *prometheus.Desc
}

func newFamily(name, help string, kind prometheus.ValueType, per string, labels ...string) *family {
	return &family{name, help, kind, labels, per, prometheus.NewDesc(name, help, labels, nil)}
}

// metric is a series of f. Labels may be anything: names of processes are bytes
// that nobody vouches for.
func (f *family) metric(v float64, labels ...string) prometheus.Metric {
	for i, l := range labels {
		if !utf8.ValidString(l) {
			labels[i] = strings.ToValidUTF8(l, "\uFFFD")
		}
	}
	return prometheus.MustNewConstMetric(f.desc, f.kind, v, labels...)
}

// Labels of the families.
var (
	gpuLabels     = []string{"gpu", "uuid"}
	useLabels     = []string{"gpu", "uuid", "pid", "name", "user", "job"}
	processLabels = []string{"pid", "name", "user", "job"}
)

// What there is one series for, in the words of the documentation.
const (
	perGPU     = "GPU or MIG instance"
	perUse     = "process on a GPU, of those shown"
	perProcess = "process shown"
	perHost    = "host"
)

// A group is the families of the counters of one scope, by place in the table of
// counters; nil for those that have another form.
type group []*family

// special are the counters that a metric of its own form stands for.
var special = map[series.Counter]bool{series.ThrottlePower: true, series.ThrottleThermal: true, series.ThrottleReasons: true}

// names are metrics whose counter's name would say something else.
var names = map[series.Counter]string{series.XID: "last_xid"}

// groupOf makes the families of a scope.
func groupOf(scope series.Scope, prefix, per string, labels []string) group {
	var g group
	for _, info := range series.Counters(scope) {
		if scope == series.ScopeDevice && special[info.Counter] {
			g = append(g, nil)
			continue
		}
		kind := prometheus.GaugeValue
		if info.Kind == series.Total {
			kind = prometheus.CounterValue
		}
		g = append(g, newFamily(prefix+metricName(info), info.Help, kind, per, labels...))
	}
	return g
}

// metricName is the name of a counter by the conventions of Prometheus: units but
// counts end it, and totals say that they are.
func metricName(info series.Info) string {
	name, ok := names[info.Counter]
	if !ok {
		name = strings.TrimSuffix(info.Name, "_"+string(series.Count))
	}
	if info.Kind == series.Total {
		name += "_total"
	}
	return name
}

// The families.
var (
	deviceFamilies  = groupOf(series.ScopeDevice, "plimsoll_gpu_", perGPU, gpuLabels)
	useFamilies     = groupOf(series.ScopeUse, "plimsoll_process_gpu_", perUse, useLabels)
	processFamilies = groupOf(series.ScopeProcess, "plimsoll_process_", perProcess, processLabels)
	hostFamilies    = groupOf(series.ScopeHost, "plimsoll_host_", perHost, nil)

	gpuInfo      = newFamily("plimsoll_gpu_info", "What a GPU is; always 1.", prometheus.GaugeValue, perGPU, "gpu", "uuid", "name", "vendor", "pci_bus_id", "minor", "mig", "parent")
	gpuProcesses = newFamily("plimsoll_gpu_processes", "Processes on the GPU.", prometheus.GaugeValue, perGPU, gpuLabels...)
	sampleStatus = newFamily("plimsoll_gpu_sample_status", "1 for what came of reading the GPU last, 0 for all else; metrics of a GPU whose status is not ok are left out.", prometheus.GaugeValue, perGPU+", times 5", "gpu", "uuid", "status")
	throttled    = newFamily("plimsoll_gpu_throttle_seconds_total", "Time for which clocks were lowered, as the driver counts it.", prometheus.CounterValue, perGPU+", times 2", "gpu", "uuid", "reason")
	clockReason  = newFamily("plimsoll_gpu_clock_reason", "1 for each reason why the clocks are what they are.", prometheus.GaugeValue, perGPU+", times 9", "gpu", "uuid", "reason")

	finding  = newFamily("plimsoll_finding", "1 for each cause named now why a GPU idles.", prometheus.GaugeValue, "GPU and cause named now", "gpu", "uuid", "cause", "confidence")
	lostTime = newFamily("plimsoll_lost_gpu_seconds_total", "Time in which no kernel ran while a process held the GPU, by the first cause named then; not-named where none was.", prometheus.CounterValue, "cause named since the exporter began", "cause")

	hostInfo  = newFamily("plimsoll_host_info", "What the host is; always 1.", prometheus.GaugeValue, perHost, "driver_version", "cuda_version")
	buildInfo = newFamily("plimsoll_build_info", "Which plimsoll this is, and what it asks; always 1.", prometheus.GaugeValue, perHost, "version", "source")
	sampleAge = newFamily("plimsoll_sample_age_seconds", "Age of the sample that the other metrics are of; they are left out once it is too old.", prometheus.GaugeValue, perHost)
	samples   = newFamily("plimsoll_samples_total", "Samples taken since the exporter began.", prometheus.CounterValue, perHost)
	problems  = newFamily("plimsoll_problems", "Things that the last sample could not read.", prometheus.GaugeValue, perHost)
)

// families are all, in the order of the documentation; dcgm's are dcgmFamilies.
func families() []*family {
	list := []*family{gpuInfo, sampleStatus, gpuProcesses, throttled, clockReason}
	for _, g := range []group{deviceFamilies, useFamilies, processFamilies, hostFamilies} {
		for _, f := range g {
			if f != nil {
				list = append(list, f)
			}
		}
	}
	return append(list, finding, lostTime, hostInfo, buildInfo, sampleAge, samples, problems)
}
