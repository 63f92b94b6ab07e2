package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/tui"
	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/series"
)

// live shows the machine until the user leaves it.
func (r *topRun) live(ctx context.Context, samplers []*monitor.Sampler) error {
	o := tui.Options{Feed: &liveFeed{sampler: samplers[0], now: r.stdio.Now}}
	if len(samplers) > 1 {
		f := watchHosts(ctx, samplers)
		defer f.Close()
		o.Feed = f
	}
	if !r.o.Machine.Demo && r.o.Machine.Hosts == "" {
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
	beLean()
	sizes, stop := terminalSizes(r.stdio)
	defer stop()
	k := keyboard{fd: -1}
	if f, ok := r.stdio.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		k.fd = int(f.Fd())
	}
	if err := k.take(); err != nil {
		return err
	}
	defer k.give()
	return tui.Run(ctx, tui.Terminal{In: r.stdio.In, Out: r.stdio.Out, Environ: terminalEnvironment(r.stdio.Getenv), Sizes: sizes, Stop: k.stop}, o)
}

// A keyboard is a terminal from which keys are taken one by one.
type keyboard struct {
	fd  int // -1 where there is none
	was *term.State
}

func (k *keyboard) take() (err error) {
	if k.fd >= 0 {
		if k.was, err = term.MakeRaw(k.fd); err != nil {
			return fmt.Errorf("take keys from the terminal one by one: %w", err)
		}
	}
	return nil
}

// give gives the terminal back as it was.
func (k *keyboard) give() {
	if k.fd >= 0 {
		term.Restore(k.fd, k.was) //nolint:errcheck // it may be gone
	}
}

// stop stops the process with those that were started with it, as Ctrl-Z does, until
// the shell has it go on.
func (k *keyboard) stop() {
	k.give()
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, unix.SIGCONT)
	defer signal.Stop(goesOn)
	unix.Kill(0, unix.SIGTSTP) //nolint:errcheck // one's own group
	<-goesOn
	k.take() //nolint:errcheck // it was one before
}

// terminalSizes tells the size of the terminal now, and whenever it changes. Of many
// changes that come at once the last one counts.
func terminalSizes(stdio IO) (sizes <-chan tui.Size, stop func()) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, unix.SIGWINCH)
	out := make(chan tui.Size)
	done := make(chan struct{})
	go func() {
		for {
			if size, ok := sizeOf(stdio.Out); ok {
				select {
				case out <- size:
				case <-done:
					return
				}
			}
			select {
			case <-changed:
			case <-done:
				return
			}
		}
	}()
	return out, func() { signal.Stop(changed); close(done) }
}

// sizeOf is the size of a terminal; one that does not tell is as the first ones
// were.
func sizeOf(w io.Writer) (tui.Size, bool) {
	f, ok := w.(*os.File)
	if !ok {
		return tui.Size{}, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return tui.Size{Width: 80, Height: 24}, true
	}
	return tui.Size{Width: width, Height: height}, true
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

// A hostsFeed hands on samples of several hosts as they come; one that is slow delays
// no other.
type hostsFeed struct {
	samples chan series.Sample
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func watchHosts(ctx context.Context, samplers []*monitor.Sampler) *hostsFeed {
	f := &hostsFeed{samples: make(chan series.Sample)}
	ctx, f.cancel = context.WithCancel(ctx)
	for _, sampler := range samplers {
		f.running.Go(func() {
			sampler.Run(ctx, func(s series.Sample) {
				select {
				case f.samples <- s:
				case <-ctx.Done():
				}
			})
		})
	}
	return f
}

// Close ends the watch.
func (f *hostsFeed) Close() {
	f.cancel()
	f.running.Wait()
}

// Next waits for the next sample of any host.
func (f *hostsFeed) Next(ctx context.Context) (series.Sample, error) {
	select {
	case s := <-f.samples:
		return s, nil
	case <-ctx.Done():
		return series.Sample{}, ctx.Err()
	}
}

// signals are those of the screen as the kernel numbers them.
var signals = map[tui.Signal]unix.Signal{tui.Interrupt: unix.SIGINT, tui.Terminate: unix.SIGTERM, tui.Kill: unix.SIGKILL}

// kill sends a signal to a process if it is the one that began then.
func kill(pid int, started uint64, which tui.Signal) error {
	return proc.Signal(pid, started, signals[which])
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
