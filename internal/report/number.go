package report

import (
	"math"
	"strconv"
)

// Grouped returns n with a comma every three digits, "4,680".
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// mostPercent is where a percentage stops to say anything.
const mostPercent = 9999

// Percent returns a share, 0..1, as percent: "59 %", "<1 %", "0 %". Only
// a share of exactly 1 reads "100 %".
func Percent(share float64) string {
	switch p := math.Round(share * 100); {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return "-"
	case p > mostPercent:
		return ">" + strconv.Itoa(mostPercent) + " %"
	case share > 0 && p == 0:
		return "<1 %"
	case share < 1 && p == 100:
		return ">99 %"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + " %"
	}
}

// PercentRange is from where to where shares go, "12 % to 97 %"; NaN is not known.
func PercentRange(shares []float64) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range shares {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	from, to := Percent(low), Percent(high)
	switch {
	case low > high:
		return "not known"
	case from == to:
		return to
	}
	return from + " to " + to
}
