//go:build cgo && linux

package nvml

import (
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A gpu is what a worker knows of its GPU.
type gpu struct {
	dev     nvml.Device
	known   bool // dev is a handle
	named   bool // identity is read
	mig     bool // it is cut into instances
	self    series.Device
	values  series.Values // as last read
	rows    []int         // of rows, that are asked
	skip    []int         // by row of the tables: the read before which it is not asked again
	reads   int
	sparing bool
	seen    uint64           // time of the last sample of processes
	busy    map[uint32]sum   // what was read of them last
	samples []moment         // room for it
	room    []busy           // the same, as the driver writes it
	entries []entry          // for lists of them
	lists   bool             // this read lists processes
	uses    []pidUse         // as last told
	refused []series.Problem // the problems with that
	found   []pidUse         // room for those that are found
	numbers series.Values    // and for their values

	profile   profile
	instances map[int]*profile // by number of the instance
}

// A pace is at which reads a row is asked: at each, what changes with the work of the
// moment; often, what says the same for some seconds, or is of all the time since it
// was asked; at some, what changes with the kind of work, and sums, whose growth is of
// interest and not lost; at few, what follows slowly, or belongs to other work than
// training; rarely, what somebody sets or what breaks. Each call enters the driver, and
// most take a lock of the GPU.
type pace int

// The paces.
const (
	eachRead pace = iota
	oftenRead
	someReads
	slowReads
	fewReads
)

// paces are how many reads pass from one time to the next: for who records, and for
// who looks on for hours.
var paces = [...]struct{ full, sparing int }{
	eachRead: {1, 1}, oftenRead: {1, 2}, someReads: {4, 8}, slowReads: {8, 16}, fewReads: {32, 64},
}

// missingReads is for how many reads what the GPU does not have is left alone.
const missingReads = 64

// A row is a call that gives one number. Of rows with one counter the first whose
// function the library has counts.
type row struct {
	symbol string
	c      series.Counter
	every  pace
	read   func(d nvml.Device) (float64, nvml.Return)
}

// of makes a row's function of a call that returns a number, and how many of its
// units are one of ours.
func of[N int | uint32 | uint64](f func(d nvml.Device) (N, nvml.Return), per float64) func(nvml.Device) (float64, nvml.Return) {
	return func(d nvml.Device) (float64, nvml.Return) {
		n, ret := f(d)
		return float64(n) / per, ret
	}
}

const (
	percent     = 100
	milli       = 1000
	nanoseconds = 1e9
	megahertz   = 1e6
)

func clock(t nvml.ClockType) func(nvml.Device) (float64, nvml.Return) {
	return func(d nvml.Device) (float64, nvml.Return) {
		v, ret := d.GetClockInfo(t)
		return float64(v) * megahertz, ret
	}
}

func maxClock(t nvml.ClockType) func(nvml.Device) (float64, nvml.Return) {
	return func(d nvml.Device) (float64, nvml.Return) {
		v, ret := d.GetMaxClockInfo(t)
		return float64(v) * megahertz, ret
	}
}

func violation(p nvml.PerfPolicyType) func(nvml.Device) (uint64, nvml.Return) {
	return func(d nvml.Device) (uint64, nvml.Return) {
		v, ret := d.GetViolationStatus(p)
		return v.ViolationTime, ret
	}
}

// rows are the calls for a GPU. A lost GPU is found by the first.
var rows = []row{
	{"nvmlDeviceGetPowerUsage", series.Power, eachRead, of(nvml.Device.GetPowerUsage, milli)},
	{"nvmlDeviceGetEnforcedPowerLimit", series.PowerLimit, fewReads, of(nvml.Device.GetEnforcedPowerLimit, milli)},
	{"nvmlDeviceGetTotalEnergyConsumption", series.Energy, someReads, of(nvml.Device.GetTotalEnergyConsumption, milli)},
	{"nvmlDeviceGetTemperature", series.Temperature, oftenRead, of(func(d nvml.Device) (uint32, nvml.Return) { return d.GetTemperature(nvml.TEMPERATURE_GPU) }, 1)},
	{"nvmlDeviceGetTemperatureV", series.Temperature, oftenRead, func(d nvml.Device) (float64, nvml.Return) {
		t, ret := d.GetTemperatureV().V1()
		return float64(t.Temperature), ret
	}},
	{"nvmlDeviceGetTemperatureThreshold", series.TemperatureLimit, fewReads, of(func(d nvml.Device) (uint32, nvml.Return) {
		return d.GetTemperatureThreshold(nvml.TEMPERATURE_THRESHOLD_SLOWDOWN)
	}, 1)},
	{"nvmlDeviceGetFanSpeed", series.Fan, slowReads, of(nvml.Device.GetFanSpeed, percent)},
	{"nvmlDeviceGetClockInfo", series.ClockSM, oftenRead, clock(nvml.CLOCK_SM)},
	{"nvmlDeviceGetMaxClockInfo", series.ClockSMMax, fewReads, maxClock(nvml.CLOCK_SM)},
	{"nvmlDeviceGetClockInfo", series.ClockMemory, someReads, clock(nvml.CLOCK_MEM)},
	{"nvmlDeviceGetMaxClockInfo", series.ClockMemoryMax, fewReads, maxClock(nvml.CLOCK_MEM)},
	{"nvmlDeviceGetCurrentClocksEventReasons", series.ThrottleReasons, oftenRead, of(nvml.Device.GetCurrentClocksEventReasons, 1)},
	{"nvmlDeviceGetCurrentClocksThrottleReasons", series.ThrottleReasons, oftenRead, of(nvml.Device.GetCurrentClocksThrottleReasons, 1)},
	{"nvmlDeviceGetViolationStatus", series.ThrottlePower, someReads, of(violation(nvml.PERF_POLICY_POWER), nanoseconds)},
	{"nvmlDeviceGetViolationStatus", series.ThrottleThermal, someReads, of(violation(nvml.PERF_POLICY_THERMAL), nanoseconds)},
	{"nvmlDeviceGetPerformanceState", series.PerformanceState, someReads, func(d nvml.Device) (float64, nvml.Return) {
		p, ret := d.GetPerformanceState()
		if ret == nvml.SUCCESS && p > nvml.PSTATE_15 {
			ret = nvml.ERROR_NOT_SUPPORTED // 32 stands for unknown
		}
		return float64(p), ret
	}},
	{"nvmlDeviceGetCurrPcieLinkGeneration", series.PCIeGeneration, slowReads, of(nvml.Device.GetCurrPcieLinkGeneration, 1)},
	{"nvmlDeviceGetMaxPcieLinkGeneration", series.PCIeGenerationMax, fewReads, of(nvml.Device.GetMaxPcieLinkGeneration, 1)},
	{"nvmlDeviceGetCurrPcieLinkWidth", series.PCIeWidth, slowReads, of(nvml.Device.GetCurrPcieLinkWidth, 1)},
	{"nvmlDeviceGetMaxPcieLinkWidth", series.PCIeWidthMax, fewReads, of(nvml.Device.GetMaxPcieLinkWidth, 1)},
	{"nvmlDeviceGetEncoderUtilization", series.EncoderBusy, slowReads, func(d nvml.Device) (float64, nvml.Return) {
		u, _, ret := d.GetEncoderUtilization()
		return float64(u) / percent, ret
	}},
	{"nvmlDeviceGetDecoderUtilization", series.DecoderBusy, slowReads, func(d nvml.Device) (float64, nvml.Return) {
		u, _, ret := d.GetDecoderUtilization()
		return float64(u) / percent, ret
	}},
	{"nvmlDeviceGetTotalEccErrors", series.ECCUncorrected, fewReads, of(func(d nvml.Device) (uint64, nvml.Return) {
		return d.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC)
	}, 1)},
	{"nvmlDeviceGetRemappedRows", series.RemappedRows, fewReads, func(d nvml.Device) (float64, nvml.Return) {
		_, uncorrected, _, _, ret := d.GetRemappedRows()
		return float64(uncorrected), ret
	}},
}

