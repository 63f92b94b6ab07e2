package alloc

import (
	"math"

	"github.com/plimsoll-dev/plimsoll/unit"
)

// Sizes that decide where a request goes. Mirrors c10/core/AllocatorConfig.h
// (PyTorch 2.15); unchanged since 1.x.
const (
	minBlock       unit.Bytes = 512       // every block is a multiple of it
	smallLimit     unit.Bytes = unit.MiB  // blocks up to it are of the small pool
	smallSegment   unit.Bytes = 2 << 20   // segment of the small pool
	largeSegment   unit.Bytes = 20 << 20  // segment for blocks below largeThreshold
	largeThreshold unit.Bytes = 10 << 20  // blocks from it on get segments of their own
	largeRounding  unit.Bytes = 2 << 20   // their segments are multiples of it
	hugeRequest    unit.Bytes = 1 << 60   // requests from it on are refused at once
	unlimited      unit.Bytes = 1 << 62   // larger than any memory, and sums of two do not overflow
	intervals                 = 16        // entries of the rounding table
	firstInterval             = 20        // log2 of the first interval's start
	noSplitLimit              = unlimited // MaxSplit of the settings that do not name it
)

// Settings are the options of PYTORCH_CUDA_ALLOC_CONF, later
// PYTORCH_ALLOC_CONF. The zero value holds PyTorch's defaults.
type Settings struct {
	// Version is the PyTorch that is imitated.
	Version Version

	Backend             string            // "native" or "cudaMallocAsync"; "" is native
	MaxSplit            unit.Bytes        // blocks from this size on are never split; 0 means all are
	MaxNonSplitRounding unit.Bytes        // how much larger an unsplit block may be; 0 means as LargeSegment
	LargeSegment        unit.Bytes        // segment for blocks from 1 to 10 MiB; 0 means 20 MiB
	Divisions           [intervals]uint64 // steps between powers of two, by size from 1 MiB; 0 means none
	GCThreshold         float64           // share of the limit above which old segments go, 0 means never
	Expandable          bool              // segments that grow
	Fraction            *float64          // share of the device that may be used, nil means all
	Reserve             *Reserve          // address range of an expandable segment, nil means 9/8 of the device
	ReserveByClass      map[string]Reserve
	ReleaseLock         bool // release_lock_on_cudamalloc: changes no placement
	StreamReuse         bool // graph_capture_record_stream_reuse
	ThrowOnOOM          bool // throw_on_cudamalloc_oom

	// Options of the pinned host memory, which is not simulated.
	PinnedHostRegister      bool
	PinnedThreads           int // 0 means 1
	PinnedBackground        bool
	PinnedFreeCatchAll      bool
	PinnedReserve           unit.Bytes // 0 means none
	PinnedMaxCached         *unit.Bytes
	PinnedMaxRoundThreshold *unit.Bytes

	// Warnings are what PyTorch would print while it reads the options.
	Warnings []string
}

// A Reserve is the length of an address range, either as a share of the
// device or in bytes.
type Reserve struct {
	Share float64
	Bytes unit.Bytes
}

// size is the range's length for a device of the given total.
func (r *Reserve) size(total unit.Bytes) unit.Bytes {
	switch {
	case r == nil:
		return total + total/8
	case r.Bytes > 0:
		return r.Bytes
	default:
		return unit.Bytes(min(r.Share*float64(total), float64(unlimited)))
	}
}

func (s *Settings) maxSplit() unit.Bytes {
	if s.MaxSplit == 0 {
		return noSplitLimit
	}
	return s.MaxSplit
}

func (s *Settings) maxNonSplitRounding() unit.Bytes {
	if s.MaxNonSplitRounding == 0 {
		return s.largeSegment()
	}
	return s.MaxNonSplitRounding
}

func (s *Settings) largeSegment() unit.Bytes {
	if s.LargeSegment == 0 {
		return largeSegment
	}
	return s.LargeSegment
}

// limit is how much the allocator may hold of a device with the given total;
// ok is false when there is no limit.
//
// Since ~2.10 a fraction of 1 is no limit; before, it is one.
func (s *Settings) limit(total unit.Bytes) (limit unit.Bytes, ok bool) {
	if s.Fraction == nil || s.Version.since(v210) && *s.Fraction >= 1 {
		return 0, false
	}
	return unit.Bytes(math.Floor(*s.Fraction * float64(total))), true
}
