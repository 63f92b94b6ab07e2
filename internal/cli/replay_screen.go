package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
)

// top is the run of top that shows the recording.
func (o replayOptions) top(stdio IO) *topRun {
	return &topRun{
		o:     topOptions{Output: o.Output, Interval: time.Second, GPUs: o.GPUs, Sort: "memory", Theme: "auto"},
		stdio: stdio, column: table.ColumnNamed("memory"), gpus: parseSelection(o.GPUs),
	}
}

// playReplay plays a recording on the screen: all of its hosts, or the one that was
// named.
func playReplay(ctx context.Context, stdio IO, o replayOptions) error {
	s, r, err := o.open(stdio)
	if err != nil {
		return err
	}
	defer s.Close()
	first, err := s.next()
	for err == nil && r.host != "" && first.Host.Name != r.host {
		first, err = s.next()
	}
	if errors.Is(err, io.EOF) {
		return r.noSample(o.Name)
	}
	if err != nil {
		return err
	}
	from, to, err := s.span()
	if err != nil {
		return err
	}
	if r.from.IsZero() {
		r.from = from
	}
	if r.to.IsZero() {
		r.to = to
	}
	p := newPlayer(stdio.Now, o.Speed, r.from, r.to, func(at time.Time) (*sampleFile, error) {
		s, err := openSamplesAs(o.Path, o.Name)
		if err != nil {
			return nil, err
		}
		return s, s.seek(at)
	}, func(s *series.Sample) bool {
		return (r.host == "" || s.Host.Name == r.host) && (o.To == "" || !s.Wall.After(r.to))
	})
	defer p.Close()
	return o.top(stdio).screen(ctx, tui.Options{Feed: p, Speed: o.Speed})
}

// once prints the state at the end of the range.
func (o replayOptions) once(ctx context.Context, stdio IO, r *replayRange) error {
	if !slices.Contains([]string{"text", "json", "csv"}, o.Format) {
		return WithHint(fmt.Errorf("--once has no format %q", o.Format), "--format takes text, json, csv with it")
	}
	r.choice = deviceChoice{} // top chooses
	var hosts []watchedHost
	var names []string
	err := r.each(ctx, func(s *series.Sample) error {
		i, ok := slices.BinarySearch(names, s.Host.Name)
		if !ok {
			names, hosts = slices.Insert(names, i, s.Host.Name), slices.Insert(hosts, i, watchedHost{})
		}
		hosts[i].window.Add(*s)
		return nil
	})
	if err != nil {
		return err
	}
	if len(hosts) == 0 {
		return r.noSample(o.Name)
	}
	for i := range hosts {
		hosts[i].judge()
	}
	return o.top(stdio).printOnce(hosts)
}
