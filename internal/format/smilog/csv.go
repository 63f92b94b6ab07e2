package smilog

import (
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A role is what a column of a query is; counters are in fields.
type role uint8

const (
	ignored role = iota
	counter
	timestamp
	index
	uuid
	name
	pci
	driver
	mig
	pstate
	reasonBit
	pid
	processName
)

// A queryField is a field of --query-gpu or --query-compute-apps (nvidia-smi
// --help-query-gpu, --help-query-compute-apps).
type queryField struct {
	role role
	c    series.Counter
	unit string // of a number that has none, as with nounits
	bit  series.ThrottleReason
}

// queryFields are those that are read, by name. An older name stands beside the
// newer one.
var queryFields = map[string]queryField{
	"timestamp": {role: timestamp}, "time": {role: timestamp}, "date": {role: timestamp},
	"index": {role: index}, "gpu_index": {role: index}, "uuid": {role: uuid}, "gpu_uuid": {role: uuid},
	"name": {role: name}, "gpu_name": {role: name}, "pci.bus_id": {role: pci}, "gpu_bus_id": {role: pci}, "pci.bus_id.": {role: pci},
	"driver_version": {role: driver}, "mig.mode.current": {role: mig}, "pstate": {role: pstate},

	"utilization.gpu": {counter, series.Busy, "%", 0}, "utilization.memory": {counter, series.MemoryBusy, "%", 0},
	"utilization.encoder": {counter, series.EncoderBusy, "%", 0}, "utilization.decoder": {counter, series.DecoderBusy, "%", 0},
	"memory.total": {counter, series.MemoryTotal, "MiB", 0}, "memory.used": {counter, series.MemoryUsed, "MiB", 0},
	"memory.free": {counter, series.MemoryFree, "MiB", 0}, "memory.reserved": {counter, series.MemoryReserved, "MiB", 0},
	"power.draw": {counter, series.Power, "W", 0}, "power.draw.average": {counter, series.Power, "W", 0}, "power.draw.instant": {counter, series.Power, "W", 0},
	"power.limit": {counter, series.PowerLimit, "W", 0}, "enforced.power.limit": {counter, series.PowerLimit, "W", 0},
	"temperature.gpu": {counter, series.Temperature, "C", 0}, "fan.speed": {counter, series.Fan, "%", 0},
	"clocks.sm": {counter, series.ClockSM, "MHz", 0}, "clocks.current.sm": {counter, series.ClockSM, "MHz", 0},
	"clocks.mem": {counter, series.ClockMemory, "MHz", 0}, "clocks.current.memory": {counter, series.ClockMemory, "MHz", 0},
	"clocks.max.sm": {counter, series.ClockSMMax, "MHz", 0}, "clocks.max.memory": {counter, series.ClockMemoryMax, "MHz", 0}, "clocks.max.mem": {counter, series.ClockMemoryMax, "MHz", 0},
	"pcie.link.gen.current": {counter, series.PCIeGeneration, "", 0}, "pcie.link.gen.gpucurrent": {counter, series.PCIeGeneration, "", 0}, "pcie.link.gen.max": {counter, series.PCIeGenerationMax, "", 0},
	"pcie.link.width.current": {counter, series.PCIeWidth, "", 0}, "pcie.link.width.max": {counter, series.PCIeWidthMax, "", 0},
	"clocks_event_reasons.active": {counter, series.ThrottleReasons, "", 0}, "clocks_throttle_reasons.active": {counter, series.ThrottleReasons, "", 0},
	"ecc.errors.uncorrected.aggregate.total": {counter, series.ECCUncorrected, "", 0},

	"pid": {role: pid}, "process_name": {role: processName}, "used_memory": {counter, series.UseMemory, "MiB", 0}, "used_gpu_memory": {counter, series.UseMemory, "MiB", 0},
}

// fieldOf is the field that a cell of a header names.
func fieldOf(head string) queryField {
	text, unit, _ := strings.Cut(strings.Trim(strings.ToLower(strings.TrimSpace(head)), `"`), "[")
	text = strings.TrimSpace(text)
	f, ok := queryFields[text]
	if !ok {
		for _, prefix := range []string{"clocks_event_reasons.", "clocks_throttle_reasons."} {
			if rest, is := strings.CutPrefix(text, prefix); is && series.ReasonNamed(rest) != 0 {
				return queryField{role: reasonBit, bit: series.ReasonNamed(rest)}
			}
		}
		return queryField{}
	}
	if unit = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(unit), "]")); unit != "" {
		f.unit = unit
	}
	return f
}