// read reads everything of the GPU. It runs in the worker's goroutine.
func (g *gpu) read(w *worker) answer {
	g.reads++
	if !g.known {
		c := w.call("nvmlDeviceGetHandleByIndex", func() (ret nvml.Return) {
			g.dev, ret = w.s.lib.DeviceGetHandleByIndex(w.index)
			return ret
		})
		if c != monitor.CodeOK {
			return g.failed(w, c)
		}
		g.known = true
	}
	if !g.named {
		g.identify(w)
	}
	d := g.self
	d.Status = series.OK
	a := answer{}
	if c := g.readValues(w, &a); c == monitor.CodeLost || c == monitor.CodeGone || c == monitor.CodeResetRequired {
		return g.failed(w, c)
	}
	g.profile.read(w, g.dev, wholeGPU, &g.values)
	g.readMIG(w)
	if g.lists = g.reads >= g.skip[usesRow]; g.lists {
		g.skip[usesRow] = g.next(usesRow, oftenRead)
		g.found, g.numbers, g.refused = g.found[:0], g.numbers[:0], nil
	}
	if g.mig {
		d.MIG = "on"
		g.values.Set(series.Busy, series.Without(series.NotSupported))
		g.values.Set(series.MemoryBusy, series.Without(series.NotSupported))
	}
	d.Values = append(series.Values(nil), g.values...)
	a.devices = []series.Device{d}
	if g.mig {
		g.readInstances(w, d, &a)
	} else {
		g.readProcesses(w, g.dev, d.ID)
	}
	if g.lists {
		g.tell()
	}
	a.uses, a.problems = g.uses, append(a.problems, g.refused...)
	return a
}

