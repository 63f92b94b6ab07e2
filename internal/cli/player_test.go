package cli

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/tui"
	"github.com/plimsoll-dev/plimsoll/series"
)

var _ tui.Player = (*player)(nil)

func playerOf(t *testing.T, now func() time.Time, speed float64) *player {
	t.Helper()
	path := demoRecording(t)
	f, err := openSamples(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	first, last, err := f.span()
	if err != nil {
		t.Fatal(err)
	}
	if first.Hour() == 11 {
		first = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) // the clock was put back later
	}
	p := newPlayer(now, speed, first, last, func(from time.Time) (*sampleFile, error) {
		f, err := openSamples(path)
		if err == nil {
			err = f.seek(from)
		}
		return f, err
	}, func(*series.Sample) bool { return true })
	t.Cleanup(p.Close)
	return p
}

// TestPlayerIsFast plays five minutes as fast as it can be read; time goes on over
// the gap and the clock that is put back.
func TestPlayerIsFast(t *testing.T) {
	p := playerOf(t, time.Now, 1e6)
	var before time.Duration = -1
	for n := 0; ; n++ {
		s, err := p.Next(t.Context())
		if errors.Is(err, io.EOF) {
			if n != 300 || before != 420*time.Second-time.Second {
				t.Errorf("%d samples, the last at %v", n, before)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.Since <= before {
			t.Fatalf("sample %d is at %v, the one before at %v", n, s.Since, before)
		}
		before = s.Since
	}
	if _, last := p.Span(); last != before {
		t.Errorf("span to %v", last)
	}
}

func TestPlayerKeepsTime(t *testing.T) {
	began := time.Now()
	p := playerOf(t, time.Now, 20)
	for range 11 {
		if _, err := p.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("ten seconds at 20 times the speed took %v", took)
	}
}

func TestPlayerSeeks(t *testing.T) {
	now := time.Now()
	p := playerOf(t, func() time.Time { return now }, 0) // stands still
	if s, err := p.Next(t.Context()); err != nil || s.Since != 0 {
		t.Fatalf("%v, %v", s.Since, err)
	}
	p.Seek(100 * time.Second)
	var s series.Sample
	for range 101 {
		var err error
		if s, err = p.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s.Since != 100*time.Second || s.Wall.Minute() != 1 {
		t.Errorf("at %v, %v", s.Since, s.Wall)
	}
	p.Seek(400 * time.Second) // after the clock was put back
	for s.Since != 400*time.Second {
		var err error
		if s, err = p.Next(t.Context()); err != nil || s.Since > 400*time.Second {
			t.Fatalf("%v, %v", s.Since, err)
		}
	}
	if s.Wall.Hour() != 11 {
		t.Errorf("at %v", s.Wall)
	}
	p.Seek(100 * time.Second)
	for range 101 {
		if _, err := p.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	waited := make(chan series.Sample)
	go func() {
		s, _ := p.Next(t.Context())
		waited <- s
	}()
	select {
	case s := <-waited:
		t.Fatalf("it stands still and gives %v", s.Since)
	case <-time.After(50 * time.Millisecond):
	}
	p.SetSpeed(1e9)
	p.mu.Lock()
	now = now.Add(time.Second)
	p.mu.Unlock()
	p.SetSpeed(1)
	if s := <-waited; s.Since != 101*time.Second {
		t.Errorf("then %v", s.Since)
	}
}
