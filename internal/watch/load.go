package watch

import (
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/trend"
	"github.com/plimsoll-dev/plimsoll/series"
)

// Horizon is how far ahead the load line looks.
const Horizon = 10 * time.Minute

// A Load is how a device's memory is filled, and to where it may be filled.
type Load struct {
	Known                 bool
	Total, Used, Capacity float64 // bytes; Capacity is what processes can have
	// Growth is what the trend takes within Horizon, 0 where it is not clear.
	Growth float64
	// Line is where memory may stand now so that it is not full within Horizon:
	// the capacity less what the trend will take; Lined is false without a trend
	// that takes any.
	Line  float64
	Lined bool
	// Full is when the trend fills it; Fills is false where it does not.
	Full  trend.Arrival
	Fills bool
}

// Over reports whether memory stands above its load line.
func (l Load) Over() bool { return l.Lined && l.Used > l.Line }

// LoadOf is the load of a device whose memory goes by the trend t.
func LoadOf(d *series.Device, t trend.Trend) Load {
	total, okTotal := d.Values.Get(series.MemoryTotal).Get()
	used, okUsed := d.Values.Get(series.MemoryUsed).Get()
	if !okTotal || !okUsed || total <= 0 {
		return Load{}
	}
	l := Load{Known: true, Total: total, Used: used, Capacity: total}
	if reserved, ok := d.Values.Get(series.MemoryReserved).Get(); ok {
		l.Capacity = max(total-reserved, used)
	}
	if !t.Clear || t.PerSecond <= 0 || d.Status != series.OK {
		return l
	}
	l.Growth = t.PerSecond * Horizon.Seconds()
	l.Line, l.Lined = max(l.Capacity-l.Growth, 0), true
	l.Full, l.Fills = t.Until(l.Capacity - used)
	return l
}
