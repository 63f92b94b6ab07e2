package alloc

import (
	"math/bits"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// round returns the block size for a request of n bytes. Mirrors round_size
// of c10/cuda/CUDACachingAllocator.cpp (the same from PyTorch 2.0 to 2.15).
func (s *Settings) round(n unit.Bytes) unit.Bytes {
	if n < minBlock {
		return minBlock
	}
	if d := s.divisions(n); d > 1 && uint64(n) > uint64(minBlock)*d {
		return roundToDivision(n, d)
	}
	return n.RoundUp(minBlock)
}

// divisions returns the number of steps between powers of two for size n.
func (s *Settings) divisions(n unit.Bytes) uint64 {
	i := bits.Len64(uint64(n)) - 1 - firstInterval
	return s.Divisions[min(max(i, 0), intervals-1)]
}

// roundToDivision rounds n up to the next of d equal steps between two powers
// of two; d is a power of two.
func roundToDivision(n unit.Bytes, d uint64) unit.Bytes {
	log := bits.Len64(uint64(n)) - 1
	power := unit.Bytes(1) << log
	if n == power {
		return n
	}
	step := power >> (bits.Len64(d) - 1)
	if step == 0 {
		return power << 1
	}
	return n.RoundUp(step)
}

// segment returns how much the device is asked for when a block of the given
// size finds no place.
func (s *Settings) segment(size unit.Bytes) unit.Bytes {
	switch {
	case size <= smallLimit:
		return smallSegment
	case size < largeThreshold:
		return s.largeSegment()
	default:
		return size.RoundUp(largeRounding)
	}
}

// SegmentSize is what the driver is asked for when a block of this size, as
// rounded, finds no place: a segment, or pages of an expandable one.
func SegmentSize(s Settings, rounded unit.Bytes) unit.Bytes {
	if !s.Expandable {
		return s.segment(rounded)
	}
	page := s.largeSegment()
	if IsSmall(rounded) {
		page = smallSegment
	}
	return (rounded + page - 1) / page * page
}

// IsSmall reports whether blocks of this size, as rounded, are of the small
// pool.
func IsSmall(rounded unit.Bytes) bool { return rounded <= smallLimit }
