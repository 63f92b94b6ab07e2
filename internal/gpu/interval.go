package gpu

import "github.com/plimsoll-dev/plimsoll/unit"

// An Interval is an amount that is not one number: the smallest and largest
// that are to be expected, what is usual, and who says so.
type Interval struct {
	Low     unit.Bytes
	Typical unit.Bytes
	High    unit.Bytes
	Source  Source
}
