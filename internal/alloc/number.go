package alloc

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// PyTorch reads numbers with the C++ library's std::stoi, stoul, stoull and
// stod, which stop at the first character that does not belong and whose
// errors say nothing but their own name. The functions here do the same.

var (
	errNotANumber = errors.New("not a number") // std::invalid_argument
	errRange      = errors.New("out of range") // std::out_of_range
)

// trimSpace drops what isspace accepts at the beginning.
func trimSpace(s string) string { return strings.TrimLeft(s, " \t\n\v\f\r") }

// cInteger reads an optional sign and decimal digits.
func cInteger(s string) (negative bool, n uint64, err error) {
	s = trimSpace(s)
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative, s = s[0] == '-', s[1:]
	}
	end := 0
	for ; end < len(s) && s[end] >= '0' && s[end] <= '9'; end++ {
		hi, lo := bits.Mul64(n, 10)
		sum, carry := bits.Add64(lo, uint64(s[end]-'0'), 0)
		if hi != 0 || carry != 0 {
			err = errRange
		}
		n = sum
	}
	if end == 0 {
		return false, 0, errNotANumber
	}
	return negative, n, err
}

// stoull wraps negative numbers around, as C++ does.
func stoull(s string) (uint64, error) {
	negative, n, err := cInteger(s)
	if negative {
		n = -n
	}
	return n, err
}

// stoi returns the int as the size_t that PyTorch stores it in.
func stoi(s string) (uint64, error) {
	negative, n, err := cInteger(s)
	switch {
	case err != nil:
		return 0, err
	case negative && n > -math.MinInt32, !negative && n > math.MaxInt32:
		return 0, errRange
	case negative:
		return -n, nil
	}
	return n, nil
}

// stod reads the longest beginning of s that is a number.
func stod(s string) (float64, error) {
	s = trimSpace(s)
	end := floatEnd(s)
	if end == 0 {
		return 0, errNotANumber
	}
	text := s[:end]
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && strings.ContainsAny(text, "xX") && !strings.ContainsAny(text, "pP") {
		v, err = strconv.ParseFloat(text+"p0", 64)
	}
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, errNotANumber
	}
	if err != nil || v == 0 && strings.ContainsAny(mantissa(text), "123456789abcdefABCDEF") {
		return 0, errRange
	}
	return v, nil
}

// mantissa is the part of a number before its exponent.
func mantissa(s string) string {
	letters := "eE"
	if strings.ContainsAny(s, "xX") {
		letters, s = "pP", s[strings.IndexAny(s, "xX")+1:]
	}
	if i := strings.IndexAny(s, letters); i >= 0 {
		return s[:i]
	}
	return s
}

// floatEnd returns the length of the number at the beginning of s, 0 when
// there is none.
func floatEnd(s string) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	rest := strings.ToLower(s[i:])
	for _, word := range []string{"infinity", "inf", "nan"} {
		if strings.HasPrefix(rest, word) {
			return i + len(word)
		}
	}
	digits, exponent := "0123456789", byte('e')
	if strings.HasPrefix(rest, "0x") {
		if n := numberEnd(rest[2:], "0123456789abcdef", 'p'); n > 0 {
			return i + 2 + n
		}
		return i + 1 // the zero before the x
	}
	if n := numberEnd(rest, digits, exponent); n > 0 {
		return i + n
	}
	return 0
}

func numberEnd(s, digits string, exponent byte) int {
	whole := len(s) - len(strings.TrimLeft(s, digits))
	end, fraction := whole, 0
	if end < len(s) && s[end] == '.' {
		fraction = len(s[end+1:]) - len(strings.TrimLeft(s[end+1:], digits))
		end += 1 + fraction
	}
	if whole+fraction == 0 {
		return 0
	}
	if end < len(s) && s[end] == exponent {
		at := end + 1
		if at < len(s) && (s[at] == '+' || s[at] == '-') {
			at++
		}
		if n := len(s[at:]) - len(strings.TrimLeft(s[at:], "0123456789")); n > 0 {
			return at + n
		}
	}
	return end
}
