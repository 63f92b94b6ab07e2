// Package monitor makes samples of a machine: it asks a source about GPUs, joins
// what it says with what the host says about the processes on them, and does so
// again and again at random intervals.
//
// Sources are its children (nvml, smi, amd, demo); a Source answers in time
// whatever its driver does. What the samples mean is not its business.
package monitor

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Source tells about the GPUs of one host.
type Source interface {
	// Name is what messages call it, "nvml".
	Name() string
	// Read reads all devices and the processes on them. It returns by the
	// deadline of ctx whatever the driver does: a device that does not answer
	// is in the Reading as Stuck. The error is for what leaves nothing to show,
	// such as a driver that is not loaded; it is an *Unavailable then.
	Read(ctx context.Context) (Reading, error)
	// Close gives the driver back. Reads that still hang are left behind.
	Close() error
}

// A Reading is what a source says of one moment.
type Reading struct {
	Driver string // version of the driver, "" where unknown
	CUDA   string // highest CUDA version it serves, "" where unknown
	// UnifiedMemory is set where a GPU has no memory of its own.
	UnifiedMemory bool

	Devices []series.Device
	// Uses are the processes on devices, by PID as the driver counts them.
	Uses     map[int][]series.Use
	Problems []series.Problem
}

// An Unavailable says why a source has nothing to say at all.
type Unavailable struct {
	Source string
	Status series.Status
	Msg    string // what was being done and what came of it
	Hint   string // what to try
}

// Error is the message without the hint.
func (u *Unavailable) Error() string { return u.Source + ": " + u.Msg }
