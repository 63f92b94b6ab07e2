package kernel

import (
	"math"
	"math/bits"
)

// sized wraps a rule so that it never sees what no shape has: too few or
// negative arguments mean that there is no allocation.
func sized(n int, rule func(d Device, a []int64) int64) func(Device, []int64) int64 {
	return func(d Device, args []int64) int64 {
		if len(args) < n {
			return 0
		}
		for _, a := range args {
			if a < 0 {
				return 0
			}
		}
		return max(0, rule(d, args))
	}
}

// product multiplies amounts that are not negative and stays at the largest
// amount where the result has no room.
func product(factors ...int64) int64 {
	p := uint64(1)
	for _, f := range factors {
		if f <= 0 {
			return 0
		}
		hi, lo := bits.Mul64(p, uint64(f))
		if hi != 0 || lo > math.MaxInt64 {
			p = math.MaxInt64
			continue
		}
		p = lo
	}
	return int64(p)
}

// sum adds amounts that are not negative, with the same limit.
func sum(terms ...int64) int64 {
	var s int64
	for _, t := range terms {
		if s > math.MaxInt64-t {
			return math.MaxInt64
		}
		s += t
	}
	return s
}

// ceilDiv is a/b rounded up, for b > 0.
func ceilDiv(a, b int64) int64 {
	if a%b == 0 {
		return a / b
	}
	return a/b + 1
}

// roundUp is the smallest multiple of step that is at least a.
func roundUp(a, step int64) int64 { return product(ceilDiv(a, step), step) }

// lastPowerOfTwo is the largest power of two that is at most n, and 1 for 0.
func lastPowerOfTwo(n int64) int64 {
	if n <= 1 {
		return 1
	}
	return 1 << (bits.Len64(uint64(n)) - 1)
}

// bitsOf is how many bits the number has, and 1 for 0.
func bitsOf(n int64) int64 { return max(1, int64(bits.Len64(uint64(n)))) }
