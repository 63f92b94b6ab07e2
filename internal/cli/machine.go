package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/all"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/demo"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
)

// A machine is whose GPUs a command watches: the flags that mean the same in every
// one that does.
type machine struct {
	Demo bool
}

func (m *machine) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&m.Demo, "demo", false, "a machine of eight GPUs that is not there")
}

// openTime is how long a driver may take to start; one that takes longer is
// watched as one that hangs.
const openTime = 5 * time.Second

// open returns who takes samples of the machine, and what gives it back.
func (m *machine) open(ctx context.Context, stdio IO, mean time.Duration) (*monitor.Sampler, func(), error) {
	seed := uint64(stdio.Now().UnixNano())
	o := monitor.Options{Mean: mean, Now: stdio.Now, Rand: rand.New(rand.NewPCG(seed, seed>>1))}
	if m.Demo {
		d := demo.New(1, stdio.Now)
		o.Source, o.Host = d, d.Host()
		return monitor.NewSampler(o), func() {}, nil
	}
	opening, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	source, err := all.Open(opening, all.Options{Now: stdio.Now, Getenv: stdio.Getenv})
	if err != nil {
		return nil, nil, unavailable(err)
	}
	o.Source, o.Host = source, proc.New(proc.Options{})
	return monitor.NewSampler(o), func() { source.Close() }, nil //nolint:errcheck // what is left when leaving
}

// unavailable is the error of a machine whose GPUs cannot be asked about.
func unavailable(err error) error {
	hint := "plimsoll top --demo shows the screen without a GPU"
	if u, ok := errors.AsType[*monitor.Unavailable](err); ok && u.Hint != "" {
		hint = u.Hint + "; " + hint
	}
	return WithHint(fmt.Errorf("no GPU can be read: %w", err), hint)
}
