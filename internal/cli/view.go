package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/explain"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/all"
	"github.com/plimsoll-dev/plimsoll/internal/view"
	"github.com/plimsoll-dev/plimsoll/internal/view/page"
	"github.com/plimsoll-dev/plimsoll/internal/view/serve"
)

// viewOptions is what `plimsoll view` was asked.
type viewOptions struct {
	Output
	Path    string        // of the recording
	Device  int           // -1 is all
	Events  string        // FROM:TO
	Time    string        // FROM:TO in seconds
	Rows    string        // what a CSV holds
	Blocks  int           // slices of a Perfetto trace
	Timeout time.Duration // of the server, 0 for none
	Strict  bool
	Verbose bool
}

// viewFormats are the forms of the answer. The first is served.
var viewFormats = []string{"page", "text", "json", "csv", "sqlite", "perfetto"}

func newViewCommand(stdio IO) *cobra.Command {
	var o viewOptions
	cmd := &cobra.Command{
		Use:   "view FILE",
		Short: "Show what is in a memory snapshot or a recording, in a page or in words",
		Long: `Show a memory snapshot of PyTorch or a .tape file of plimsoll capture: memory
over time by block, line, category or size, the segments at any moment, what is
live there and who asked for it, and what other allocator settings would have
given.

The page is served to this machine only, under an address that is printed, until
Ctrl-C or --timeout. With -o FILE.html it is one file that needs nothing else.
Where standard output is no terminal and nothing else is asked for, the answer
is text.`,
		Example: `  plimsoll view snapshot.pickle
  plimsoll view snapshot.pickle -o page.html
  plimsoll view snapshot.pickle --format sqlite -o snapshot.db
  plimsoll view run.tape --format text --events 20000:30000`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Path = args[0]
			if !cmd.Flags().Changed("format") && o.File == "" && o.Timeout == 0 && stdio.OutWidth == 0 {
				o.Format = "text"
			}
			return runView(cmd.Context(), stdio, o)
		},
	}
	o.addFlags(cmd, viewFormats...)
	f := cmd.Flags()
	f.IntVar(&o.Device, "device", -1, "draw only device `N`; the default is all, the fullest first")
	f.StringVar(&o.Events, "events", "", "draw only the events `FROM:TO`; either may be left out")
	f.StringVar(&o.Time, "time", "", "draw only the seconds `FROM:TO` after the first event; either may be left out")
	f.StringVar(&o.Rows, "rows", "blocks", "what a CSV holds: "+strings.Join(csvRows(), ", "))
	f.IntVar(&o.Blocks, "blocks", 20000, "how many of the largest blocks a Perfetto trace shows one by one")
	f.DurationVar(&o.Timeout, "timeout", 0, "stop serving after this `DURATION`, as 30m")
	f.BoolVar(&o.Strict, "strict", false, "exit with 3 when the file ends early")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "show everything in the text answer")
	complete(cmd, "rows", cobra.FixedCompletions(csvRows(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runView(ctx context.Context, stdio IO, o viewOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	status := newStatusLine(stdio)
	status.show("reading " + filepath.Base(o.Path))
	// As in explain: tables without pointers are cheap to collect often.
	percent := debug.SetGCPercent(collectAt)
	list, gaps, err := o.draw()
	debug.SetGCPercent(percent)
	status.clear()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := o.answer(ctx, stdio, list); err != nil {
		return err
	}
	if gaps && o.Strict {
		return ErrGaps
	}
	return nil
}

// check reports flags that do not go together.
func (o viewOptions) check() error {
	switch {
	case o.Events != "" && o.Time != "":
		return errors.New("--events and --time both choose the range; give one")
	case !slices.Contains(csvRows(), o.Rows):
		return WithHint(fmt.Errorf("rows %q are not known", o.Rows), "--rows takes "+strings.Join(csvRows(), ", "))
	case o.Blocks < 0:
		return errors.New("--blocks must not be negative")
	case o.Timeout < 0:
		return errors.New("--timeout must not be negative")
	case o.Format == "sqlite" && (o.File == "" || o.File == "-"):
		return WithHint(errors.New("a database cannot be written to standard output"), "-o FILE.db names it")
	}
	return nil
}

// draw reads the file and prepares the drawings, the fullest device first.
func (o viewOptions) draw() (list []*view.Drawing, gaps bool, err error) {
	f, err := readRecording(o.Path)
	if err != nil {
		return nil, false, err
	}
	var devices []string
	for i, in := range f.inputs {
		devices = append(devices, fmt.Sprint(in.Device))
		if o.Device >= 0 && int(in.Device) != o.Device {
			continue
		}
		explain.New(in) // gives the blocks their categories, and the steps their marks
		r := view.Recording{
			Tape: in.Tape, Device: in.Device, Final: in.Final, Settings: in.Settings, Room: max(in.Capacity-in.Context, 0),
			Ranges: wholeRanges(in.Ranges), Warnings: f.about(int(in.Device)),
		}
		from, to, err := o.events(&r)
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", o.Path, err)
		}
		d, err := view.New(r, view.Options{From: from, To: to})
		if err != nil {
			return nil, false, fmt.Errorf("draw device %d of %s: %w", in.Device, o.Path, err)
		}
		list = append(list, d)
		f.inputs[i] = explain.Input{}
	}
	if len(list) == 0 {
		return nil, false, fmt.Errorf("%s has no device %d, only %s", o.Path, o.Device, strings.Join(devices, ", "))
	}
	slices.SortStableFunc(list, func(a, b *view.Drawing) int {
		return int(min(max(b.Totals.Peak.Allocated-a.Totals.Peak.Allocated, -1), 1))
	})
	return list, f.gaps, nil
}

// about are the warnings about a device or the whole file.
func (f *recordingFile) about(device int) []view.Warning {
	var out []view.Warning
	for i, w := range f.warnings {
		if f.places[i] < 0 || f.places[i] == device {
			out = append(out, view.Warning{Code: w.Code, Message: w.Message})
		}
	}
	return out
}

// wholeRanges joins the ends of ranges to their beginnings: an end belongs to
// the last open beginning of its name.
func wholeRanges(list []explain.Range) []view.Range {
	open := map[string][]int{}
	var out []view.Range
	for _, a := range list {
		if a.Begin {
			open[a.Name] = append(open[a.Name], len(out))
			out = append(out, view.Range{Name: a.Name, From: a.Time, To: a.Time})
		} else if n := len(open[a.Name]); n > 0 {
			out[open[a.Name][n-1]].To = a.Time
			open[a.Name] = open[a.Name][:n-1]
		}
	}
	return out
}

// answer gives the answer in the form that was asked for.
func (o viewOptions) answer(ctx context.Context, stdio IO, list []*view.Drawing) error {
	switch o.Format {
	case "page":
		if o.File == "" {
			return o.serve(ctx, stdio, list)
		}
		return o.write(stdio, func(w io.Writer) error { return o.save(w, list) })
	case "csv", "sqlite", "perfetto":
		return o.export(ctx, stdio, list)
	}
	format, err := all.Lookup(o.Format)
	if err != nil {
		return err
	}
	shown := report.OptionsFor(stdio.Getenv, stdio.OutWidth > 0 && o.File == "", stdio.OutWidth)
	shown.Verbose = o.Verbose
	return o.write(stdio, func(w io.Writer) error { return format.Render(w, o.report(list), shown) })
}

// scenes are the drawings with what their tapes do not say.
func (o viewOptions) scenes(list []*view.Drawing) (page.Page, []page.Scene) {
	p := page.Page{File: filepath.Base(o.Path), Settings: view.Settings}
	var scenes []page.Scene
	for _, d := range list {
		p.Devices = append(p.Devices, int(d.Device))
		scenes = append(scenes, page.Scene{Drawing: d, Caption: view.Caption{
			File: p.File, Capacity: metaBytes(d.Tape, "capacity_bytes"), Context: metaBytes(d.Tape, "context_bytes"), Conf: d.Tape.Meta["alloc_conf"],
		}})
	}
	return p, scenes
}

// serve shows the page until the user has seen enough.
func (o viewOptions) serve(ctx context.Context, stdio IO, list []*view.Drawing) error {
	p, scenes := o.scenes(list)
	s, err := serve.New(ctx, p, scenes)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdio.Out, s.URL())
	fmt.Fprintln(stdio.Err, "open this address in a browser on this machine; Ctrl-C ends it")
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Timeout)
		defer cancel()
	}
	return s.Serve(ctx)
}

// save writes the page with its data, and the usual settings replayed. A
// setting that cannot be replayed is not offered.
func (o viewOptions) save(w io.Writer, list []*view.Drawing) error {
	p, scenes := o.scenes(list)
	p.Settings = nil
	for i := range scenes {
		d := scenes[i].Drawing
		check := d.Verify()
		for _, conf := range view.Settings {
			r, err := d.Replay(conf, check)
			if err != nil {
				continue
			}
			d.PeakMap(r)
			scenes[i].Replays = append(scenes[i].Replays, r)
			if !slices.Contains(p.Settings, conf) {
				p.Settings = append(p.Settings, conf)
			}
		}
	}
	p.Scenes = scenes
	return page.Write(w, p)
}