// failed is the answer of a GPU that cannot be read at all.
func (g *gpu) failed(w *worker, c monitor.DriverCode) answer {
	d := g.self
	if !g.named {
		d = unnamed(w.index)
	}
	// A GPU that comes back has another handle.
	g.known, g.skip, g.profile.taken, g.instances = false, nil, false, nil
	u := c.Unavailable(name)
	d.Status, d.Problem = c.Status(), u.Msg
	d.Values = monitor.WithoutAll(series.ScopeDevice, c.Status())
	what := fmt.Sprintf("GPU %d: %s", w.index, u.Msg)
	if u.Hint != "" {
		what += "; " + u.Hint
	}
	return answer{devices: []series.Device{d}, problems: []series.Problem{{Source: name, Status: c.Status(), What: what}}}
}

// identify reads what a GPU is.
func (g *gpu) identify(w *worker) {
	d := unnamed(w.index)
	w.call("nvmlDeviceGetName", func() (ret nvml.Return) { d.Name, ret = g.dev.GetName(); return ret })
	var pci nvml.PciInfo
	if w.call("nvmlDeviceGetPciInfo", func() (ret nvml.Return) { pci, ret = g.dev.GetPciInfo(); return ret }) == monitor.CodeOK {
		d.PCI = fmt.Sprintf("%04x:%02x:%02x.0", pci.Domain, pci.Bus, pci.Device)
		d.ID = "pci:" + d.PCI
	}
	var minor int
	if w.call("nvmlDeviceGetMinorNumber", func() (ret nvml.Return) { minor, ret = g.dev.GetMinorNumber(); return ret }) == monitor.CodeOK {
		d.Minor = minor
	}
	var uuid string
	if w.call("nvmlDeviceGetUUID", func() (ret nvml.Return) { uuid, ret = g.dev.GetUUID(); return ret }) == monitor.CodeOK && uuid != "" {
		d.ID = uuid
		g.named = true // without it, ask again
	}
	g.self = d
}

