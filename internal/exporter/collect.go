package exporter

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plimsoll-dev/plimsoll/series"
)

// Describe names the metrics.
func (e *Exporter) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range families() {
		ch <- f.desc
	}
	if e.o.DCGM {
		for _, f := range dcgmFamilies {
			ch <- f.desc
		}
	}
}

// Collect sends the metrics of the newest sample.
func (e *Exporter) Collect(ch chan<- prometheus.Metric) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	ch <- buildInfo.metric(1, e.o.Version, e.o.Source)
	ch <- samples.metric(e.count)
	for cause, seconds := range e.lost {
		ch <- lostTime.metric(seconds, cause)
	}
	if e.sample == nil {
		return
	}
	ch <- sampleAge.metric(e.o.Now().Sub(e.at).Seconds())
	if !e.fresh() {
		return
	}
	s := e.sample
	ch <- problems.metric(float64(len(s.Problems)))
	ch <- hostInfo.metric(1, s.Host.Driver, s.Host.CUDA)
	hostFamilies.collect(ch, s.Host.Values)
	holders, numbers := holdersOf(s), gpuNumbers(s)
	seen := map[string]bool{}
	for i := range s.Devices {
		if seen[s.Devices[i].ID] {
			continue // two series of one name would fail the scrape
		}
		seen[s.Devices[i].ID] = true
		e.collectDevice(ch, s, &s.Devices[i], numbers[s.Devices[i].ID], holders)
	}
	for i := range s.Devices {
		if s.Devices[i].Status != series.OK {
			delete(numbers, s.Devices[i].ID) // what is said of its processes is not fresh either
		}
	}
	e.collectProcesses(ch, s, numbers)
}

// collect sends the values that are known.
func (g group) collect(ch chan<- prometheus.Metric, vs series.Values, labels ...string) {
	for i, f := range g {
		if f == nil || i >= len(vs) {
			continue
		}
		if v, ok := vs[i].Get(); ok {
			ch <- f.metric(v, labels...)
		}
	}
}

// gpuNumbers are what devices are called, by ID: the index, of a MIG instance behind
// that of its GPU.
func gpuNumbers(s *series.Sample) map[string]string {
	names := make(map[string]string, len(s.Devices))
	for i := range s.Devices {
		if d := &s.Devices[i]; d.Parent == "" {
			names[d.ID] = strconv.Itoa(d.Index)
		}
	}
	for i := range s.Devices {
		if d := &s.Devices[i]; d.Parent != "" {
			names[d.ID] = names[d.Parent] + ":" + strconv.Itoa(d.Index)
		}
	}
	return names
}

// statuses are those that a device can have.
var statuses = []series.Status{series.OK, series.NoPermission, series.Stuck, series.Lost, series.Failed}

func (e *Exporter) collectDevice(ch chan<- prometheus.Metric, s *series.Sample, d *series.Device, gpu string, holders map[string]int) {
	minor := ""
	if d.Minor >= 0 {
		minor = strconv.Itoa(d.Minor)
	}
	ch <- gpuInfo.metric(1, gpu, d.ID, d.Name, d.Vendor, d.PCI, minor, d.MIG, d.Parent)
	for _, status := range statuses {
		ch <- sampleStatus.metric(flag(status == d.Status), gpu, d.ID, status.String())
	}
	if d.Status != series.OK {
		return
	}
	deviceFamilies.collect(ch, d.Values, gpu, d.ID)
	ch <- gpuProcesses.metric(float64(holders[d.ID]), gpu, d.ID)
	if v, ok := d.Values.Get(series.ThrottlePower).Get(); ok {
		ch <- throttled.metric(v, gpu, d.ID, "power")
	}
	if v, ok := d.Values.Get(series.ThrottleThermal).Get(); ok {
		ch <- throttled.metric(v, gpu, d.ID, "thermal")
	}
	if v, ok := d.Values.Get(series.ThrottleReasons).Get(); ok {
		for _, r := range series.NamedReasons() {
			ch <- clockReason.metric(flag(series.ThrottleReason(v)&r.Reason != 0), gpu, d.ID, r.Name)
		}
	}
	for _, f := range e.judged[d.ID].Idle.Findings {
		ch <- finding.metric(1, gpu, d.ID, f.Cause, string(f.Confidence))
	}
	if e.o.DCGM && d.Vendor == "nvidia" {
		collectDCGM(ch, s, d, gpu)
	}
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// collectProcesses sends the processes that hold most memory.
func (e *Exporter) collectProcesses(ch chan<- prometheus.Metric, s *series.Sample, numbers map[string]string) {
	if e.o.Processes <= 0 {
		return
	}
	var list []*series.Process
	for i := range s.Processes {
		if len(s.Processes[i].Uses) > 0 {
			list = append(list, &s.Processes[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *series.Process) int {
		return int(min(max(held(b)-held(a), -1), 1))
	})
	seen := map[int]bool{}
	for _, p := range list[:min(len(list), e.o.Processes)] {
		if seen[p.PID] {
			continue // a PID that was given anew between two readings
		}
		seen[p.PID] = true
		pid := strconv.Itoa(p.PID)
		processFamilies.collect(ch, p.Values, pid, p.Name, p.User, p.Job)
		devices := map[string]bool{}
		for i := range p.Uses {
			u := &p.Uses[i]
			if number, known := numbers[u.Device]; known && !devices[u.Device] {
				devices[u.Device] = true // compute and graphics are one process
				useFamilies.collect(ch, u.Values, number, u.Device, pid, p.Name, p.User, p.Job)
			}
		}
	}
}

// held is the memory that a process holds on all devices.
func held(p *series.Process) float64 {
	sum := 0.0
	for i := range p.Uses {
		v, _ := p.Uses[i].Values.Get(series.UseMemory).Get()
		sum += v
	}
	return sum
}
