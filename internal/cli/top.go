package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/nvml"
	"github.com/plimsoll-dev/plimsoll/internal/tui/canvas"
	"github.com/plimsoll-dev/plimsoll/internal/tui/table"
	"github.com/plimsoll-dev/plimsoll/internal/watch"
	"github.com/plimsoll-dev/plimsoll/series"
)

// topOptions is what `plimsoll top` was asked.
type topOptions struct {
	Output
	Machine  machine
	Interval time.Duration
	Once     bool
	Patience time.Duration
	Watch    string // interval of --watch; "" without it
	GPUs     string
	User     string
	Filter   string
	Sort     string
	Reverse  bool
	Tree     bool
	Theme    string
	NoMouse  bool
}

// The bounds of --interval: shorter ones cost more than they show, for drivers
// refresh their counters some times a second; longer ones are no watching.
const (
	leastInterval = 100 * time.Millisecond
	mostInterval  = time.Hour
)

func newTopCommand(stdio IO) *cobra.Command {
	var o topOptions
	cmd := &cobra.Command{
		Use:   "top [INTERVAL]",
		Short: "Watch GPUs: what they do, who holds their memory, why they idle",
		Long: `Watch the GPUs of this machine: whether each does useful work, who holds its
memory, when it will be full, and why it idles, with the processes on it and their
workers. Keys and signs are listed on the page that ? shows.

Without a terminal, or with --once, the state of now is printed and the exit status
says whether all GPUs could be read. --watch prints it again and again.`,
		Example: "  plimsoll top\n  plimsoll top --demo\n  plimsoll top --once --gpu 0,3\n  plimsoll top --watch=5s --format json --filter 'user=ann memory>10GiB'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			return runTop(cmd.Context(), stdio, o)
		},
	}
	o.addFlags(cmd, "text", "json", "csv", "csv-processes")
	f := cmd.Flags()
	o.Machine.addFlags(cmd)
	o.Machine.addHostFlag(cmd)
	f.DurationVar(&o.Interval, "interval", time.Second, "mean time between samples; they come at random intervals, so that no step of a training looks slower than it is")
	f.BoolVar(&o.Once, "once", false, "print the state of now and leave")
	f.DurationVar(&o.Patience, "patience", 0, "how long to wait for a driver that has not started; without it a second, and three where it must wake its GPUs first")
	f.StringVar(&o.Watch, "watch", "", "print the state again and again, each `INTERVAL`")
	f.Lookup("watch").NoOptDefVal = "interval"
	f.StringVar(&o.GPUs, "gpu", "", "only these GPUs: `INDEX`, UUID or PCI address, several joined by commas; node1/0 is one of a host")
	f.StringVar(&o.User, "user", "", "only processes of this `USER`")
	f.StringVar(&o.Filter, "filter", "", "only processes that pass this `FILTER`: "+table.FilterSyntax)
	f.StringVar(&o.Sort, "sort", "memory", "order of processes: "+strings.Join(table.Names(), ", "))
	f.BoolVar(&o.Reverse, "reverse", false, "turn the order round")
	f.BoolVar(&o.Tree, "tree", false, "processes as a tree, with launchers and workers")
	f.StringVar(&o.Theme, "theme", "auto", "colours of the screen: auto, "+strings.Join(themeNames(), ", "))
	f.BoolVar(&o.NoMouse, "no-mouse", false, "leave the mouse to the terminal")
	complete(cmd, "sort", cobra.FixedCompletions(table.Names(), cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "theme", cobra.FixedCompletions(append([]cobra.Completion{"auto"}, themeNames()...), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func themeNames() []string {
	names := make([]string, len(canvas.Themes))
	for i, t := range canvas.Themes {
		names[i] = t.Name
	}
	return names
}

// complete takes what stands beside the flags: the interval of --watch may follow
// it as a word.
func (o *topOptions) complete(cmd *cobra.Command, args []string) error {
	watching := cmd.Flags().Changed("watch")
	if len(args) == 1 && !watching {
		return WithHint(fmt.Errorf("top takes no %q", args[0]), "an interval goes with --watch or --interval; GPUs are chosen with --gpu")
	}
	if watching {
		if len(args) == 1 {
			o.Watch = args[0]
		}
		if o.Watch != "interval" {
			d, err := parseInterval(o.Watch)
			if err != nil {
				return err
			}
			o.Interval = d
		}
	}
	if o.Interval < leastInterval || o.Interval > mostInterval {
		return WithHint(fmt.Errorf("an interval of %v is not between %v and %v", o.Interval, leastInterval, mostInterval), "--interval 1s is usual")
	}
	if o.Patience < 0 {
		return errors.New("--patience is a length of time, and none is negative")
	}
	if o.Theme != "auto" && canvas.ThemeNamed(o.Theme) == nil {
		return WithHint(fmt.Errorf("theme %q is not known", o.Theme), "--theme takes auto, "+strings.Join(themeNames(), ", "))
	}
	return o.validate()
}

// parseInterval reads a length of time, or a number of seconds as other tools take
// it.
func parseInterval(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil {
		return 0, WithHint(fmt.Errorf("%q is no interval", text), "write 2s, 500ms, or a number of seconds")
	}
	return d, nil
}

// A topRun is one run of the command.
type topRun struct {
	o      topOptions
	stdio  IO
	column *table.Column
	filter table.Filter
	gpus   gpuSelection
}

// A watchedHost is one of the machines that are watched.
type watchedHost struct {
	window watch.Window
	judged map[string]watch.Judgement // nil where nothing was judged
	at     time.Duration              // when they were judged
}

func runTop(ctx context.Context, stdio IO, o topOptions) error {
	r := topRun{o: o, stdio: stdio, gpus: parseSelection(o.GPUs)}
	if r.column = table.ColumnNamed(o.Sort); r.column == nil {
		return WithHint(fmt.Errorf("no column is called %q", o.Sort), "--sort takes "+strings.Join(table.Names(), ", "))
	}
	var err error
	if r.filter, err = table.ParseFilter(r.filterText()); err != nil {
		return WithHint(err, "a filter is "+table.FilterSyntax)
	}
	live := o.Watch == "" && !o.Once && o.Format == "text" && o.File == "" && stdio.Interactive()
	o.Machine.Patience, o.Machine.Sparing = o.patience(live), live
	samplers, stop, err := o.Machine.open(ctx, stdio, o.Interval)
	if err != nil {
		return err
	}
	defer stop()
	switch {
	case o.Watch != "":
		return r.watch(ctx, samplers)
	case live:
		return r.live(ctx, samplers)
	}
	return r.once(ctx, samplers)
}

// patience is how long the driver may take to start.
func (o *topOptions) patience(live bool) time.Duration {
	switch {
	case live:
		return quickStart
	case o.Patience > 0:
		return max(o.Patience, quickStart)
	case nvml.Asleep("/"):
		return slowStart
	}
	return answerStart
}

// filterText is the filter with --user as one term of it.
func (r *topRun) filterText() string {
	text := r.o.Filter
	if r.o.User != "" {
		text = "user=" + r.o.User + " " + text
	}
	return strings.TrimSpace(text)
}

// rateTime is how long apart two samples are that a rate of --once is taken of:
// processor time is counted in steps of 10 ms.
const rateTime = 200 * time.Millisecond

// sampleAll takes a sample of each host at the same time.
func sampleAll(ctx context.Context, samplers []*monitor.Sampler) []series.Sample {
	list := make([]series.Sample, len(samplers))
	var all sync.WaitGroup
	for i, s := range samplers {
		all.Go(func() { list[i] = s.Sample(ctx) })
	}
	all.Wait()
	return list
}

// once prints the state of now. A second sample is taken only where the order or
// the filter is by a rate.
func (r *topRun) once(ctx context.Context, samplers []*monitor.Sampler) error {
	hosts := make([]watchedHost, len(samplers))
	take := func() (devices int) {
		for i, s := range sampleAll(ctx, samplers) {
			hosts[i].window.Add(s)
			devices += len(s.Devices)
		}
		return devices
	}
	if take() > 0 && (r.column.Rates() || r.filter.Rates()) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rateTime):
		}
		take()
	}
	return r.printOnce(hosts)
}

