package cli

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/tui"
	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/series"
)

// live shows the machine until the user leaves it.
func (r *topRun) live(ctx context.Context, sampler *monitor.Sampler) error {
	o := tui.Options{Feed: &liveFeed{sampler: sampler, now: r.stdio.Now}}
	if !r.o.Machine.Demo {
		o.Kill, o.Look = kill, look
	}
	return r.screen(ctx, o)
}

// screen shows a feed as the flags say.
func (r *topRun) screen(ctx context.Context, from tui.Options) error {
	o := tui.Options{
		Feed: from.Feed, Kill: from.Kill, Look: from.Look, Speed: from.Speed, Interval: r.o.Interval, Mouse: !r.o.NoMouse, ASCII: report.OptionsFor(r.stdio.Getenv, true, 0).ASCII,
		Sort: r.column, Reverse: r.o.Reverse, Tree: r.o.Tree, Filter: r.filterText(), Shown: r.gpus.has, Theme: canvas.ThemeNamed(r.o.Theme),
	}
	if r.stdio.Getenv("NO_COLOR") != "" {
		o.Theme = canvas.ThemeNamed("mono")
	}
	return tui.Run(ctx, r.stdio.In, r.stdio.Out, terminalEnvironment(r.stdio.Getenv), o)
}

// terminalVariables are those by which a terminal and what it can do are known.
var terminalVariables = []string{
	"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TMUX", "STY", "SSH_TTY", "WT_SESSION",
	"LC_TERMINAL", "LC_ALL", "LC_CTYPE", "LANG", "COLORFGBG", "VTE_VERSION", "GOOGLE_CLOUD_SHELL", "ConEmuANSI",
}

func terminalEnvironment(getenv func(string) string) []string {
	var out []string
	for _, name := range terminalVariables {
		if v := getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// A liveFeed hands on samples of a machine when they are due.
type liveFeed struct {
	sampler *monitor.Sampler
	now     func() time.Time
	due     time.Time // of the next sample; zero for the first
}

// Next waits until a sample is due and takes it.
func (f *liveFeed) Next(ctx context.Context) (series.Sample, error) {
	if !f.due.IsZero() {
		timer := time.NewTimer(f.due.Sub(f.now()))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return series.Sample{}, ctx.Err()
		case <-timer.C:
		}
	}
	f.due = f.now().Add(f.sampler.Interval())
	return f.sampler.Sample(ctx), nil
}

// signals are those of the screen as the kernel numbers them.
var signals = map[tui.Signal]unix.Signal{tui.Interrupt: unix.SIGINT, tui.Terminate: unix.SIGTERM, tui.Kill: unix.SIGKILL}

// kill sends a signal to a process if it is the one that began then.
func kill(pid int, started uint64, signal tui.Signal) error {
	return proc.Signal(pid, started, signals[signal])
}

// look reads the environment of a process.
func look(pid int, started uint64) ([]tui.Fact, error) {
	variables, err := proc.Environment(pid, started)
	facts := make([]tui.Fact, len(variables))
	for i, v := range variables {
		facts[i] = tui.Fact{Name: v.Name, Value: v.Value}
	}
	return facts, err
}