// readValues reads all counters of the GPU. It returns the first code that says
// the GPU is not there.
func (g *gpu) readValues(w *worker, a *answer) monitor.DriverCode {
	if g.skip == nil {
		g.skip, g.values = make([]int, allRows), nil
		g.chooseRows(w.s.lib)
	}
	for _, i := range g.rows {
		r := &rows[i]
		if g.reads < g.skip[i] && (!throttled[r.c] || !g.isThrottled()) {
			continue
		}
		var v float64
		c := w.make(r.symbol, func() (ret nvml.Return) { v, ret = r.read(g.dev); return ret })
		switch c.Status() {
		case series.OK:
			g.values.Set(r.c, series.Of(v))
			g.skip[i] = g.next(i, r.every)
			continue
		case series.NotSupported:
			g.skip[i] = g.reads + missingReads
		}
		if c == monitor.CodeLost || c == monitor.CodeGone || c == monitor.CodeResetRequired {
			return c
		}
		g.values.Set(r.c, series.Without(c.Status()))
	}
	g.readUtilization(w)
	g.readLinks(w)
	return g.readMemory(w, g.dev, &g.values, a)
}

// chooseRows takes of the rows of each counter the first that the library has.
func (g *gpu) chooseRows(lib *library) {
	g.rows = nil
	has := map[series.Counter]bool{}
	for i, r := range rows {
		if !has[r.c] && lib.has(r.symbol) {
			has[r.c] = true
			g.rows = append(g.rows, i)
		}
	}
	for _, r := range rows {
		if !has[r.c] {
			g.values.Set(r.c, series.Without(series.NotSupported))
		}
	}
}

// throttled are the sums of time with lowered clocks. They grow while the driver gives
// a reason for that, and are asked for at each read then.
var throttled = map[series.Counter]bool{series.ThrottlePower: true, series.ThrottleThermal: true}

func (g *gpu) isThrottled() bool {
	reasons, ok := g.values.Get(series.ThrottleReasons).Get()
	return !ok || series.ThrottleReason(reasons)&^series.GPUIdle != 0
}

// next is the read at which a row is asked again. Rows that were first asked together
// spread over the reads.
func (g *gpu) next(row int, p pace) int {
	every := paces[p].full
	if g.sparing {
		every = paces[p].sparing
	}
	return g.reads + every - (g.reads+row)%every
}

func (g *gpu) readUtilization(w *worker) {
	var u nvml.Utilization
	c := w.call("nvmlDeviceGetUtilizationRates", func() (ret nvml.Return) { u, ret = g.dev.GetUtilizationRates(); return ret })
	set(&g.values, c, series.Busy, float64(u.Gpu)/percent, series.MemoryBusy, float64(u.Memory)/percent)
}

// set sets two values that one call gives.
func set(vs *series.Values, c monitor.DriverCode, first series.Counter, one float64, second series.Counter, two float64) {
	if c != monitor.CodeOK {
		vs.Set(first, series.Without(c.Status()))
		vs.Set(second, series.Without(c.Status()))
		return
	}
	vs.Set(first, series.Of(one))
	vs.Set(second, series.Of(two))
}

// Row numbers in skip of what is in no table, after those of rows.
var (
	linksRow = len(rows)
	migRow   = linksRow + 1
	usesRow  = migRow + 1
	busyRow  = usesRow + 1 // and those after it, one for each of busyCalls
	listsRow = busyRow + len(busyCalls)
	allRows  = listsRow + len(lists)
)

// allLinks makes a field of NVLink the sum of all links.
const allLinks = 0xffffffff

// readLinks reads what went over NVLink, in KiB.
func (g *gpu) readLinks(w *worker) {
	if g.reads < g.skip[linksRow] {
		return
	}
	fields := []nvml.FieldValue{
		{FieldId: nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ScopeId: allLinks},
		{FieldId: nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_RX, ScopeId: allLinks},
	}
	c := w.call("nvmlDeviceGetFieldValues", func() nvml.Return { return g.dev.GetFieldValues(fields) })
	if c == monitor.CodeOK {
		c = code(nvml.Return(fields[0].NvmlReturn))
	}
	if c.Status() == series.NotSupported {
		g.skip[linksRow] = g.reads + missingReads
	}
	const kib = 1024
	set(&g.values, c, series.NVLinkSent, fieldNumber(fields[0])*kib, series.NVLinkReceived, fieldNumber(fields[1])*kib)
}

