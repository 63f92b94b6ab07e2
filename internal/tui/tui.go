// Package tui is the screen of `plimsoll top`: GPUs with their load lines and
// what is to say of each, charts of the last minutes, the processes, and one
// process from near by.
//
// It shows what a Feed hands it and reads nothing itself: what touches the machine
// (killing a process, looking into one) is a function in Options. Update only
// changes state, and drawing only reads it, so a driver that hangs can never hang
// the screen.
package tui

import (
	"context"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/series"
)

// A Feed is where samples come from: a machine that is watched, or a recording
// that is played.
type Feed interface {
	// Next waits for the next sample. io.EOF says that there is none any more;
	// any other error ends the screen.
	Next(ctx context.Context) (series.Sample, error)
}

// A Player is a Feed that can be moved about in. Its methods return at once; they
// may be called while Next waits.
type Player interface {
	Feed
	// Seek goes to the last sample at or before a time of the series. Next then
	// gives some minutes of samples before it, at once, for the charts.
	Seek(to time.Duration)
	// SetSpeed says how many seconds of the series pass in one; 0 stands still.
	SetSpeed(speed float64)
	// Span is from the first sample to the last.
	Span() (first, last time.Duration)
}

// A Signal is one that the screen can send.
type Signal string

// The signals.
const (
	Interrupt Signal = "INT"
	Terminate Signal = "TERM"
	Kill      Signal = "KILL"
)

// A Fact is a name and its value, of one process.
type Fact struct{ Name, Value string }

// Options are what the screen shows, and how. Feed must be set.
type Options struct {
	Feed     Feed
	Interval time.Duration // mean time between samples; 0 means one second
	// Speed is that of a recording at first; 0 means 1.
	Speed float64
	// Shown says which devices are shown; nil shows all.
	Shown func(host string, d *series.Device, label string) bool

	Theme *canvas.Theme // nil asks the terminal whether it is dark
	ASCII bool
	Mouse bool

	Sort    *table.Column // nil sorts by memory
	Reverse bool
	Tree    bool
	Filter  string

	// Kill sends a signal to a process that began at a tick of the kernel's
	// clock; an error where another has its PID now. Nil where it cannot be.
	Kill func(pid int, started uint64, signal Signal) error
	// Look reads what is to say of a process beside its samples. Nil where
	// nothing can be read.
	Look func(pid int, started uint64) ([]Fact, error)
}

// A Terminal is what the screen is shown on.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	// Environ is the environment by which it is known what Out can show.
	Environ []string
	// Sizes are columns and lines, first as they are now and then whenever they
	// change.
	Sizes <-chan Size
	// Stop stops the process as Ctrl-Z does, and returns when it goes on; nil where
	// that cannot be.
	Stop func()
}

// A Size is that of a terminal.
type Size struct{ Width, Height int }

// Run shows the screen until the user leaves it, the context ends, or the feed
// fails.
//
// The loop and the keys are bubbletea's. Frames are not: its renderer reads a text
// again that was just made of cells, sixty times a second, which is most of what a
// screen costs that changes once a second. That it wakes up to find nothing costs a
// twentieth even once a second, so it is stopped; bubbletea does so for who gives the
// terminal to another program, with the keyboard, which is therefore not its own here.
func Run(ctx context.Context, t Terminal, o Options) error {
	m, err := New(ctx, o)
	if err != nil {
		return err
	}
	m.profile = colorprofile.Detect(t.Out, t.Environ)
	m.painter = newPainter(t.Out)
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithEnvironment(t.Environ),
		tea.WithoutSignalHandler(), tea.WithFPS(1))
	m.send, m.stop, m.rest = p.Send, t.Stop, p.ReleaseTerminal
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-t.Sizes:
				p.Send(s)
			case <-done:
				return
			}
		}
	}()
	keys, err := newKeyboard(ctx, t, p.Send)
	if err != nil {
		return err
	}
	m.painter.enter(m.mouse)
	_, err = p.Run()
	keys.close()
	m.painter.leave()
	switch {
	case m.failed != nil:
		return m.failed
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("show the screen: %w", err)
	}
	return nil
}

// Still is the screen after samples, as a picture of it.
func Still(samples []series.Sample, size Size, o Options) (*canvas.Canvas, error) {
	m, err := New(context.Background(), o)
	if err != nil {
		return nil, err
	}
	m.Update(size)
	m.judging = true // once, at the end
	for _, s := range samples {
		m.Update(sampled{s, nil})
	}
	m.Update(m.judgement()())
	m.View()
	return m.canvas, nil
}
