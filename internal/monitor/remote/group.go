package remote

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A Group shows several hosts as one machine, for a screen: GPUs are numbered on
// from host to host and their names begin with the host's, users are user@host, and a
// host that fails is a row that says why. It is a monitor.Source and, by Host, a
// monitor.Host.
type Group struct {
	machines []*Machine
	samplers []*monitor.Sampler

	mu        sync.Mutex
	processes []series.Process // of the last Read
}

// hostPatience is how long one host may take for a sample: shorter than a sampler of
// the group waits.
const hostPatience = 600 * time.Millisecond

// NewGroup returns the hosts as one machine.
func NewGroup(machines []*Machine, now func() time.Time) *Group {
	g := &Group{machines: machines}
	for _, m := range machines {
		g.samplers = append(g.samplers, monitor.NewSampler(monitor.Options{Source: m, Host: m.Host(), Patience: hostPatience, Now: now}))
	}
	return g
}

// Name is "ssh".
func (g *Group) Name() string { return "ssh" }

// Close ends the connections.
func (g *Group) Close() error {
	var errs []error
	for _, m := range g.machines {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// Connect reads all hosts once, until ctx ends: what takes longest is to connect.
func Connect(ctx context.Context, machines []*Machine) {
	var all sync.WaitGroup
	for _, m := range machines {
		all.Go(func() { _, _ = m.Read(ctx) }) // samples tell what went wrong
	}
	all.Wait()
}

// Read reads all hosts at the same time.
func (g *Group) Read(ctx context.Context) (monitor.Reading, error) {
	list := make([]series.Sample, len(g.samplers))
	var all sync.WaitGroup
	for i, s := range g.samplers {
		all.Go(func() { list[i] = s.Sample(ctx) })
	}
	all.Wait()
	var r monitor.Reading
	var processes []series.Process
	for i := range list {
		processes = append(processes, add(&r, g.machines[i], &list[i])...)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.processes = processes
	return r, nil
}

// add adds the sample of a host, and returns its processes.
func add(r *monitor.Reading, m *Machine, s *series.Sample) []series.Process {
	first := 0
	for _, d := range r.Devices {
		if d.Parent == "" {
			first = max(first, d.Index+1)
		}
	}
	if len(s.Devices) == 0 {
		d := series.Device{ID: "host:" + m.name, Index: first, Name: m.name, Minor: -1, Status: series.Stuck, Problem: "connecting"}
		for _, p := range s.Problems {
			d.Status, d.Problem = p.Status, p.What
		}
		d.Values = monitor.WithoutAll(series.ScopeDevice, d.Status)
		r.Devices = append(r.Devices, d)
		return nil
	}
	for _, d := range s.Devices {
		if d.Parent == "" {
			d.Index += first
		}
		d.Name = m.name + ": " + d.Name
		r.Devices = append(r.Devices, d)
	}
	for i := range s.Processes {
		if p := &s.Processes[i]; p.User != "" {
			p.User += "@" + m.name
		}
	}
	r.Problems = append(r.Problems, s.Problems...)
	return s.Processes
}

// Host tells of the processes that Read has brought last. What the hosts do beside
// them is not summed up.
func (g *Group) Host() monitor.Host { return groupHost{g} }

type groupHost struct{ g *Group }

func (h groupHost) Read(map[int][]series.Use) monitor.HostReading {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	return monitor.HostReading{Processes: h.g.processes}
}
