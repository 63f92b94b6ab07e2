package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/all"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/demo"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/remote"
)

// A machine is whose GPUs a command watches: the flags that mean the same in every
// one that does.
type machine struct {
	Demo bool
	// Patience is how long to wait for a driver that has not started, the first
	// sample with it; 0 is slowStart.
	Patience time.Duration
	// Sparing says that somebody looks on for hours: see proc.Options, nvml.Options.
	Sparing bool
	Hosts   string // others, joined by commas
}

func (m *machine) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&m.Demo, "demo", false, "a machine of eight GPUs that is not there")
}

// addHostFlag gives cmd the flag for other machines.
func (m *machine) addHostFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.Hosts, "host", "", "watch these `HOSTS` over ssh, several joined by commas; nothing is installed there")
}

// remote returns the other machines that are named; none where this one is meant.
func (m *machine) remote(ctx context.Context, stdio IO) ([]*remote.Machine, error) {
	if m.Hosts == "" {
		return nil, nil
	}
	if m.Demo {
		return nil, errors.New("--demo and --host both say what to watch; give one")
	}
	var list []*remote.Machine
	seen := map[string]bool{}
	for name := range strings.SplitSeq(m.Hosts, ",") {
		r, err := remote.New(remote.Options{Host: strings.TrimSpace(name), Now: stdio.Now})
		if err == nil {
			list = append(list, r)
			if seen[r.HostName()] {
				err = fmt.Errorf("--host names %s twice", r.HostName())
			}
			seen[r.HostName()] = true
		}
		if err != nil {
			closeAll(list)
			return nil, WithHint(err, "--host takes names as ssh does: --host node1,ann@node2")
		}
	}
	opening, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	remote.Connect(opening, list)
	return list, nil
}

func closeAll(list []*remote.Machine) {
	for _, r := range list {
		r.Close() //nolint:errcheck // what is left when leaving
	}
}

// openTime is how long other hosts may take to answer.
const openTime = 5 * time.Second

// How long a driver may take to start; one that takes longer is watched as one that
// hangs. A screen and a command that is run do not wait for it, and who asks for the
// state of now gets an answer within a second. One that is to find free GPUs waits, since a driver that must wake its GPUs takes a second or two, and
// says so where that is long for who waits.
const (
	quickStart  = 300 * time.Millisecond
	answerStart = time.Second
	slowStart   = 3 * time.Second
	waitSilent  = 900 * time.Millisecond
	// firstRead is how long the first sample waits for such a driver once more.
	firstRead = 600 * time.Millisecond
)

// openGPUs opens the GPUs of this machine for who records all that they tell.
func openGPUs(ctx context.Context, stdio IO, patience time.Duration) (monitor.Source, error) {
	return openFor(ctx, stdio, patience, false)
}

// openFor opens the GPUs of this machine.
func openFor(ctx context.Context, stdio IO, patience time.Duration, sparing bool) (monitor.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, max(patience-firstRead, quickStart))
	defer cancel()
	notice := time.AfterFunc(waitSilent, func() {
		fmt.Fprintln(stdio.Err, "plimsoll: waiting for the driver of the GPUs to start")
	})
	defer notice.Stop()
	return all.Open(ctx, all.Options{Now: stdio.Now, Getenv: stdio.Getenv, Sparing: sparing})
}

// open returns who takes samples of the machine, or of each of the other machines, and
// what gives them back.
func (m *machine) open(ctx context.Context, stdio IO, mean time.Duration) ([]*monitor.Sampler, func(), error) {
	seed := uint64(stdio.Now().UnixNano())
	o := monitor.Options{Mean: mean, Now: stdio.Now, Rand: rand.New(rand.NewPCG(seed, seed>>1))}
	others, err := m.remote(ctx, stdio)
	if err != nil {
		return nil, nil, err
	}
	if m.Demo {
		d := demo.New(1, stdio.Now)
		o.Source, o.Host = d, d.Host()
		return []*monitor.Sampler{monitor.NewSampler(o)}, func() {}, nil
	}
	if len(others) > 0 {
		var samplers []*monitor.Sampler
		for i, r := range others {
			o.Source, o.Host, o.Rand = r, r.Host(), rand.New(rand.NewPCG(seed, uint64(i)))
			samplers = append(samplers, monitor.NewSampler(o))
		}
		return samplers, func() { closeAll(others) }, nil
	}
	source, err := openFor(ctx, stdio, cmp.Or(m.Patience, slowStart), m.Sparing)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	o.Source, o.Host = source, proc.New(proc.Options{Sparing: m.Sparing})
	return []*monitor.Sampler{monitor.NewSampler(o)}, func() { source.Close() }, nil //nolint:errcheck // what is left when leaving
}

// unavailable is the error of a machine whose GPUs cannot be asked about.
func unavailable(err error) error {
	hint := "plimsoll top --demo shows the screen without a GPU"
	if u, ok := errors.AsType[*monitor.Unavailable](err); ok && u.Hint != "" {
		hint = u.Hint + "; " + hint
	}
	return WithHint(fmt.Errorf("no GPU can be read: %w", err), hint)
}
