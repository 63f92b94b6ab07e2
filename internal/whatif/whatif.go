// Package whatif replays a recording under other settings of PyTorch's
// allocator and on cards of other sizes, and says what it would have taken.
//
// What operators ask for stays as it was recorded. That is true of settings
// and sizes, which PyTorch's operators do not look at; it is not true of
// another kind of card, whose properties they do.
package whatif

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/internal/alloc"
	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// An Allocator is PyTorch's, of one version and with one setting.
type Allocator struct {
	Conf     string // as in PYTORCH_CUDA_ALLOC_CONF
	settings alloc.Settings
}

// New reads a setting as the PyTorch of that version ("2.6.0+cu124") does.
// The error is PyTorch's own.
func New(conf, torch string) (Allocator, error) {
	version, err := alloc.ParseVersion(torch)
	if err != nil {
		version = alloc.Version{} // the newest
	}
	s, err := alloc.ParseSettings(conf, version)
	return Allocator{conf, s}, err
}

// Backend is the allocator that the setting chooses, "native" or "cudaMallocAsync".
func (a Allocator) Backend() string { return cmp.Or(a.settings.Backend, "native") }

// Endless is a room that no recording fills.
const Endless unit.Bytes = 1 << 50

// An Outcome is what one replay came to; sizes are peaks.
type Outcome struct {
	Requested unit.Bytes
	Allocated unit.Bytes
	Reserved  unit.Bytes
	Event     int  // of the allocated peak, -1 when nothing was allocated
	OOM       bool // the recording did not fit
	OOMEvent  int  // where, -1 when it did
	Retries   int  // times that the whole cache was given back to make room
}

const (
	// granularity is what cudaMalloc rounds up to.
	granularity = 2 * unit.MiB
	// longTape is a number of events at which replaying a tape twenty times
	// is felt.
	longTape = 5_000_000
)

// Needs is the smallest room in which the tape replays, given what it came to
// in an endless one: at least the allocated peak and at most the reserved
// one, since an allocator that is short of memory gives back what it caches.
func (a Allocator) Needs(t *tape.Tape, free Outcome) (unit.Bytes, error) {
	low, high := free.Allocated.RoundUp(granularity), free.Reserved.RoundUp(granularity)
	if t.Len() > longTape || low >= high {
		return high, nil
	}
	for low < high {
		middle := low + ((high - low) / 2 / granularity * granularity)
		out, err := a.Replay(t, middle)
		if err != nil {
			return 0, fmt.Errorf("replay in %s: %w", middle, err)
		}
		if out.OOM {
			low = middle + granularity
		} else {
			high = middle
		}
	}
	return high, nil
}
