package cli

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/plimsoll-dev/plimsoll/series"
)

// A player plays a recording to a screen, at any speed. Its time is that since the
// recording's beginning; gaps are passed over.
type player struct {
	now  func() time.Time
	open func(from time.Time) (*sampleFile, error) // at the first sample that is not before
	take func(*series.Sample) bool                 // false for samples that are not shown

	mu     sync.Mutex
	first  time.Time // of the recording, by its host's clock
	last   time.Duration
	speed  float64
	at     time.Duration // of the recording, when it was since
	since  time.Time
	seek   *time.Duration
	change chan struct{} // closed by Seek and SetSpeed

	// Of Next alone.
	file  *sampleFile
	until time.Duration // samples up to here are given at once
	skip  time.Duration // samples before here are not given
	begun time.Duration // where the file was opened
	hosts map[string]*track
	next  *series.Sample
}

// A track is where in a recording the samples of one host are.
type track struct {
	before *series.Sample
	at     time.Duration
}

// longestWait is how long nothing is shown of a gap.
const longestWait = 10 * time.Second

// leadIn is how much before the place that was asked for the charts have.
const leadIn = 3 * time.Minute

func newPlayer(now func() time.Time, speed float64, first, last time.Time, open func(time.Time) (*sampleFile, error), take func(*series.Sample) bool) *player {
	return &player{now: now, open: open, take: take, first: first, last: max(last.Sub(first), 0), speed: speed, since: now(), change: make(chan struct{}), seek: new(time.Duration)}
}

// Span is from the beginning to the last sample.
func (p *player) Span() (first, last time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return 0, p.last
}

// SetSpeed says how many seconds of the recording pass in one.
func (p *player) SetSpeed(speed float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.since, p.speed = p.head(), p.now(), speed
	p.changed()
}

// Seek goes to the last sample at or before a time.
func (p *player) Seek(to time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seek = &to
	p.changed()
}

func (p *player) changed() {
	close(p.change)
	p.change = make(chan struct{})
}

// head is what is played now; p.mu is held.
func (p *player) head() time.Duration {
	return p.at + time.Duration(float64(p.now().Sub(p.since))*p.speed)
}

// Next waits for the next sample.
func (p *player) Next(ctx context.Context) (series.Sample, error) {
	for {
		if err := p.goTo(ctx); err != nil {
			return series.Sample{}, err
		}
		if p.next == nil {
			if err := p.read(ctx); err != nil {
				return series.Sample{}, err
			}
		}
		p.mu.Lock()
		if p.seek != nil {
			p.mu.Unlock()
			continue
		}
		wait := p.next.Since - p.head()
		due := p.next.Since <= p.until || wait <= 0
		if !due && wait > longestWait {
			p.at, p.since = p.next.Since-longestWait, p.now()
			wait = longestWait
		}
		speed, change := p.speed, p.change
		p.mu.Unlock()
		if due {
			s := *p.next
			p.next = nil
			return s, nil
		}
		if err := waitFor(ctx, wait, speed, change); err != nil {
			return series.Sample{}, err
		}
	}
}

// waitFor waits for a time of the recording, or until something changes.
func waitFor(ctx context.Context, wait time.Duration, speed float64, change <-chan struct{}) error {
	var due <-chan time.Time
	if speed > 0 {
		timer := time.NewTimer(time.Duration(float64(wait) / speed))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-change:
	case <-due:
	}
	return nil
}

// goTo goes where Seek said.
func (p *player) goTo(ctx context.Context) error {
	p.mu.Lock()
	seek := p.seek
	p.seek = nil
	if seek != nil {
		p.at, p.since = *seek, p.now()
	}
	p.mu.Unlock()
	if seek == nil {
		return nil
	}
	p.Close()
	from := max(*seek-leadIn, 0)
	p.until, p.skip = *seek, 0
	err := p.begin(ctx, p.first.Add(from), from)
	if errors.Is(err, io.EOF) && from > 0 {
		// The clock was put back: what was asked for has earlier times.
		p.Close()
		p.skip = from
		err = p.begin(ctx, time.Time{}, 0)
	}
	return err
}

// begin opens the file at a time, which is at a time of the recording, and reads the
// first sample.
func (p *player) begin(ctx context.Context, wall time.Time, at time.Duration) error {
	file, err := p.open(wall)
	if err != nil {
		return err
	}
	p.file, p.next, p.begun, p.hosts = file, nil, at, map[string]*track{}
	return p.read(ctx)
}

// read reads the next sample that is shown.
func (p *player) read(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := p.file.next()
		if err != nil {
			p.next = nil
			return err
		}
		if !p.take(s) {
			continue
		}
		t := p.hosts[s.Host.Name]
		if t == nil {
			t = &track{at: p.begun}
			p.hosts[s.Host.Name] = t
		}
		if p.next = t.put(s, p.first); p.next.Since >= p.skip {
			p.mu.Lock()
			p.last = max(p.last, p.next.Since)
			p.mu.Unlock()
			return nil
		}
	}
}

// put is s with the time since the beginning of the recording in place of that since
// its recorder was started.
func (p *track) put(s *series.Sample, first time.Time) *series.Sample {
	switch {
	case p.before == nil:
		p.at = max(p.at, s.Wall.Sub(first))
	case s.Since >= p.before.Since && s.Host.BootID == p.before.Host.BootID:
		p.at += s.Since - p.before.Since
	default: // it was stopped and started anew
		p.at += max(s.Wall.Sub(p.before.Wall), 0)
	}
	p.before = s
	out := *s
	out.Since = p.at
	return &out
}

// Close closes the file.
func (p *player) Close() {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
}
