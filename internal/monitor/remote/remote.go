package remote

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/smi"
	"github.com/plimsoll-dev/plimsoll/series"
)

// Options say how a host is reached. Host and Now must be set.
type Options struct {
	Host string // as ssh takes it: a name, user@name, or an alias of its configuration
	Now  func() time.Time
	// Command connects to the host and runs a shell there; nil means ssh.
	Command []string
	// Patience is how long an answer may take before the connection is given up; 0
	// means 15 s.
	Patience time.Duration
}

// again is how long a host that failed is left alone.
const again = 5 * time.Second

// A Machine is another host. It is a monitor.Source, and Host is its other half.
type Machine struct {
	o    Options
	name string
	tree tree
	conn *connection // of the exchange that goes on
	life context.Context
	end  context.CancelFunc

	failed  *monitor.Unavailable // of the last try, until another
	retryAt time.Time
	mu      sync.Mutex // of pending: Close may be called while Read waits
	pending *outcome   // of an exchange that has not ended, or nil
	began   time.Time

	last   monitor.Reading
	lastAt time.Time
}

// An outcome is what an exchange brought, once done is closed.
type outcome struct {
	done    chan struct{}
	reading monitor.Reading
	err     error
}

// New returns the host. It connects when it is read.
func New(o Options) (*Machine, error) {
	name := o.Host[strings.LastIndexByte(o.Host, '@')+1:]
	if name == "" || strings.HasPrefix(o.Host, "-") || strings.ContainsFunc(o.Host, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("%q is no name of a host", o.Host)
	}
	if o.Command == nil {
		o.Command = command(o.Host)
	}
	if o.Patience == 0 {
		o.Patience = 15 * time.Second
	}
	m := &Machine{o: o, name: name}
	m.life, m.end = context.WithCancel(context.Background())
	var err error
	m.tree.root, err = os.MkdirTemp("", "plimsoll-host-")
	return m, err
}

// Name is "ssh" and the host.
func (m *Machine) Name() string { return "ssh " + m.o.Host }

// HostName is what the host is called in samples: its name without the user's.
func (m *Machine) HostName() string { return m.name }

// Close ends the connection and takes what was read away.
func (m *Machine) Close() error {
	m.end()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending != nil {
		<-m.pending.done // it ends with its connection
	}
	if m.conn != nil {
		m.conn.close()
	}
	return os.RemoveAll(m.tree.root)
}

// Read asks the host for its GPUs and what it says of their processes. An exchange
// that takes longer than ctx goes on, and the last reading is returned with its age.
func (m *Machine) Read(ctx context.Context) (monitor.Reading, error) {
	out, err := m.begin()
	if err != nil {
		return monitor.Reading{}, err
	}
	ctx, cancel := early(ctx)
	defer cancel()
	select {
	case <-out.done:
		m.mu.Lock()
		m.pending, m.failed = nil, nil
		m.mu.Unlock()
		if out.err != nil {
			m.failed, m.retryAt = m.unavailable(out.err), m.o.Now().Add(again)
			return monitor.Reading{}, m.failed
		}
		m.last, m.lastAt = out.reading, m.o.Now()
		return out.reading, nil
	case <-ctx.Done():
	}
	now := m.o.Now()
	waits := now.Sub(m.began)
	if m.lastAt.IsZero() || waits > m.o.Patience/2 {
		return monitor.Reading{}, &monitor.Unavailable{Source: m.Name(), Status: series.Stuck, Msg: fmt.Sprintf("no answer for %v", waits.Round(100*time.Millisecond))}
	}
	// nvidia-smi takes a second or two where the driver must wake GPUs.
	r := m.last
	r.Devices = slices.Clone(r.Devices)
	for i := range r.Devices {
		r.Devices[i].StaleFor = max(now.Sub(m.lastAt), 1)
	}
	return r, nil
}