// separators of cells, those first that hold others.
var separators = []string{"\t", ";", ", ", ","}

// isHeader reports whether a line names fields, and how it parts them.
func isHeader(line string) (string, bool) {
	for _, sep := range separators {
		if !strings.Contains(line, sep) {
			continue
		}
		known, n := 0, 0
		for cell := range strings.SplitSeq(line, sep) {
			n++
			if fieldOf(cell).role != ignored {
				known++
			}
		}
		if known >= 2 && n <= mostColumns {
			return sep, true
		}
	}
	f := fieldOf(line)
	return ", ", f.role == counter && strings.Contains(line, ".")
}

func isCSV(lines []string) bool {
	for _, l := range lines[:min(len(lines), 20)] {
		if _, ok := isHeader(l); ok {
			return true
		}
	}
	return false
}

// A csvLog is a log of nvidia-smi --query-gpu or --query-compute-apps.
type csvLog struct {
	r      *Reader
	sep    string
	fields []queryField
	clock  clock
	apps   bool // rows are processes
}

func (l *csvLog) line(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if l.fields == nil || text[0] < '0' || text[0] > '9' { // no field's name begins so
		if sep, ok := isHeader(text); ok {
			l.head(text, sep)
			return
		}
	}
	if l.fields == nil {
		return
	}
	cells := split(text, l.sep)
	if len(cells) != len(l.fields) && l.sep == ", " {
		// A file that another program wrote again may have lost the spaces.
		if again := split(text, ","); len(again) == len(l.fields) {
			cells = again
		}
	}
	if len(cells) != len(l.fields) {
		l.odd(text, len(cells))
		return
	}
	if !l.r.whole && !endsInUnit(cells[len(cells)-1]) {
		cells[len(cells)-1] = "" // the end of the file may have cut it
		l.r.tell("cut", "line %d is the last and does not end: its last value is left out", l.r.n)
	}
	l.row(cells)
}

// head takes a header.
func (l *csvLog) head(text, sep string) {
	l.sep, l.fields, l.apps = sep, nil, false
	for _, h := range split(text, sep) {
		f := fieldOf(h)
		l.fields = append(l.fields, f)
		l.apps = l.apps || f.role == pid
	}
}

// endsInUnit reports whether a cell ends as one that is not cut.
func endsInUnit(cell string) bool {
	return strings.HasSuffix(cell, "]") || strings.HasSuffix(cell, "%") || strings.HasSuffix(cell, "iB") || strings.HasSuffix(cell, " W") || strings.HasSuffix(cell, "MHz")
}

// odd takes a line that is no row: a message of the driver, or one that is cut.
func (l *csvLog) odd(text string, cells int) {
	if p, ok := messageOf(text); ok {
		l.r.build.problem(p)
		l.r.tell("message "+p.What, "line %d: %s", l.r.n, p.What)
		return
	}
	l.r.tell("odd", "line %d has %d cells under a header of %d: it and others like it are left out", l.r.n, cells, len(l.fields))
}

// messages are what nvidia-smi prints between rows.
var messages = []struct {
	has    string
	status series.Status
}{
	{"gpu is lost", series.Lost}, {"unable to determine the device handle", series.Lost}, {"insufficient permissions", series.NoPermission},
	{"failed to initialize nvml", series.Failed}, {"nvidia-smi has failed", series.Failed}, {"driver/library version mismatch", series.Failed},
	{"no devices were found", series.Failed}, {"unknown error", series.Failed},
}

