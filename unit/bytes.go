// Package unit holds memory amounts and the one way the program writes and
// reads them.
//
// All prefixes are binary: "GiB" is 2^30 bytes and "GB" is refused, because
// half of the world reads it as 10^9 and the difference is 7 %.
//
// It knows nothing about time, rates or shares.
package unit

import "strconv"

// Bytes is a memory amount in bytes. Sizes are binary (KiB, MiB, GiB), as the
// CUDA allocator and nvidia-smi count them. Negative amounts are differences.
type Bytes int64

// Binary multiples of one byte.
const (
	KiB Bytes = 1 << (10 * (iota + 1))
	MiB
	GiB
	TiB
	PiB
	EiB
)

// prefixes are the units of String and of columns, smallest first.
var prefixes = []struct {
	name string
	size Bytes
}{{"B", 1}, {"KiB", KiB}, {"MiB", MiB}, {"GiB", GiB}, {"TiB", TiB}, {"PiB", PiB}, {"EiB", EiB}}

// String writes three significant digits and a binary prefix: "79.1 GiB".
// Amounts below 1 KiB are exact: "512 B".
func (b Bytes) String() string {
	p := prefixOf(b)
	return number(b, p, decimals(b, p)) + " " + prefixes[p].name
}

// RoundUp returns the smallest multiple of step that is at least b.
// step must be a power of two.
func (b Bytes) RoundUp(step Bytes) Bytes { return (b + step - 1) &^ (step - 1) }

// prefixOf returns the index of the prefix that leaves one to four digits
// before the point, after rounding: 1023.999 KiB is written as 1.00 MiB.
func prefixOf(b Bytes) int {
	p := 0
	for p < len(prefixes)-1 && rounded(b, p) >= 1024 {
		p++
	}
	return p
}

// rounded is |b| in units of prefix p, rounded to what String would show.
func rounded(b Bytes, p int) float64 {
	v, err := strconv.ParseFloat(number(b, p, decimals(b, p)), 64)
	if err != nil {
		return 0 // number always writes a number
	}
	if v < 0 {
		return -v
	}
	return v
}

// decimals returns how many digits after the point give three significant
// digits for b in units of prefix p.
func decimals(b Bytes, p int) int {
	v := float64(b) / float64(prefixes[p].size)
	if v < 0 {
		v = -v
	}
	switch {
	case p == 0 || v >= 99.95:
		return 0
	case v >= 9.995:
		return 1
	default:
		return 2
	}
}

func number(b Bytes, p, decimals int) string {
	if p == 0 {
		return strconv.FormatInt(int64(b), 10)
	}
	return strconv.FormatFloat(float64(b)/float64(prefixes[p].size), 'f', decimals, 64)
}