// begin begins an exchange, unless the last one has not ended.
func (m *Machine) begin() (*outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pending != nil {
		return m.pending, nil
	}
	if m.failed != nil && m.o.Now().Before(m.retryAt) {
		return nil, m.failed
	}
	if err := m.life.Err(); err != nil {
		return nil, err // it was closed
	}
	out := &outcome{done: make(chan struct{})}
	m.pending, m.began = out, m.o.Now()
	go func() {
		defer close(out.done)
		out.reading, out.err = m.exchange()
	}()
	return out, nil
}

// early ends a little before ctx does: who gave it takes an answer at its end for
// none.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-50*time.Millisecond))
}

func (m *Machine) unavailable(err error) *monitor.Unavailable {
	if u, ok := err.(*monitor.Unavailable); ok { //nolint:errorlint // ours, never wrapped
		return u
	}
	return &monitor.Unavailable{Source: m.Name(), Status: series.Failed, Msg: err.Error(), Hint: "ssh " + m.o.Host + " must work without a password"}
}

// exchange is one round: GPUs, all processes, and files of those that count. It
// closes the connection that takes too long.
func (m *Machine) exchange() (monitor.Reading, error) {
	fresh := m.conn == nil
	if fresh {
		c, err := connect(m.life, m.o.Command)
		if err != nil {
			return monitor.Reading{}, err
		}
		m.conn = c
	}
	conn := m.conn
	timer := time.AfterFunc(m.o.Patience, func() { _ = conn.cmd.Process.Kill() })
	defer timer.Stop()
	if fresh {
		if _, _, err := conn.answer(); err != nil {
			m.conn = nil
			return monitor.Reading{}, err
		}
	}
	r, err := m.round(conn)
	if err != nil {
		m.conn = nil
		conn.close()
	}
	return r, err
}

func (m *Machine) round(c *connection) (monitor.Reading, error) {
	text, status, err := c.ask("gpus")
	if err != nil {
		return monitor.Reading{}, err
	}
	r := smi.ParseXML(bytes.NewReader(text))
	if len(r.Devices) == 0 {
		return r, m.noGPUs(text, status)
	}
	if text, _, err = c.ask("tree"); err != nil {
		return r, err
	}
	parents := m.tree.putProcesses(text)
	deep := around(parents, r.Uses)
	if text, _, err = c.ask("files " + strings.Join(paths(deep), " ")); err != nil {
		return r, err
	}
	m.tree.putFiles(text, deep)
	users := slices.Sorted(func(yield func(int) bool) {
		for pid := range r.Uses {
			if !yield(pid) {
				return
			}
		}
	})
	if len(users) > 0 {
		if text, _, err = c.ask("names " + words(users[:min(len(users), mostDeep)])); err != nil {
			return r, err
		}
		m.tree.putNames(text)
	}
	return r, nil
}

// noGPUs is why a host has none.
func (m *Machine) noGPUs(text []byte, status int) error {
	first, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), "\n")
	u := &monitor.Unavailable{Source: m.Name(), Status: series.NotSupported, Msg: "nvidia-smi shows no GPU there"}
	switch {
	case status == 127:
		u.Msg = "there is no nvidia-smi there"
	case status == 124:
		u.Status, u.Msg = series.Stuck, "nvidia-smi did not end within 10 s there"
	case status != 0:
		u = monitor.DriverCode(status).Unavailable(m.Name())
		if first != "" {
			u.Msg += ": " + first
		}
	}
	return u
}

// Host tells about the host what Read has brought last.
func (m *Machine) Host() monitor.Host { return &host{m, proc.New(proc.Options{Root: m.tree.start()})} }

type host struct {
	m *Machine
	r *proc.Reader
}

// Read reads the folder that is laid out like the host's /proc.
func (h *host) Read(uses map[int][]series.Use) monitor.HostReading {
	out := h.r.Read(uses)
	out.Host.Name, out.Host.Unprivileged = h.m.name, true
	return out
}

// Connect reads all hosts once, until ctx ends: what takes longest is to connect.
func Connect(ctx context.Context, machines []*Machine) {
	var all sync.WaitGroup
	for _, m := range machines {
		all.Go(func() { _, _ = m.Read(ctx) }) // samples tell what went wrong
	}
	all.Wait()
}
