package report

import "github.com/plimsoll-dev/plimsoll/unit"

// Bars compare parts of one whole, such as the categories of a peak.
type Bars struct {
	Bars []Bar
	// Total is the whole in bytes that shares are taken of; 0 shows none.
	Total unit.Bytes
	// Of names the whole, "the device peak".
	Of string
}

// A Bar is one part.
type Bar struct {
	Label string
	Bytes unit.Bytes
	// Note is one short remark to the right, "AdamW, fp32 states".
	Note string
	// Key is a stable name that colours the same part alike in every chart,
	// "optimizer_state"; empty takes the label.
	Key string
}

// A Spark is a small line of values over steps or time.
type Spark struct {
	Name string
	// Values are bytes, one for each step.
	Values []unit.Bytes
	// Shares, 0 to 1, are drawn instead of Values where there are any; NaN is
	// not known.
	Shares []float64
	// First and Last label the two ends, "step 1" and "step 3".
	First, Last string
}
