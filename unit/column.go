package unit

import "strings"

// A Column writes a set of amounts with one prefix and one number of
// decimals, so that they can be compared by eye and aligned at the right.
type Column struct {
	prefix   int
	decimals int
}

// NewColumn chooses the prefix and the decimals that suit the largest of the
// amounts; it gets three significant digits.
func NewColumn(amounts ...Bytes) Column {
	var largest Bytes
	for _, a := range amounts {
		largest = max(largest, a, -a)
	}
	p := prefixOf(largest)
	return Column{prefix: p, decimals: decimals(largest, p)}
}

// AtLeast returns the column with no fewer decimals than that, for amounts that
// have to be compared with ones that are printed so.
func (c Column) AtLeast(decimals int) Column {
	if c.prefix > 0 {
		c.decimals = max(c.decimals, decimals)
	}
	return c
}

// Unit is the name of the column's prefix, "GiB".
func (c Column) Unit() string { return prefixes[c.prefix].name }

// Number writes b without the unit. An amount too small for the column is
// written as "<0.1", never as zero.
func (c Column) Number(b Bytes) string {
	s := number(b, c.prefix, c.decimals)
	if b == 0 || !isZero(s) {
		return s
	}
	least := "1"
	if c.decimals > 0 {
		least = "0." + strings.Repeat("0", c.decimals-1) + "1"
	}
	if b < 0 {
		return ">-" + least
	}
	return "<" + least
}

// Format writes b with the unit: "0.52 GiB".
func (c Column) Format(b Bytes) string { return c.Number(b) + " " + c.Unit() }

func isZero(s string) bool {
	for _, r := range s {
		if r >= '1' && r <= '9' {
			return false
		}
	}
	return true
}
