// Package words writes numbers and lengths of time for people, and a dash where one
// is not known.
package words

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// Unknown is what stands where a value is not known.
const Unknown = "–"

// OrUnknown is s, or the mark that nothing is known.
func OrUnknown(s string) string {
	if s == "" {
		return Unknown
	}
	return s
}

// PercentOf is a share as "97 %".
func PercentOf(v series.Value) string {
	if s := Percent(v); s != "" {
		return s + " %"
	}
	return Unknown
}

// Whole is a number without decimals and its unit: "64 °C".
func Whole(v series.Value, scale float64, unit string) string {
	if x, ok := v.Get(); ok {
		return fmt.Sprintf("%.0f %s", x/scale, unit)
	}
	return Unknown
}

// OfMost is a number and the most that it may be: "612/700 W".
func OfMost(v, most series.Value, unit string) string {
	switch x, ok := v.Get(); {
	case !ok:
		return Unknown
	case most.Status != series.OK:
		return fmt.Sprintf("%.0f %s", x, unit)
	default:
		return fmt.Sprintf("%.0f/%.0f %s", x, most.V, unit)
	}
}

// MemoryOf is what is used of a total, with one unit: "68.4/79.6 GiB".
func MemoryOf(used, total series.Value) string {
	u, okUsed := used.Get()
	t, okTotal := total.Get()
	switch {
	case okUsed && okTotal:
		c := unit.NewColumn(unit.Bytes(t)).AtLeast(1)
		return c.Number(unit.Bytes(u)) + "/" + c.Format(unit.Bytes(t))
	case okUsed:
		return unit.Bytes(u).String()
	case okTotal:
		return Unknown + "/" + unit.Bytes(t).String()
	}
	return Unknown
}

// About is a length of time with one or two digits: "45 s", "14 min", "3 h".
func About(d time.Duration) string {
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

// Between is a range of times with one unit where both have it: "12–17 min".
func Between(from, to time.Duration) string {
	a, b := About(from), About(to)
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

// Clock is a length of time as on a watch: "1:02:03".
func Clock(d time.Duration) string {
	s := int64(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Size is a value in bytes for people, "" where there is none.
func Size(v series.Value) string {
	if b, ok := v.Get(); ok {
		return unit.Bytes(b).String()
	}
	return ""
}

// Percent is a share in percent without the sign, "" where there is none. What is
// not 0 is never shown as 0, and what is not all of one never as 100.
func Percent(v series.Value) string {
	share, ok := v.Get()
	if !ok {
		return ""
	}
	switch {
	case share > 0 && share < 0.005:
		return "<1"
	case share >= 0.995 && share < 1:
		return "99"
	}
	return strconv.FormatFloat(share*100, 'f', 0, 64)
}

// PerSecond is an amount in a second: "210 MiB/s".
func PerSecond(v series.Value) string {
	if s := Size(v); s != "" {
		return s + "/s"
	}
	return Unknown
}