// printOnce prints one state, to the file where one was named.
func (r *topRun) printOnce(hosts []watchedHost) error {
	states, err := r.states(hosts)
	if err != nil {
		return err
	}
	if err := r.o.write(r.stdio, func(w io.Writer) error { return r.print(w, states, true, len(states) > 1) }); err != nil {
		return err
	}
	if bad := unreadOf(states); len(bad) > 0 {
		fmt.Fprintln(r.stdio.Err, "plimsoll: "+strings.Join(bad, "; "))
		return ErrNo
	}
	return nil
}

// A topState is what is printed of one host at one moment.
type topState struct {
	sample series.Sample // its devices are those that were asked for
	rows   []table.Row
	labels map[string]string
	judged map[string]watch.Judgement // nil where nothing was watched
	rates  bool                       // rows have rates
	silent *series.Problem            // why not even GPUs are told; nil where they are
}

// states chooses from the last samples what was asked for. Nothing to show is an
// error, but not of one host among others.
func (r *topRun) states(hosts []watchedHost) ([]topState, error) {
	var states []topState
	for i := range hosts {
		now, _ := hosts[i].window.Last()
		s := topState{sample: *now, labels: table.Labels(now.Devices), judged: hosts[i].judged}
		if len(now.Devices) == 0 {
			if s.silent = silence(now.Problems, r.o.Machine.Hosts != "" || len(hosts) > 1); s.silent == nil {
				return nil, noGPUs(now.Problems)
			}
		}
		states = append(states, s)
	}
	if slices.ContainsFunc(states, func(s topState) bool { return s.silent == nil }) {
		if err := r.gpus.check(states); err != nil {
			return nil, err
		}
	}
	for i := range states {
		now, before := hosts[i].window.Last()
		r.choose(&states[i], now, before)
	}
	return states, nil
}

