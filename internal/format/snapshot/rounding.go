package snapshot

import "math/bits"

// Sizes of PyTorch's allocator. Source: c10/core/AllocatorConfig.h; the same
// since 1.x.
const (
	minBlock     = 512
	smallLimit   = 1 << 20  // rounded sizes up to this come from the small pool
	smallSegment = 2 << 20  // of the small pool
	largePage    = 20 << 20 // of an expandable segment of the large pool
)

// A rounding is the part of the settings that decides how large a block for
// a request is.
type rounding struct {
	divisions [16]uint64 // for sizes from 1 MiB, 2 MiB, 4 MiB ... 32 GiB; 0 is none
	maxSplit  uint64     // sizes from this on take their whole segment
}

// roundingOf reads the settings that a file holds.
func roundingOf(settings map[string]any) rounding {
	r := rounding{maxSplit: 1<<64 - 1}
	if v, ok := settings["max_split_size"].(int64); ok && v > 0 {
		r.maxSplit = uint64(v)
	}
	table, _ := settings["roundup_power2_divisions"].(map[string]any)
	for i := range r.divisions {
		if v, ok := table[divisionKeys[i]].(int64); ok && v > 1 && v <= 64 && v&(v-1) == 0 {
			r.divisions[i] = uint64(v)
		}
	}
	return r
}

// divisionKeys are the keys of roundup_power2_divisions: sizes in MiB.
var divisionKeys = [16]string{
	"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768",
}

// block is the size of the block that a request gets.
// Mirrors c10/cuda/CUDACachingAllocator.cpp round_size (2.0 to 2.10).
func (r rounding) block(requested uint64) uint64 {
	if requested < minBlock {
		return minBlock
	}
	up := func(step uint64) uint64 { return (requested + step - 1) / step * step }
	log := bits.Len64(requested) - 1
	d := r.divisions[max(0, min(15, log-20))]
	if d <= 1 || requested <= minBlock*d {
		return up(minBlock)
	}
	if requested&(requested-1) == 0 {
		return requested
	}
	return up(uint64(1) << log / d)
}
