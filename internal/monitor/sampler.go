package monitor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A Host tells about the machine and the processes on it.
type Host interface {
	// Read reads the host, the processes that uses names and those around them:
	// their children, workers and launchers. It does not wait for anything.
	Read(uses map[int][]series.Use) HostReading
}

// A HostReading is what a Host says of one moment.
type HostReading struct {
	Host      series.Host
	Processes []series.Process
	Problems  []series.Problem
}

// Options are what a Sampler needs. Source, Now and Rand must be set.
type Options struct {
	Source Source
	Host   Host // nil where only GPUs are of interest
	// Mean is the mean time between samples; 0 means one second.
	Mean time.Duration
	// Dense is for how long samples come Denser times as often at the
	// beginning: a job that is short, or that has just begun, is seen well, and
	// one that goes on costs what Mean says.
	Dense time.Duration
	// Patience is how long one sample may wait for its source; 0 means 700 ms.
	// A source that needs longer goes on in the background, and its devices are
	// shown as Stuck until it has come back.
	Patience time.Duration
	Now      func() time.Time
	Rand     *rand.Rand
}

// A Sampler makes samples of one host. Its methods must not be called at the
// same time.
type Sampler struct {
	o     Options
	began time.Time

	source Question[answer]
	last   Reading // the last one that came
	lastAt time.Time

	host     Question[HostReading]
	lastHost HostReading
}

type answer struct {
	reading Reading
	err     error
}

// NewSampler returns a Sampler whose series begins now.
func NewSampler(o Options) *Sampler {
	if o.Mean <= 0 {
		o.Mean = time.Second
	}
	if o.Patience <= 0 {
		o.Patience = 700 * time.Millisecond
	}
	return &Sampler{o: o, began: o.Now()}
}

// The bounds of an interval as shares of the mean. Samples at even intervals show
// false periods of anything that repeats faster than twice the interval; at random
// ones they do not.
const (
	shortest = 0.3
	longest  = 1.7
)

// Denser is how many times as often samples come while Options.Dense lasts.
const Denser = 5

// Interval draws the time from one sample to the next.
func (s *Sampler) Interval() time.Duration {
	mean := float64(s.o.Mean)
	if s.o.Now().Sub(s.began) < s.o.Dense {
		mean /= Denser
	}
	return time.Duration((shortest + (longest-shortest)*s.o.Rand.Float64()) * mean)
}

// Source is the name of who is asked, "nvml".
func (s *Sampler) Source() string { return s.o.Source.Name() }

// Run hands samples to each, the first at once, until ctx ends. The time that a
// sample takes is part of the interval.
func (s *Sampler) Run(ctx context.Context, each func(series.Sample)) {
	for {
		due := s.o.Now().Add(s.Interval())
		each(s.Sample(ctx))
		timer := time.NewTimer(due.Sub(s.o.Now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// Sample makes one sample. It waits for the source and for the host for
// Options.Patience each, and for who made it wait the last time not at all.
func (s *Sampler) Sample(ctx context.Context) series.Sample {
	now := s.o.Now()
	sample := series.Sample{Wall: now, Since: now.Sub(s.began)}
	reading, problems := s.read(ctx, now)
	sample.Devices = reading.Devices
	sample.Problems = append(problems, reading.Problems...)
	uses := reading.Uses
	if s.o.Host != nil {
		host := s.readHost(ctx, uses)
		sample.Host, sample.Processes = host.Host, host.Processes
		sample.Problems = append(sample.Problems, host.Problems...)
	} else {
		sample.Processes = bare(uses)
	}
	sample.Host.Driver, sample.Host.CUDA = reading.Driver, reading.CUDA
	sample.Host.UnifiedMemory = sample.Host.UnifiedMemory || reading.UnifiedMemory
	return sample
}

// read asks the source, or takes the answer it still owes.
func (s *Sampler) read(ctx context.Context, now time.Time) (Reading, []series.Problem) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	a, ok := s.source.Ask(ctx, func() answer {
		r, err := s.o.Source.Read(ctx)
		return answer{r, err}
	})
	switch {
	case !ok:
		return s.without(now, series.Stuck), []series.Problem{{
			Source: s.o.Source.Name(), Status: series.Stuck,
			What: fmt.Sprintf("reading the GPUs takes more than %v, as if the driver hung; the values shown are the last ones", s.o.Patience),
		}}
	case a.err != nil:
		return s.without(now, statusOf(a.err)), []series.Problem{problemOf(s.o.Source.Name(), a.err)}
	}
	s.last, s.lastAt = a.reading, now
	return a.reading, nil
}

// readHost reads the host. Files of a process that hangs in the kernel may make
// their reader hang, too; then processes are as they were, without values.
func (s *Sampler) readHost(ctx context.Context, uses map[int][]series.Use) HostReading {
	ctx, cancel := context.WithTimeout(ctx, s.o.Patience)
	defer cancel()
	r, ok := s.host.Ask(ctx, func() HostReading { return s.o.Host.Read(uses) })
	if ok {
		s.lastHost = r
		return r
	}
	r = s.lastHost
	r.Host.Values = WithoutAll(series.ScopeHost, series.Stuck)
	r.Processes = slices.Clone(r.Processes)
	for i := range r.Processes {
		p := &r.Processes[i]
		p.Uses, p.Values = uses[p.PID], WithoutAll(series.ScopeProcess, series.Stuck)
	}
	r.Problems = []series.Problem{{Source: "proc", Status: series.Stuck, What: "reading the processes does not end, as if one of them hung in the kernel; they are shown without values"}}
	return r
}

// without is the last reading, as it stands after one that brought nothing: its
// devices are still there, and their values are not fresh.
func (s *Sampler) without(now time.Time, why series.Status) Reading {
	r := s.last
	r.Devices = slices.Clone(r.Devices)
	r.Problems = nil
	for i := range r.Devices {
		d := &r.Devices[i]
		if d.Status == series.Lost {
			continue
		}
		if why == series.Stuck {
			d.StaleFor += now.Sub(s.lastAt)
		} else {
			d.Values = WithoutAll(series.ScopeDevice, why)
		}
		d.Status = why
	}
	return r
}

// WithoutAll are values of a scope of which none could be read.
func WithoutAll(scope series.Scope, why series.Status) series.Values {
	var vs series.Values
	for _, row := range series.Counters(scope) {
		vs.Set(row.Counter, series.Without(why))
	}
	return vs
}

func statusOf(err error) series.Status {
	var u *Unavailable
	if errors.As(err, &u) {
		return u.Status
	}
	return series.Failed
}

func problemOf(source string, err error) series.Problem {
	p := series.Problem{Source: source, Status: statusOf(err), What: err.Error()}
	var u *Unavailable
	if errors.As(err, &u) {
		p.Source, p.What = u.Source, u.Msg
		if u.Hint != "" {
			p.What += "; " + u.Hint
		}
	}
	return p
}

// bare are the processes of uses when nobody tells about the host.
func bare(uses map[int][]series.Use) []series.Process {
	var out []series.Process
	for pid, u := range uses {
		out = append(out, series.Process{PID: pid, Rank: -1, Uses: u})
	}
	slices.SortFunc(out, func(a, b series.Process) int { return a.PID - b.PID })
	return out
}
