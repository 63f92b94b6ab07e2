// Package smilog reads what nvidia-smi writes as CSV: what its columns are, and
// what is in a cell.
//
// A cell may be in the unit that its column or itself names, in the number format
// of another country, or say why there is no number.
package smilog

import (
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Column is a counter as nvidia-smi --query-gpu calls it.
type Column struct {
	Counter series.Counter
	unit    string // in which numbers without a unit are
}

// columns are the names of --query-gpu that are counters, old ones included.
var columns = map[string]Column{
	"utilization.gpu":                       {series.Busy, "%"},
	"utilization.memory":                    {series.MemoryBusy, "%"},
	"utilization.encoder":                   {series.EncoderBusy, "%"},
	"utilization.decoder":                   {series.DecoderBusy, "%"},
	"memory.total":                          {series.MemoryTotal, "MiB"},
	"memory.used":                           {series.MemoryUsed, "MiB"},
	"memory.reserved":                       {series.MemoryReserved, "MiB"},
	"memory.free":                           {series.MemoryFree, "MiB"},
	"power.draw":                            {series.Power, "W"},
	"power.draw.average":                    {series.Power, "W"},
	"power.limit":                           {series.PowerLimit, "W"},
	"enforced.power.limit":                  {series.PowerLimit, "W"},
	"temperature.gpu":                       {series.Temperature, "C"},
	"temperature.gpu.slowdown":              {series.TemperatureLimit, "C"},
	"fan.speed":                             {series.Fan, "%"},
	"clocks.sm":                             {series.ClockSM, "MHz"},
	"clocks.current.sm":                     {series.ClockSM, "MHz"},
	"clocks.max.sm":                         {series.ClockSMMax, "MHz"},
	"clocks.mem":                            {series.ClockMemory, "MHz"},
	"clocks.current.memory":                 {series.ClockMemory, "MHz"},
	"clocks.max.mem":                        {series.ClockMemoryMax, "MHz"},
	"clocks.max.memory":                     {series.ClockMemoryMax, "MHz"},
	"clocks_event_reasons.active":           {series.ThrottleReasons, ""},
	"clocks_throttle_reasons.active":        {series.ThrottleReasons, ""},
	"pstate":                                {series.PerformanceState, ""},
	"pcie.link.gen.current":                 {series.PCIeGeneration, ""},
	"pcie.link.gen.gpucurrent":              {series.PCIeGeneration, ""},
	"pcie.link.gen.max":                     {series.PCIeGenerationMax, ""},
	"pcie.link.width.current":               {series.PCIeWidth, ""},
	"pcie.link.width.max":                   {series.PCIeWidthMax, ""},
	"ecc.errors.uncorrected.volatile.total": {series.ECCUncorrected, ""},
}

// FindColumn returns the counter of a column by its heading, "memory.used [MiB]".
func FindColumn(heading string) (Column, bool) {
	name, unit, _ := strings.Cut(strings.TrimSpace(heading), " [")
	c, ok := columns[strings.ToLower(name)]
	if unit = strings.TrimSuffix(unit, "]"); ok && unit != "" {
		c.unit = unit
	}
	return c, ok
}

// Of returns the column of a counter whose cells are in unit unless they name
// their own.
func Of(c series.Counter, unit string) Column { return Column{c, unit} }

// factors are what a unit is in ours. nvidia-smi's MiB is 2^20, its KB/s 1000.
var factors = map[string]float64{
	"": 1, "%": 1.0 / 100, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "MB": 1 << 20, "W": 1, "mW": 1e-3,
	"C": 1, "°C": 1, "MHz": 1e6, "GHz": 1e9, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "x": 1, "J": 1, "mJ": 1e-3, "s": 1,
}

// reasons are what stands in place of a number, lower case, without brackets.
var reasons = []struct {
	word   string
	status series.Status
}{
	{"n/a", series.NotSupported}, {"not supported", series.NotSupported}, {"not available", series.NotSupported}, {"function not found", series.NotSupported},
	{"gpu is lost", series.Lost}, {"gpu requires reset", series.Failed}, {"insufficient permissions", series.NoPermission},
	{"timeout", series.Stuck}, {"unknown error", series.Failed}, {"err!", series.Failed},
}

// Parse returns the value in a cell. What is no number and no reason that is known
// is Failed.
func (c Column) Parse(cell string) series.Value {
	cell = strings.TrimSpace(cell)
	bare := strings.ToLower(strings.Trim(cell, "[] "))
	if bare == "" {
		return series.Value{}
	}
	for _, r := range reasons {
		if bare == r.word {
			return series.Without(r.status)
		}
	}
	if hex, ok := strings.CutPrefix(bare, "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			return series.Without(series.Failed)
		}
		return series.Of(float64(n))
	}
	if c.Counter == series.PerformanceState {
		cell = strings.TrimLeft(cell, "Pp")
	}
	end := strings.LastIndexAny(cell, "0123456789") + 1
	v, ok := ParseNumber(cell[:end])
	unit := strings.TrimSpace(cell[end:])
	if unit == "" {
		unit = c.unit
	}
	factor, known := factors[unit]
	if !ok || !known || math.IsInf(v, 0) || math.IsNaN(v) || v < 0 && unit != "C" {
		return series.Without(series.Failed)
	}
	if unit == "%" {
		return series.Of(v / 100) // exact where a product is not
	}
	return series.Of(v * factor)
}

// ParseNumber reads a number with a point or a comma for its fraction, and blanks,
// points or commas between its thousands. A lone comma is that of a fraction, as
// nvidia-smi writes no thousands apart.
func ParseNumber(s string) (float64, bool) {
	s = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "").Replace(strings.TrimSpace(s))
	comma, point := strings.LastIndexByte(s, ','), strings.LastIndexByte(s, '.')
	switch {
	case comma > point && point >= 0, strings.Count(s, ".") > 1:
		s = strings.ReplaceAll(s, ".", "")
	case point > comma && comma >= 0, strings.Count(s, ",") > 1:
		s = strings.ReplaceAll(s, ",", "")
	}
	s = strings.Replace(s, ",", ".", 1)
	if s == "" || strings.Trim(s, "0123456789.-") != "" {
		return 0, false // exponents, infinities and hexadecimal are no numbers of nvidia-smi
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}
