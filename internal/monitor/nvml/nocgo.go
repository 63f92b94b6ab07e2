//go:build !cgo || !linux

package nvml

import (
	"context"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// Open says that this build has no NVML.
func Open(context.Context, Options) (monitor.Source, error) {
	return nil, &monitor.Unavailable{
		Source: "nvml", Status: series.NotSupported,
		Msg:  "this build of plimsoll was made without cgo and cannot load the driver's library",
		Hint: "nvidia-smi is asked instead; build with CGO_ENABLED=1 for all counters",
	}
}
