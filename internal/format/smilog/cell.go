package smilog

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/series"
)

// wordStatus are the words that stand in place of a number, in lower case and
// without brackets.
var wordStatus = map[string]series.Status{
	"n/a": series.NotSupported, "function not found": series.NotSupported, "not supported": series.NotSupported, "not available": series.NotSupported, "-": series.NotSupported,
	"insufficient permissions": series.NoPermission, "no permission": series.NoPermission,
	"gpu is lost": series.Lost, "gpu lost": series.Lost,
	"unknown error": series.Failed, "err!": series.Failed, "error": series.Failed, "unknown": series.Failed,
	"timeout": series.Stuck, "gpu requires reset": series.Failed, "reset required": series.Failed,
}

// scales are what a number with a unit is multiplied by. nvidia-smi's MB of memory are
// 2^20 bytes; its rates are the driver's, whose KB are 1000.
var scales = map[string]float64{
	"": 1, "w": 1, "mw": 1e-3, "j": 1, "mj": 1e-3, "c": 1, "°c": 1, "mhz": 1e6, "ghz": 1e9,
	"b": 1, "kb": 1 << 10, "kib": 1 << 10, "mb": 1 << 20, "mib": 1 << 20, "gb": 1 << 30, "gib": 1 << 30,
	"gb/s": 1e9, "mb/s": 1e6, "kb/s": 1e3, "s": 1, "us": 1e-6, "ms": 1e-3, "x": 1, // lanes of a link
}

// wholeUnits are those of which nvidia-smi tells whole numbers: "1.234 MiB" is more
// than a thousand, whatever sign parts thousands.
var wholeUnits = map[string]bool{"mib": true, "mb": true, "mhz": true}

var thousands = regexp.MustCompile(`^[0-9]{1,3}([.,][0-9]{3})+$`)

// Number reads a cell such as "1234 MiB", "97,5 %", "P8" or "[N/A]", of logs and of
// nvidia-smi's XML. A unit in the cell goes before the one of the column. What is no
// number and no reason that is known is Failed.
func Number(cell, columnUnit string) series.Value {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return series.Value{}
	}
	word := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(cell, "["), "]"))
	if status, ok := wordStatus[word]; ok {
		return series.Without(status)
	}
	if len(cell) > 1 && (cell[0] == 'P' || cell[0] == 'p') {
		cell = cell[1:] // a performance state
	}
	digits := cell
	unit := columnUnit
	if i := strings.LastIndexFunc(cell, func(r rune) bool { return r >= '0' && r <= '9' }); i >= 0 && i+1 < len(cell) && !strings.HasPrefix(cell, "0x") {
		digits = strings.TrimSpace(cell[:i+1])
		unit = strings.TrimSpace(cell[i+1:])
	}
	unit = strings.ToLower(strings.TrimSpace(unit))
	scale, ok := scales[unit]
	if !ok && unit != "%" {
		return series.Without(series.Failed)
	}
	if wholeUnits[unit] && thousands.MatchString(digits) {
		digits = points.Replace(digits)
	}
	v, ok := parseNumber(digits)
	if !ok || v < 0 && unit != "c" {
		return series.Without(series.Failed)
	}
	if unit == "%" {
		return series.Of(v / 100) // exact where a product is not
	}
	return series.Of(v * scale)
}

var (
	spaces = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "'", "", "’", "")
	points = strings.NewReplacer(",", "", ".", "")
)

// parseNumber reads a number with a point or a comma before its decimals; spaces,
// apostrophes and the other of the two may part thousands.
func parseNumber(s string) (float64, bool) {
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 64)
		return float64(n), err == nil
	}
	s = spaces.Replace(s)
	point, comma := strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ',')
	switch {
	case point >= 0 && comma > point: // 1.234,5
		s = strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), ",", ".")
	case comma >= 0 && point > comma: // 1,234.5
		s = strings.ReplaceAll(s, ",", "")
	case comma >= 0 && strings.Count(s, ",") == 1: // 97,5
		s = strings.Replace(s, ",", ".", 1)
	case comma >= 0:
		s = strings.ReplaceAll(s, ",", "")
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}