func messageOf(text string) (series.Problem, bool) {
	lower := strings.ToLower(text)
	for _, m := range messages {
		if strings.Contains(lower, m.has) {
			return series.Problem{Source: "nvidia-smi", Status: m.status, What: strings.TrimSpace(text)}, true
		}
	}
	return series.Problem{}, false
}

// split parts the cells of a line; a cell in quotes may hold the separator.
func split(line, sep string) []string {
	if strings.Contains(line, `"`) {
		c := csv.NewReader(strings.NewReader(line))
		c.Comma, c.LazyQuotes, c.TrimLeadingSpace = rune(sep[0]), true, true
		if cells, err := c.Read(); err == nil {
			return cells
		}
	}
	cells := strings.Split(line, sep)
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// row takes a row of as many cells as the header has.
func (l *csvLog) row(cells []string) {
	var when time.Time
	text := map[role]string{}
	for i, f := range l.fields {
		switch f.role {
		case ignored, counter, reasonBit:
		case timestamp:
			if when = l.clock.read(cells[i]); when.IsZero() {
				l.r.tell("time", "line %d: %q is no time that is known", l.r.n, cells[i])
				return
			}
		default:
			text[f.role] = cells[i]
		}
	}
	if when.IsZero() {
		l.r.assume("the log has no times: its samples are taken to be a second apart")
	}
	if text[driver] != "" {
		l.r.build.host.Driver = text[driver]
	}
	if l.apps {
		l.app(cells, text, when)
		return
	}
	d := l.r.build.device(keyOf(text), when)
	if d == nil {
		return
	}
	describe(d, text)
	for i, f := range l.fields {
		switch f.role {
		case counter:
			if v := Number(cells[i], f.unit); d.Values.Get(f.c).Status != series.OK && v.Status != series.Absent && f.c.Scope() == series.ScopeDevice {
				d.Values.Set(f.c, v)
			}
		case reasonBit:
			addReason(d, cells[i], f.bit)
		}
	}
	settle(d)
}

// keyOf is what tells a device from others: its UUID, else its address, else its
// index.
func keyOf(text map[role]string) string {
	switch {
	case text[uuid] != "":
		return text[uuid]
	case text[pci] != "":
		return "pci:" + text[pci]
	}
	return "index:" + text[index]
}

func describe(d *series.Device, text map[role]string) {
	if n, err := strconv.Atoi(text[index]); err == nil {
		d.Index = n
	}
	d.Name, d.PCI = text[name], text[pci]
	if strings.EqualFold(text[mig], "Enabled") {
		d.MIG = "on"
	}
	if v := Number(strings.TrimPrefix(text[pstate], "P"), ""); text[pstate] != "" {
		d.Values.Set(series.PerformanceState, v)
	}
}

// addReason adds a reason that has a column of its own.
func addReason(d *series.Device, cell string, bit series.ThrottleReason) {
	old, _ := d.Values.Get(series.ThrottleReasons).Get()
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "active":
		d.Values.Set(series.ThrottleReasons, series.Of(float64(uint64(old)|uint64(bit))))
	case "not active":
		d.Values.Set(series.ThrottleReasons, series.Of(old))
	}
}

// settle makes a device lost of which every value says so.
func settle(d *series.Device) {
	lost := 0
	for _, v := range d.Values {
		switch v.Status {
		case series.OK:
			return
		case series.Lost:
			lost++
		}
	}
	if lost > 0 {
		d.Status, d.Problem = series.Lost, "GPU is lost"
	}
}

// app takes a row of --query-compute-apps.
func (l *csvLog) app(cells []string, text map[role]string, when time.Time) {
	b := &l.r.build
	n, err := strconv.Atoi(strings.TrimSpace(text[pid]))
	if err != nil {
		return
	}
	key := keyOf(text)
	use := series.Use{Device: key, Kind: series.Compute}
	for i, f := range l.fields {
		if f.role == counter && f.c.Scope() == series.ScopeUse {
			use.Values.Set(f.c, Number(cells[i], f.unit))
		}
	}
	b.use(key, when, n, text[processName], use)
}
