// Package all lists the sources of this machine's GPUs and chooses one.
package all

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/amd"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/nvml"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/smi"
	"github.com/plimsoll-dev/plimsoll/series"
)

// variable names, in the environment, the sources to try, joined by commas.
const variable = "PLIMSOLL_GPU_SOURCE"

// Options say what to try. Now must be set.
type Options struct {
	Getenv func(string) string // nil means no environment
	Now    func() time.Time
	// Sparing is for who looks on for hours: see nvml.Options.
	Sparing bool
}

// A kind is a source by name.
type kind struct {
	name string
	open func(context.Context, Options) (monitor.Source, error)
}

// kinds are the sources, the one that tells most first.
var kinds = []kind{
	{"nvml", func(ctx context.Context, o Options) (monitor.Source, error) {
		return nvml.Open(ctx, nvml.Options{Now: o.Now, Sparing: o.Sparing})
	}},
	{"nvidia-smi", func(ctx context.Context, o Options) (monitor.Source, error) {
		return smi.Open(ctx, smi.Options{Now: o.Now})
	}},
	{"amdgpu", func(ctx context.Context, o Options) (monitor.Source, error) {
		return amd.Open(ctx, amd.Options{Now: o.Now})
	}},
}

// Open returns the first source that can be opened. Where there is none, the error
// is that of a driver that is there and does not work, or says of each what is
// missing. A driver that has not started when ctx ends is opened; its reads say so.
func Open(ctx context.Context, o Options) (monitor.Source, error) {
	wanted, err := wantedKinds(o)
	if err != nil {
		return nil, err
	}
	var telling, first *monitor.Unavailable
	var said []string
	for _, k := range wanted {
		source, err := k.open(ctx, o)
		if err == nil {
			return source, nil
		}
		var u *monitor.Unavailable
		if !errors.As(err, &u) {
			return nil, err
		}
		if telling == nil && u.Status != series.NotSupported {
			telling = u
		}
		if first == nil {
			first = u
			said = append(said, u.Msg)
			continue
		}
		said = append(said, u.Error())
	}
	if telling != nil {
		return nil, telling
	}
	return nil, &monitor.Unavailable{Source: first.Source, Status: first.Status, Msg: strings.Join(said, "; "), Hint: first.Hint}
}

func wantedKinds(o Options) ([]kind, error) {
	text := ""
	if o.Getenv != nil {
		text = o.Getenv(variable)
	}
	if text == "" {
		return kinds, nil
	}
	var out []kind
	for word := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == strings.TrimSpace(word) })
		if i < 0 {
			names := make([]string, len(kinds))
			for j, k := range kinds {
				names[j] = k.name
			}
			return nil, fmt.Errorf("%s: there is no source %q, only %s", variable, word, strings.Join(names, ", "))
		}
		out = append(out, kinds[i])
	}
	return out, nil
}
