package oomlog

import (
	"math"
	"math/bits"
)

// units are how messages write sizes, the longest spelling first. All of them
// are binary, "GB" of MPS included: its limit divides by the size of the
// machine only so.
var units = []struct {
	name string
	size uint64
}{
	{"bytes", 1},
	{"byte", 1},
	{"kib", 1 << 10},
	{"mib", 1 << 20},
	{"gib", 1 << 30},
	{"tib", 1 << 40},
	{"pib", 1 << 50},
	{"eib", 1 << 60},
	{"kb", 1 << 10},
	{"mb", 1 << 20},
	{"gb", 1 << 30},
	{"tb", 1 << 40},
	{"b", 1},
	{"k", 1 << 10},
	{"m", 1 << 20},
	{"g", 1 << 30},
	{"t", 1 << 40},
	{"p", 1 << 50},
	{"e", 1 << 60},
}

// amount reads a size such as 15.87gib, 0bytes or -1.05gib at the beginning of
// s, rounded to the nearest byte, and returns how many bytes of s it took, 0
// when there is none. What is over the range becomes the largest number.
func amount(s []byte) (value int64, n int) {
	digits, decimals, n := decimal(s)
	if n == 0 {
		return 0, 0
	}
	negative := s[0] == '-'
	size := uint64(0)
	for _, u := range units {
		if hasPrefix(s[n:], u.name) {
			size, n = u.size, n+len(u.name)
			break
		}
	}
	if size == 0 {
		return 0, 0
	}
	value = scale(digits, size, decimals)
	if negative {
		value = -value
	}
	return value, n
}

// decimal reads digits with an optional sign and point. The point may be the
// last character, as numpy prints it.
func decimal(s []byte) (digits uint64, decimals, n int) {
	if n < len(s) && s[n] == '-' {
		n++
	}
	seen, point := false, false
	for ; n < len(s); n++ {
		c := s[n]
		if c == '.' && seen && !point {
			point = true
			continue
		}
		if c == ',' && seen && !point && isDecimalComma(s[n+1:]) {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if digits < math.MaxUint64/100 {
			digits = digits*10 + uint64(c-'0')
			if point {
				decimals++
			}
		} else if !point {
			digits = math.MaxUint64 / 10
		}
	}
	if !seen {
		return 0, 0, 0
	}
	return digits, decimals, n
}

// isDecimalComma reports whether what follows a comma are the two decimals and
// the unit of a size: "1900,00mib".
func isDecimalComma(s []byte) bool {
	return len(s) > 2 && s[0] >= '0' && s[0] <= '9' && s[1] >= '0' && s[1] <= '9' && isLetter(s[2])
}

// scale is digits / 10^decimals * size, rounded to the nearest integer.
func scale(digits, size uint64, decimals int) int64 {
	ten := uint64(1)
	for range decimals {
		ten *= 10
	}
	hi, lo := bits.Mul64(digits, size)
	lo, carry := bits.Add64(lo, ten/2, 0)
	hi += carry
	if hi >= ten {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, ten)
	return int64(min(q, math.MaxInt64))
}

// integer reads digits at the beginning of s.
func integer(s []byte) (value int64, n int) {
	if n < len(s) && s[n] == '-' {
		n++
	}
	start := n
	for ; n < len(s) && s[n] >= '0' && s[n] <= '9'; n++ {
		if value > (math.MaxInt64-9)/10 {
			value = math.MaxInt64 / 10
		}
		value = value*10 + int64(s[n]-'0')
	}
	if n == start {
		return 0, 0
	}
	if s[0] == '-' {
		value = -value
	}
	return value, n
}

func hasPrefix(s []byte, p string) bool {
	return len(s) >= len(p) && string(s[:len(p)]) == p
}

// grouped reads digits with commas between thousands.
func grouped(s []byte) (value int64, n int) {
	digits := make([]byte, 0, 20)
	for ; n < len(s) && n < 40 && (s[n] >= '0' && s[n] <= '9' || s[n] == ',' && n > 0); n++ {
		if s[n] != ',' {
			digits = append(digits, s[n])
		}
	}
	value, _ = integer(digits)
	return value, n
}
