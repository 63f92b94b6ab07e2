package cli

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
)

// watchedOptions are the flags of commands that take samples without a screen.
type watchedOptions struct {
	Machine  machine
	Interval time.Duration
	GPUs     string
}

func (o *watchedOptions) addFlags(cmd *cobra.Command) {
	o.Machine.addFlags(cmd)
	f := cmd.Flags()
	f.DurationVar(&o.Interval, "interval", time.Second, "mean time between samples; they come at random intervals, so that no step of a training looks slower than it is")
	f.StringVar(&o.GPUs, "gpu", "", "only these GPUs: `INDEX`, UUID or PCI address, several joined by commas")
}

// A watched is what samples are taken of: this machine, or others.
type watched struct {
	samplers []*monitor.Sampler
	stop     func()
	gpus     deviceChoice
}

// open begins to watch.
func (o *watchedOptions) open(ctx context.Context, stdio IO) (*watched, error) {
	if o.Interval < leastInterval || o.Interval > mostInterval {
		return nil, WithHint(fmt.Errorf("an interval of %v is not between %v and %v", o.Interval, leastInterval, mostInterval), "--interval 1s is usual")
	}
	w := &watched{gpus: deviceChoice{gpuSelection: parseSelection(o.GPUs)}}
	var err error
	w.samplers, w.stop, err = o.Machine.open(ctx, stdio, o.Interval)
	return w, err
}

// source is the name of who is asked.
func (w *watched) source() string { return w.samplers[0].Source() }

// run hands samples to each, one at a time, until ctx ends.
func (w *watched) run(ctx context.Context, each func(series.Sample)) {
	var one sync.Mutex
	var all sync.WaitGroup
	for _, sampler := range w.samplers {
		all.Go(func() {
			sampler.Run(ctx, func(s series.Sample) {
				one.Lock()
				defer one.Unlock()
				w.gpus.apply(&s)
				each(s)
			})
		})
	}
	all.Wait()
}

// A deviceChoice leaves the GPUs in samples that were asked for, and notes which of
// them could be read.
type deviceChoice struct {
	gpuSelection
	read map[string]bool // terms that a device with values was found for
}

// apply takes the other devices out of a sample.
func (c *deviceChoice) apply(s *series.Sample) {
	if len(c.gpuSelection) == 0 {
		return
	}
	if c.read == nil {
		c.read = map[string]bool{}
	}
	labels := table.Labels(s.Devices)
	kept := map[string]bool{}
	for i := range s.Devices {
		d := &s.Devices[i]
		for _, term := range c.gpuSelection {
			if selects(term, s.Host.Name, d, labels[d.ID]) {
				kept[d.ID] = true
				c.read[term] = c.read[term] || d.Status == series.OK
			}
		}
	}
	s.Devices = slices.DeleteFunc(slices.Clone(s.Devices), func(d series.Device) bool { return !kept[d.ID] })
	s.Processes = slices.Clone(s.Processes)
	for i := range s.Processes {
		p := &s.Processes[i]
		p.Uses = slices.DeleteFunc(slices.Clone(p.Uses), func(u series.Use) bool { return !kept[u.Device] })
	}
}

// unread are the terms whose devices were not there or never answered.
func (c *deviceChoice) unread() []string {
	return slices.DeleteFunc(slices.Clone(c.gpuSelection), func(term string) bool { return c.read[term] })
}
