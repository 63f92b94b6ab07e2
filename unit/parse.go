package unit

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// maxSizeText is the longest text that Parse looks at, in bytes.
const maxSizeText = 64

// Parse reads a size as people type it: "40GiB", "1.5 GiB", "512MiB", or
// plain bytes, "1073741824". Prefixes are binary and in any case; "40GB" and
// "40G" are errors that say what to write instead.
func Parse(s string) (Bytes, error) {
	if len(s) > maxSizeText {
		return 0, fmt.Errorf("size of %d characters: want a number and a unit, such as 40GiB", len(s))
	}
	text := strings.TrimSpace(s)
	end := strings.LastIndexAny(text, "0123456789.") + 1
	digits, name := text[:end], strings.TrimSpace(text[end:])
	if digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return 0, fmt.Errorf("size %q: want a number and a unit, such as 40GiB", s)
	}
	size, err := factor(digits, name)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", s, err)
	}
	v, ok := new(big.Rat).SetString(digits)
	if !ok {
		return 0, fmt.Errorf("size %q: want a number and a unit, such as 40GiB", s)
	}
	v.Mul(v, new(big.Rat).SetInt64(int64(size)))
	n := new(big.Int).Quo(v.Num(), v.Denom())
	if name == "" && !v.IsInt() {
		return 0, fmt.Errorf("size %q: a fraction of a byte", s)
	}
	if !n.IsInt64() || n.Int64() > math.MaxInt64/2 {
		return 0, fmt.Errorf("size %q: larger than any memory", s)
	}
	return Bytes(n.Int64()), nil
}

// factor is the size of the unit called name; digits are only for the text
// of its error.
func factor(digits, name string) (Bytes, error) {
	if name == "" {
		return 1, nil
	}
	for _, p := range prefixes {
		if strings.EqualFold(name, p.name) {
			return p.size, nil
		}
		letter := p.name[:1]
		if len(p.name) == 3 && (strings.EqualFold(name, letter) || strings.EqualFold(name, letter+"B")) {
			return 0, fmt.Errorf("%s is ambiguous, write %s%s", name, digits, p.name)
		}
	}
	return 0, fmt.Errorf("unknown unit %q, use KiB, MiB, GiB or TiB", name)
}
