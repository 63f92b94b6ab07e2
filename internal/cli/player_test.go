package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/internal/format/samples"
	"github.com/plimsoll-dev/plimsoll/internal/tui"
	"github.com/plimsoll-dev/plimsoll/series"
)

var _ tui.Player = (*player)(nil)

func playerOf(t *testing.T, now func() time.Time, speed float64) *player {
	t.Helper()
	return playerOfFile(t, demoRecording(t), now, speed)
}

func playerOfFile(t *testing.T, path string, now func() time.Time, speed float64) *player {
	t.Helper()
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

// TestPlayerOfHosts plays two hosts, of which the clock of one is put back and the
// recorder of the other starts anew: each goes on in its own time, and none leaves the
// other's by more than its samples are apart.
func TestPlayerOfHosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts.series")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := samples.NewWriter(f)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for i := range 200 {
		at := time.Duration(i) * time.Second
		a := series.Sample{Wall: begin.Add(at), Since: at, Host: series.Host{Name: "a", BootID: "1"}}
		if i > 120 {
			a.Wall = a.Wall.Add(-time.Hour)
		}
		b := series.Sample{Wall: begin.Add(at + 500*time.Millisecond), Since: at, Host: series.Host{Name: "b", BootID: "2"}}
		if i > 90 {
			b.Since -= 91 * time.Second
		}
		for _, s := range []*series.Sample{&a, &b} {
			if err := w.Write(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	p := playerOfFile(t, path, time.Now, 1e6)
	last, n := map[string]time.Duration{"a": -1, "b": -1}, 0
	for ; ; n++ {
		s, err := p.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.Since <= last[s.Host.Name] {
			t.Fatalf("a sample of %s is at %v, the one before at %v", s.Host.Name, s.Since, last[s.Host.Name])
		}
		last[s.Host.Name] = s.Since
		if apart := (last["a"] - last["b"]).Abs(); n > 1 && apart > 2*time.Second {
			t.Fatalf("after %d samples a is at %v and b at %v", n, last["a"], last["b"])
		}
	}
	if n != 400 || last["a"] != 199*time.Second {
		t.Errorf("%d samples, the last of a at %v", n, last["a"])
	}
	p.Seek(100 * time.Second)
	seen := map[string]time.Duration{}
	for len(seen) < 2 || seen["a"] < 100*time.Second {
		s, err := p.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen[s.Host.Name] = s.Since
	}
	if seen["b"] < 98*time.Second || seen["b"] > 101*time.Second {
		t.Errorf("after going to 100 s b is at %v", seen["b"])
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
