package tui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plimsoll-dev/plimsoll/series"
)

// GPUs are judged ever more seldom while they do the same, and soon when they do not.
func TestWhenGPUsAreJudged(t *testing.T) {
	m, err := New(t.Context(), Options{Feed: &script{}})
	if err != nil {
		t.Fatal(err)
	}
	sc := scene{"node", []act{trains, trains}, 4}
	var judgedAt []int
	play := func(from, to int, change func(*series.Sample)) {
		judgedAt = nil
		for at := from; at < to; at++ {
			s := sc.at(float64(at))
			change(&s)
			if _, cmd := m.Update(sampled{s, nil}); cmd != nil {
				judgedAt = append(judgedAt, at)
				m.Update(cmd())
			}
		}
	}
	same := func(*series.Sample) {}
	play(0, 300, same)
	if want := []int{0, 5, 10, 20, 40, 80, 140, 200, 260}; !slices.Equal(judgedAt, want) {
		t.Errorf("what does the same is judged at %v, want %v", judgedAt, want)
	}
	play(300, 330, func(s *series.Sample) { s.Processes = s.Processes[1:] })
	if want := []int{300}; !slices.Equal(judgedAt, want) {
		t.Errorf("after a process left it is judged at %v, want %v", judgedAt, want)
	}
	// Who comes and goes all the time does not have it judged all the time.
	play(330, 400, func(s *series.Sample) { s.Processes[0].PID = int(s.Since / time.Second) })
	if n := len(judgedAt); n < 4 || n > 5 {
		t.Errorf("with another process each second it is judged at %v", judgedAt)
	}
}

// A feed is read on by itself, says when it is quiet, and how it ended.
func TestSamplesAreSentAsTheyCome(t *testing.T) {
	feed := make(chan series.Sample)
	m, err := New(t.Context(), Options{Feed: channel(feed), Interval: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan tea.Msg, 8)
	m.send = func(msg tea.Msg) { sent <- msg }
	ended := make(chan tea.Msg)
	go func() { ended <- m.samples()() }()
	for at := range 3 {
		feed <- wholeScene.at(float64(at))
		if s, ok := (<-sent).(sampled); !ok || s.Since != time.Duration(at)*time.Second {
			t.Fatalf("after sample %d came %v", at, s.Since)
		}
	}
	if quiet, ok := (<-sent).(quieted); !ok {
		t.Errorf("of a feed that is quiet it says %v", quiet)
	}
	close(feed)
	if end, ok := (<-ended).(sampled); !ok || end.err == nil {
		t.Errorf("the end is %v", end)
	}
}