// readMemory reads the memory of a GPU or an instance. The first version of the
// call counts as used what the driver reserves, the second tells them apart.
func (g *gpu) readMemory(w *worker, dev nvml.Device, vs *series.Values, a *answer) monitor.DriverCode {
	var two nvml.Memory_v2
	c := w.callExact("nvmlDeviceGetMemoryInfo_v2", func() (ret nvml.Return) { two, ret = dev.GetMemoryInfo_v2(); return ret })
	if c == monitor.CodeOK {
		set(vs, c, series.MemoryTotal, float64(two.Total), series.MemoryUsed, float64(two.Used))
		set(vs, c, series.MemoryReserved, float64(two.Reserved), series.MemoryFree, float64(two.Free))
		return c
	}
	var one nvml.Memory
	if c == monitor.CodeNoFunction || c == monitor.CodeStructVersion {
		c = w.callExact("nvmlDeviceGetMemoryInfo", func() (ret nvml.Return) { one, ret = dev.GetMemoryInfo(); return ret })
	}
	set(vs, c, series.MemoryTotal, float64(one.Total), series.MemoryUsed, float64(one.Used))
	vs.Set(series.MemoryFree, series.Of(float64(one.Free)))
	vs.Set(series.MemoryReserved, series.Without(series.NotSupported))
	if c != monitor.CodeOK {
		vs.Set(series.MemoryFree, series.Without(c.Status()))
		vs.Set(series.MemoryReserved, series.Without(c.Status()))
	}
	if c == monitor.CodeNotSupported {
		a.unified = true
	}
	return c
}

// readMIG reads whether the GPU is cut into instances, which changes when it is reset
// at the earliest.
func (g *gpu) readMIG(w *worker) {
	if g.reads < g.skip[migRow] {
		return
	}
	g.skip[migRow] = g.next(migRow, someReads)
	current := 0
	c := w.call("nvmlDeviceGetMigMode", func() (ret nvml.Return) { current, _, ret = g.dev.GetMigMode(); return ret })
	g.mig = c == monitor.CodeOK && current == nvml.DEVICE_MIG_ENABLE
}

// readInstances reads the instances of a GPU that is cut, and the processes in
// them. Of an instance only its memory is known.
func (g *gpu) readInstances(w *worker, parent series.Device, a *answer) {
	most := 0
	w.call("nvmlDeviceGetMaxMigDeviceCount", func() (ret nvml.Return) { most, ret = g.dev.GetMaxMigDeviceCount(); return ret })
	for i := range most {
		var dev nvml.Device
		if w.call("nvmlDeviceGetMigDeviceHandleByIndex", func() (ret nvml.Return) { dev, ret = g.dev.GetMigDeviceHandleByIndex(i); return ret }) != monitor.CodeOK {
			continue
		}
		d := series.Device{
			ID: fmt.Sprintf("%s/%d", parent.ID, i), Index: i, Parent: parent.ID, Vendor: parent.Vendor, PCI: parent.PCI, Minor: parent.Minor,
			Status: series.OK, Values: monitor.WithoutAll(series.ScopeDevice, series.NotSupported),
		}
		w.call("nvmlDeviceGetName", func() (ret nvml.Return) { d.Name, ret = dev.GetName(); return ret })
		if _, profile, ok := strings.Cut(d.Name, "MIG "); ok {
			d.MIG = profile
		}
		var uuid string
		if w.call("nvmlDeviceGetUUID", func() (ret nvml.Return) { uuid, ret = dev.GetUUID(); return ret }) == monitor.CodeOK {
			d.ID = uuid
		}
		g.readMemory(w, dev, &d.Values, &answer{})
		number := 0
		if w.call("nvmlDeviceGetGpuInstanceId", func() (ret nvml.Return) { number, ret = dev.GetGpuInstanceId(); return ret }) == monitor.CodeOK {
			g.profileOf(number).read(w, g.dev, number, &d.Values)
		}
		a.devices = append(a.devices, d)
		g.readProcesses(w, dev, d.ID)
	}
}

// profileOf is the profile of an instance.
func (g *gpu) profileOf(number int) *profile {
	if g.instances == nil {
		g.instances = map[int]*profile{}
	}
	if g.instances[number] == nil {
		g.instances[number] = &profile{}
	}
	return g.instances[number]
}
