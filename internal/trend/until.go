package trend

import (
	"math"
	"time"
)

// An Arrival is when a number that grows will have grown by an amount.
type Arrival struct {
	After            time.Duration
	Earliest, Latest time.Duration // where the slope is Trend.High and Trend.Low
}

// far is beyond what samples of minutes can say.
const far = 24 * time.Hour

// Until says when a number of this trend will have grown by amount; ok is false
// where the trend is not clear, goes down or takes more than a day.
func (t Trend) Until(amount float64) (a Arrival, ok bool) {
	if !t.Clear || t.PerSecond <= 0 || math.IsNaN(amount) {
		return Arrival{}, false
	}
	amount = max(amount, 0)
	a = Arrival{after(amount, t.PerSecond), after(amount, t.High), after(amount, t.Low)}
	return a, a.After < far
}

func after(amount, perSecond float64) time.Duration {
	return time.Duration(min(amount/perSecond, far.Seconds()) * float64(time.Second))
}
