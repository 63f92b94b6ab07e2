package tui

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A host is a machine whose samples come in. Each has its own: PIDs, times and what
// its GPUs wait for mean nothing on another.
type host struct {
	name    string
	window  watch.Window
	history history
	judged  map[string]watch.Judgement // by device
	scene   watch.Scene                // when it was judged

	now, before series.Sample // what is shown
}

// add takes the next sample in.
func (h *host) add(s *series.Sample) {
	before, _ := h.window.Last()
	h.history.add(s, before)
	h.window.Add(*s)
}

// show goes to the last sample at or before a time, or to the first that is kept.
func (h *host) show(at time.Duration) {
	samples := h.window.Samples()
	i := max(sort.Search(len(samples), func(i int) bool { return samples[i].Since > at })-1, 0)
	h.now, h.before = samples[i], series.Sample{}
	if i > 0 {
		h.before = samples[i-1]
	}
}

// rateBase is the sample that rates are taken against; nil where there is none.
func (h *host) rateBase() *series.Sample {
	if h.before.Since < h.now.Since {
		return &h.before
	}
	return nil
}

// rate is what a counter of the host grows by in a second.
func (h *host) rate(c series.Counter) series.Value {
	if h.before.Since >= h.now.Since || len(h.before.Host.Values) == 0 {
		return series.Value{}
	}
	return table.Rate(h.before.Host.Values.Get(c), h.now.Host.Values.Get(c), (h.now.Since - h.before.Since).Seconds())
}

// several reports whether there is more than one host, which are named then.
func (m *Model) several() bool { return len(m.hosts) > 1 }

// hostNamed is the host of this name; nil where none has it.
func (m *Model) hostNamed(name string) *host {
	if i, ok := m.findHost(name); ok {
		return m.hosts[i]
	}
	return nil
}

func (m *Model) findHost(name string) (int, bool) {
	return slices.BinarySearchFunc(m.hosts, name, func(h *host, name string) int { return strings.Compare(h.name, name) })
}

// hostOf is the host that a sample is of. Where it was wound back, what is known of
// the others is of the future and forgotten.
func (m *Model) hostOf(s *series.Sample) *host {
	i, ok := m.findHost(s.Host.Name)
	if !ok {
		m.hosts = slices.Insert(m.hosts, i, &host{name: s.Host.Name})
	}
	h := m.hosts[i]
	if last, _ := h.window.Last(); last != nil && s.Since < last.Since {
		m.hosts = []*host{h}
	}
	if !slices.Contains(m.hosts, m.host) {
		m.host = h
	}
	return h
}

// clock is how far the series has come on the screen.
func (m *Model) clock() time.Duration { return m.latest().now.Since }

// latest is the host whose sample is the newest of those that are shown.
func (m *Model) latest() *host {
	latest := m.host
	for _, h := range m.hosts {
		if h.now.Since > latest.now.Since {
			latest = h
		}
	}
	return latest
}

// silence is for how long nothing came of a host while others went on, 0 where it is
// not long.
func (m *Model) silence(h *host) time.Duration {
	if quiet := m.clock() - h.now.Since; quiet >= 3*m.o.Interval+time.Second {
		return quiet
	}
	return 0
}

// noDevice stands for the GPUs of a host that tells of none.
func noDevice(h *host) *series.Device {
	d := &series.Device{Index: -1, Minor: -1, Status: series.Failed, Problem: "no GPU was found"}
	if len(h.now.Problems) > 0 {
		d.Status, d.Problem = h.now.Problems[0].Status, h.now.Problems[0].What
	}
	return d
}

// quietFact is what a heading says of a host that is silent.
const quietFact = "no sample for"

// heading says of which host the GPUs below it are, and how it does.
func (m *Model) heading(h *host) []Fact {
	facts := []Fact{{"", strings.TrimSpace(m.machine(h))}}
	if quiet := m.silence(h); quiet > 0 {
		facts = append(facts, Fact{quietFact, words.About(quiet)})
	}
	if len(h.now.Devices) == 0 {
		return facts
	}
	return append(facts,
		Fact{"CPU", ofNumber(h.rate(series.HostCPUTime), h.now.Host.Values.Get(series.HostCPUs), "%.1f")},
		Fact{"memory", words.MemoryOf(taken(h.now.Host.Values), h.now.Host.Values.Get(series.HostMemoryTotal))})
}
