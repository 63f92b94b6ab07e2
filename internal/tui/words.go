package tui

import (
	"fmt"
	"math"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// unknown is what stands where a value is not known.
const unknown = "–"

// orUnknown is s, or the mark that nothing is known.
func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

// percentOf is a share as "97 %".
func percentOf(v series.Value) string {
	if s := table.Percent(v); s != "" {
		return s + " %"
	}
	return unknown
}

// whole is a number without decimals and its unit: "64 °C".
func whole(v series.Value, scale float64, unit string) string {
	if x, ok := v.Get(); ok {
		return fmt.Sprintf("%.0f %s", x/scale, unit)
	}
	return unknown
}

// ofMost is a number and the most that it may be: "612/700 W".
func ofMost(v, most series.Value, unit string) string {
	switch x, ok := v.Get(); {
	case !ok:
		return unknown
	case most.Status != series.OK:
		return fmt.Sprintf("%.0f %s", x, unit)
	default:
		return fmt.Sprintf("%.0f/%.0f %s", x, most.V, unit)
	}
}

// memoryOf is what is used of a total, with one unit: "68.4/79.6 GiB".
func memoryOf(used, total series.Value) string {
	u, okUsed := used.Get()
	t, okTotal := total.Get()
	switch {
	case okUsed && okTotal:
		c := unit.NewColumn(unit.Bytes(t)).AtLeast(1)
		return c.Number(unit.Bytes(u)) + "/" + c.Format(unit.Bytes(t))
	case okUsed:
		return unit.Bytes(u).String()
	case okTotal:
		return unknown + "/" + unit.Bytes(t).String()
	}
	return unknown
}

// about is a length of time with one or two digits: "45 s", "14 min", "3 h".
func about(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", math.Round(d.Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}

// between is a range of times with one unit where both have it: "12–17 min".
func between(from, to time.Duration) string {
	a, b := about(from), about(to)
	if a == b {
		return a
	}
	var n, m float64
	var u, v string
	if _, err := fmt.Sscan(a, &n, &u); err == nil {
		if _, err := fmt.Sscan(b, &m, &v); err == nil && u == v {
			return fmt.Sprintf("%.0f–%.0f %s", n, m, u)
		}
	}
	return a + "–" + b
}

// clock is a length of time as on a watch: "1:02:03".
func clock(d time.Duration) string {
	s := int64(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