// choose leaves in a state the devices and the processes that were asked for.
func (r *topRun) choose(s *topState, now, before *series.Sample) {
	s.rates = before != nil
	s.sample.Devices = slices.DeleteFunc(slices.Clone(now.Devices), func(d series.Device) bool { return !r.gpus.has(now.Host.Name, &d, s.labels[d.ID]) })
	shown := map[string]bool{}
	for _, d := range s.sample.Devices {
		shown[d.ID] = true
	}
	rows := slices.DeleteFunc(table.Rows(now, before), func(row table.Row) bool {
		return len(row.Uses) > 0 && !slices.ContainsFunc(row.Uses, func(u series.Use) bool { return shown[u.Device] })
	})
	s.rows = table.Sorted(nil, table.Keep(rows, r.filter, r.o.Tree), r.column, r.o.Reverse)
	if r.o.Tree {
		s.rows = table.Tree(s.rows)
	}
}

// unreadOf says of each device that could not be read why; of several hosts, on which.
func unreadOf(states []topState) []string {
	var out []string
	for _, s := range states {
		of := ""
		if len(states) > 1 {
			of = s.sample.Host.Name + ": "
		}
		if s.silent != nil {
			text := of + "the GPUs could not be read: " + s.silent.What
			if s.silent.Status == series.Stuck {
				text += " (--patience waits longer)"
			}
			out = append(out, text)
		}
		for _, d := range s.sample.Devices {
			if d.Status == series.OK {
				continue
			}
			text := fmt.Sprintf("%sGPU %s could not be read: %s", of, s.labels[d.ID], d.Status)
			if d.Problem != "" {
				text += ", " + d.Problem
			}
			out = append(out, text)
		}
	}
	return out
}

// silence is what is said of a driver that does not answer, or, of a host that was
// named, of anything else that went wrong; nil where there is nothing to say.
func silence(problems []series.Problem, named bool) *series.Problem {
	for i, p := range problems {
		if p.Status == series.Stuck || named {
			return &problems[i]
		}
	}
	if named {
		return &series.Problem{Status: series.Failed, What: "no GPU was found: the driver answers and has none"}
	}
	return nil
}

// noGPUs is the error of a machine on which none could be read.
func noGPUs(problems []series.Problem) error {
	const hint = "plimsoll top --demo shows the screen without a GPU"
	if len(problems) == 0 {
		return WithHint(errors.New("no GPU was found: the driver answers and has none"), hint)
	}
	return WithHint(fmt.Errorf("no GPU could be read: %s: %s", problems[0].Source, problems[0].What), hint)
}

// watch prints the state until it is interrupted; what is printed is out at once.
func (r *topRun) watch(ctx context.Context, samplers []*monitor.Sampler) error {
	hosts := make([]watchedHost, len(samplers))
	unread := false
	for head := true; ; head = false {
		due := r.stdio.Now().Add(samplers[0].Interval())
		for i, now := range sampleAll(ctx, samplers) {
			hosts[i].take(now)
		}
		states, err := r.states(hosts)
		if err == nil {
			unread = unread || len(unreadOf(states)) > 0
			err = r.print(r.stdio.Out, states, head, true)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			if unread {
				return ErrNo
			}
			return ctx.Err()
		case <-time.After(due.Sub(r.stdio.Now())):
		}
	}
}

// judgeEvery is how often --watch judges the GPUs.
const judgeEvery = 5 * time.Second

// take adds a sample to those that the GPUs are judged by.
func (h *watchedHost) take(now series.Sample) {
	h.window.Add(now)
	if h.judged != nil && now.Since >= h.at && now.Since-h.at < judgeEvery {
		return
	}
	h.judge()
}

// judge judges the GPUs of the last sample.
func (h *watchedHost) judge() {
	now, _ := h.window.Last()
	ids := make([]string, len(now.Devices))
	for i, d := range now.Devices {
		ids[i] = d.ID
	}
	h.judged, h.at = h.window.Freeze().Judge(ids), now.Since
}

// print writes one state of each host: the first of many with the head of a table, as
// lines where there are more documents than one.
func (r *topRun) print(w io.Writer, states []topState, first, lines bool) error {
	for _, s := range states {
		var err error
		switch r.o.Format {
		case "json":
			err = renderTopJSON(w, s, lines)
		case "csv":
			err = renderTopCSV(w, s, first)
		case "csv-processes":
			err = renderTopProcessesCSV(w, s, first)
		default:
			if !first {
				fmt.Fprintln(w)
			}
			err = renderTopText(w, s)
		}
		if err != nil {
			return err
		}
		first = false
	}
	return nil
}
