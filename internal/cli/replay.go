package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/history"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/all"
	"github.com/plimsoll-dev/plimsoll/series"
)

// replayOptions is what `plimsoll replay` was asked.
type replayOptions struct {
	Output
	Path     string
	Name     string // what messages call it
	From, To string
	GPUs     string
	Host     string
	Speed    float64
	Once     bool
	Strict   bool
	Verbose  bool
}

// fastestReplay is the highest speed: an hour in less than a second.
const fastestReplay = 4096.0

// replayFormats are the forms of the answer.
var replayFormats = append(all.Names(), "csv")

func newReplayCommand(stdio IO) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Show what a recording of GPUs holds: how they were used, and why they idled",
		Long: `Show a recording of plimsoll record: how each GPU was used, why it idled and what
that cost, and where the recording has gaps. A recording can be read while it is
written. Logs of nvidia-smi (--query-gpu, dmon, pmon), metrics of dcgm-exporter and
gpustat --json are read, too. "-" reads either from standard input, to its end.

On a terminal the recording is played on the screen of plimsoll top, at any speed.
Elsewhere, or with --format, the answer is a summary. --once prints the state at the
end of the recording, or at --to, as plimsoll top --once does.

--from and --to take a time ("14:30", "2026-11-30 14:30:05"), or one counted from
the beginning ("+10m") or the end ("-10m").`,
		Example: `  plimsoll replay run.series
  plimsoll replay run.series --from -10m
  plimsoll replay run.series --format csv -o run.csv
  ssh node nvidia-smi dmon -c 60 | plimsoll replay -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Path, o.Name = args[0], args[0]
			if !(o.Speed > 0 && o.Speed <= fastestReplay) { // NaN is neither
				return WithHint(fmt.Errorf("a speed of %v is not above 0 and at most %v", o.Speed, fastestReplay), "--speed 60 plays a minute in a second")
			}
			if o.Path == standardInput {
				var err error
				if o.Path, err = keepInput(cmd.Context(), stdio); err != nil {
					return err
				}
				defer os.Remove(o.Path)
				o.Name = "standard input"
			}
			played := stdio.Interactive() && o.File == "" && !o.Once && !cmd.Flags().Changed("format") && !o.Verbose && !o.Strict
			if played {
				return playReplay(cmd.Context(), stdio, o)
			}
			return runReplay(cmd.Context(), stdio, o)
		},
	}
	o.addFlags(cmd, replayFormats...)
	f := cmd.Flags()
	f.StringVar(&o.From, "from", "", "leave out what was before this `TIME`")
	f.StringVar(&o.To, "to", "", "leave out what was after this `TIME`")
	f.StringVar(&o.GPUs, "gpu", "", "only these GPUs: `INDEX`, UUID or PCI address, several joined by commas")
	f.StringVar(&o.Host, "host", "", "only what is of this `HOST`")
	f.Float64Var(&o.Speed, "speed", 1, "how many seconds of the recording pass in one")
	f.BoolVar(&o.Once, "once", false, "print the state at the end, or at --to, and leave")
	f.BoolVar(&o.Strict, "strict", false, "exit with 3 when a part of the file could not be read")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "show everything in the text answer")
	return cmd
}

// open opens the file at the beginning of the range that was asked for. The file is
// the caller's to close.
func (o replayOptions) open(stdio IO) (*sampleFile, *replayRange, error) {
	s, err := openSamplesAs(o.Path, o.Name)
	if err != nil {
		return nil, nil, err
	}
	r, err := o.rangeOf(s, stdio.Now().Location())
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, r, nil
}

func runReplay(ctx context.Context, stdio IO, o replayOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	s, r, err := o.open(stdio)
	if err != nil {
		return err
	}
	defer s.Close()
	switch {
	case o.Once:
		err = o.once(ctx, stdio, r)
	case o.Format == "csv":
		err = o.write(stdio, func(w io.Writer) error { return r.csv(ctx, w) })
	default:
		err = o.summary(ctx, stdio, r)
	}
	if err != nil {
		return err
	}
	switch {
	case !o.Once && len(r.choice.unread()) > 0: // with --once top has said so
		return ErrNo
	case o.Strict && len(s.left()) > 0:
		return ErrGaps
	}
	return nil
}

// summary reads the range and says what it holds.
func (o replayOptions) summary(ctx context.Context, stdio IO, r *replayRange) error {
	format, err := all.Lookup(o.Format)
	if err != nil {
		return err
	}
	var h history.History
	status := newStatusLine(stdio)
	status.show("reading " + o.Name)
	err = r.each(ctx, func(s *series.Sample) error {
		h.Add(s)
		return nil
	})
	status.clear()
	if err != nil {
		return err
	}
	h.Finish()
	if len(h.Hosts) == 0 {
		return r.noSample(o.Name)
	}
	rep := replayReport(o, r, &h)
	shown := report.OptionsFor(stdio.Getenv, stdio.OutWidth > 0 && o.File == "", stdio.OutWidth)
	shown.Verbose = o.Verbose
	return o.write(stdio, func(w io.Writer) error { return format.Render(w, rep, shown) })
}

// A replayRange is the part of a recording that was asked for.
type replayRange struct {
	file     *sampleFile
	from, to time.Time // zero for the ends
	choice   deviceChoice
	host     string // "" for all
	zone     *time.Location
}

// rangeOf understands --from, --to and --gpu.
func (o replayOptions) rangeOf(s *sampleFile, zone *time.Location) (*replayRange, error) {
	r := &replayRange{file: s, host: o.Host, zone: zone, choice: deviceChoice{gpuSelection: parseSelection(o.GPUs)}}
	if o.From == "" && o.To == "" {
		return r, nil
	}
	first, last, err := s.span()
	if err != nil {
		return nil, err
	}
	if r.from, err = timeOf("--from", o.From, first, last, zone); err != nil {
		return nil, err
	}
	if r.to, err = timeOf("--to", o.To, first, last, zone); err != nil {
		return nil, err
	}
	if !r.from.IsZero() && !r.to.IsZero() && r.to.Before(r.from) {
		return nil, fmt.Errorf("--to %s is before --from %s", o.To, o.From)
	}
	if !r.from.IsZero() {
		return r, s.seek(r.from)
	}
	return r, nil
}

// timeOf is the time that a flag means, in a recording from first to last.
func timeOf(flag, value string, first, last time.Time, zone *time.Location) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if d, ok := strings.CutPrefix(value, "+"); ok {
		if d, err := time.ParseDuration(d); err == nil {
			return first.Add(d), nil
		}
	}
	if strings.HasPrefix(value, "-") {
		if d, err := time.ParseDuration(value); err == nil {
			return last.Add(d), nil
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, value, zone); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		t, err := time.ParseInLocation(layout, value, zone)
		if err != nil {
			continue
		}
		y, m, d := first.In(zone).Date()
		at := time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, zone)
		if at.Before(first) && !at.AddDate(0, 0, 1).After(last) {
			at = at.AddDate(0, 0, 1) // after the midnight within the recording
		}
		return at, nil
	}
	return time.Time{}, WithHint(fmt.Errorf("%s %q is no time", flag, value), "write 14:30, 2026-11-30 14:30:05, +10m from the beginning or -10m from the end")
}

// each hands the samples of the range to f.
func (r *replayRange) each(ctx context.Context, f func(*series.Sample) error) error {
	for n := 0; ; n++ {
		s, err := r.file.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && n%256 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if !r.to.IsZero() && s.Wall.After(r.to) {
			continue // clocks jump; a later sample may be before again
		}
		if !r.from.IsZero() && s.Wall.Before(r.from) || r.host != "" && s.Host.Name != r.host {
			continue
		}
		r.choice.apply(s)
		if err := f(s); err != nil {
			return err
		}
	}
}

// noSample says that nothing was read, and what is known of why.
func (r *replayRange) noSample(path string) error {
	if left := r.file.left(); len(left) > 0 {
		return WithHint(fmt.Errorf("read %s: no sample in it can be read%s: %s", path, r.words(), left[0]), "damage costs the rest of the ten minutes that it lies in")
	}
	return WithHint(fmt.Errorf("read %s: there is no sample in it%s", path, r.words()), "a recorder writes its first samples after 10 seconds")
}

// words are what was asked for, in a message.
func (r *replayRange) words() string {
	var list []string
	if !r.from.IsZero() || !r.to.IsZero() {
		list = append(list, " in the time that was asked for")
	}
	if r.host != "" {
		list = append(list, " of host "+r.host)
	}
	return strings.Join(list, "")
}
