package report

// A Chart draws shares over time as lines on one scale from 0 to 1.
type Chart struct {
	Lines []ChartLine
	// Bands are what happened when.
	Bands []ChartBand
	// First and Last label the two ends, "12:00" and "12:05".
	First, Last string
}

// A ChartLine is one number over time.
type ChartLine struct {
	Name string // "busy"
	// Shares are evenly spaced from the first to the last; NaN is not known.
	Shares []float64
}

// A ChartBand is a stretch of time, From <= t < To, as shares of the whole.
type ChartBand struct {
	Name     string // "train"
	From, To float64
}
