package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/job"
	"github.com/plimsoll-dev/plimsoll/internal/launch"
	"github.com/plimsoll-dev/plimsoll/internal/monitor"
	"github.com/plimsoll-dev/plimsoll/internal/monitor/proc"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	reports "github.com/plimsoll-dev/plimsoll/internal/report/all"
	"github.com/plimsoll-dev/plimsoll/series"
)

const gpusHint = "--gpus takes auto, a number of GPUs, or a list such as 0,3"

// runOptions is what `plimsoll run` was asked.
type runOptions struct {
	Output
	Argv     []string
	Interval time.Duration
	GPUs     string
	Free     sizeFlag
	Wait     string // "" without the flag
	Record   string
	HTML     string
	OnOOM    bool
	Quiet    bool
}

func newRunCommand(stdio IO) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT]...",
		Short: "Run a command, watch its GPUs, and say at its end how they were used",
		Long: `Run a command as it is and watch the GPUs and the host while it runs. At its
end it is said how long a step of the training took, how well the GPUs were used,
and why they idled.

The command has the terminal's streams; the answer goes to stderr, or to a file. The
exit status is the command's, 128 and the number of the signal if one killed it.
Signals are passed on. If plimsoll is killed the command goes on.`,
		Example: "  plimsoll run -- python train.py\n" +
			"  plimsoll run --gpus auto --wait=2h -- python train.py --batch-size 32\n" +
			"  plimsoll run --html run.html --record run.series -- torchrun --nproc-per-node 4 train.py",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := o.takeWait(cmd, args)
			if err != nil {
				return err
			}
			o.Argv = args
			if cmd.Flags().Changed("gpus") && o.GPUs == "" {
				return WithHint(errors.New("--gpus is empty"), gpusHint)
			}
			return runCommand(cmd.Context(), stdio, o)
		},
	}
	o.addFlags(cmd, reports.Names()...)
	f := cmd.Flags()
	// What follows the first word of the command belongs to it.
	f.SetInterspersed(false)
	f.Lookup("output").Usage = "write the answer to `FILE` instead of stderr; - is standard output"
	f.DurationVar(&o.Interval, "interval", time.Second, "mean time between samples; they come at random intervals, so that no step of a training looks slower than it is")
	f.StringVar(&o.GPUs, "gpus", "", "give the command GPUs by CUDA_VISIBLE_DEVICES: `WHICH` is auto (one that is free), a number of free ones, or a list of indices or UUIDs")
	f.Var(&o.Free, "free", "with --gpus, take a GPU that has `SIZE` free, as 20GiB, even if others are on it")
	f.StringVar(&o.Wait, "wait", "", "with --gpus, wait until there are enough, for `TIME` at most, as --wait=2h")
	f.Lookup("wait").NoOptDefVal = forever
	f.StringVar(&o.Record, "record", "", "keep all samples in `FILE` for plimsoll replay")
	f.StringVar(&o.HTML, "html", "", "write the answer as a page with timelines to `FILE`, too")
	f.BoolVar(&o.OnOOM, "on-oom", false, "pass stderr through a pipe, explain an out-of-memory error in it, and say how to take a snapshot")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "say nothing at the end; --html, --record and -o still write")
	return cmd
}

// forever is --wait without a time.
const forever = "forever"

// takeWait reads the time of `--wait 2h -- COMMAND`: to a flag whose value may be left
// out, 2h is the first word of the command.
func (o *runOptions) takeWait(cmd *cobra.Command, args []string) ([]string, error) {
	if o.Wait != forever || cmd.ArgsLenAtDash() >= 0 {
		return args, nil
	}
	if _, err := parseInterval(args[0]); err != nil {
		return args, nil //nolint:nilerr // it is no time, but the command
	}
	o.Wait = args[0]
	if err := cmd.Flags().Parse(args[1:]); err != nil {
		return nil, err
	}
	if args = cmd.Flags().Args(); len(args) == 0 {
		return nil, WithHint(fmt.Errorf("--wait %s is followed by no command", o.Wait), "plimsoll run --gpus auto --wait=2h -- COMMAND")
	}
	return args, nil
}

// A commandStatus is the exit status of somebody else's command, which is ours.
type commandStatus struct {
	code int
	err  error // why it could not be started, or nil
}

// Error says why the command could not be started.
func (c *commandStatus) Error() string {
	if c.err != nil {
		return c.err.Error()
	}
	return fmt.Sprintf("the command ended with %d", c.code)
}

// complete checks what flags mean together.
func (o *runOptions) complete() (launch.Request, time.Duration, error) {
	var request launch.Request
	if err := o.validate(); err != nil {
		return request, 0, err
	}
	if o.Interval < leastInterval || o.Interval > mostInterval {
		return request, 0, WithHint(fmt.Errorf("an interval of %v is not between %v and %v", o.Interval, leastInterval, mostInterval), "--interval 1s is usual")
	}
	if o.GPUs == "" {
		if o.Free.Given || o.Wait != "" {
			return request, 0, WithHint(errors.New("--free and --wait choose nothing without --gpus"), "add --gpus auto")
		}
		return request, 0, nil
	}
	request, err := launch.ParseRequest(o.GPUs)
	if err != nil {
		return request, 0, WithHint(fmt.Errorf("--gpus %s: %w", o.GPUs, err), gpusHint)
	}
	request.Free = o.Free.Bytes
	switch o.Wait {
	case "":
		return request, 0, nil
	case forever:
		return request, time.Duration(1<<63 - 1), nil
	}
	wait, err := parseInterval(o.Wait)
	return request, wait, err
}

// A jobRun is one run of the command.
type jobRun struct {
	o       runOptions
	stdio   IO
	source  monitor.Source
	missing error // why no GPU can be read, or nil
	taken   *launch.Taken
	tail    *launch.Tail
	job     *job.Job
	warned  []report.Warning
}

func runCommand(ctx context.Context, stdio IO, o runOptions) error {
	request, wait, err := o.complete()
	if err != nil {
		return err
	}
	r := &jobRun{o: o, stdio: stdio}
	if err := r.open(ctx); err != nil {
		return err
	}
	defer r.source.Close() //nolint:errcheck // what is left when leaving
	env := os.Environ()
	if o.GPUs != "" {
		if r.missing != nil {
			return unavailable(r.missing)
		}
		if r.taken, err = r.take(ctx, request, wait); err != nil {
			return err
		}
		defer r.taken.Release()
		env = append(env, launch.Assignment(r.taken.Devices)...)
	}
	keep, err := r.recorder()
	if err != nil {
		return err
	}
	// From here on signals are the command's.
	ctx = context.WithoutCancel(ctx)
	began := stdio.Now()
	command, code, err := launch.Start(r.spec(env))
	if err != nil {
		return &commandStatus{code, WithHint(fmt.Errorf("start %s: %w", o.Argv[0], err), "the command stands behind --, as it would without plimsoll")}
	}
	r.watch(ctx, command, keep)
	end := command.End()
	if keep != nil {
		if err := keep.close(); err != nil {
			r.warned = append(r.warned, report.Warning{Code: "recording", Message: fmt.Sprintf("write %s: %v", o.Record, err), Consequence: "what was written before can be replayed"})
		}
	}
	if err := r.answer(ctx, end, began); err != nil {
		fmt.Fprintln(stdio.Err, "plimsoll: "+err.Error())
	}
	return &commandStatus{code: end.Code}
}

// spec is the command with its streams.
func (r *jobRun) spec(env []string) launch.Spec {
	s := launch.Spec{Argv: r.o.Argv, Env: env, In: r.stdio.In, Out: r.stdio.Out, Err: r.stdio.Err}
	if r.o.OnOOM {
		r.tail = launch.NewTail(r.stdio.Err, keptOutput)
		s.Err = r.tail
	}
	return s
}

// keptOutput is how much of the end of stderr is looked through for messages about
// memory: those of many ranks at once.
const keptOutput = 1 << 20

// open opens the GPUs. A machine that has none is watched without.
func (r *jobRun) open(ctx context.Context) error {
	patience := slowStart
	if r.o.GPUs == "" {
		patience = quickStart
	}
	source, err := openGPUs(ctx, r.stdio, patience)
	var u *monitor.Unavailable
	switch {
	case err == nil:
		r.source = source
	case errors.As(err, &u):
		r.source, r.missing = noSource{u}, err
	default:
		return err
	}
	return nil
}

// A noSource is a machine whose GPUs cannot be read.
type noSource struct{ why *monitor.Unavailable }

func (n noSource) Name() string { return n.why.Source }
func (n noSource) Close() error { return nil }

func (n noSource) Read(context.Context) (monitor.Reading, error) { return monitor.Reading{}, nil }

// denseStart is for how long samples come several times as often as asked for: a
// job that ends in its first minute is told something of, too.
const denseStart = time.Minute

// dense is for how long samples come more often than asked for.
func (r *jobRun) dense() time.Duration {
	if r.o.Interval < time.Second {
		return 0 // it is as asked for
	}
	return denseStart
}

// sampler takes samples of the GPUs, and of the trees of some processes.
func (r *jobRun) sampler(host monitor.Host) *monitor.Sampler {
	seed := uint64(r.stdio.Now().UnixNano())
	return monitor.NewSampler(monitor.Options{Source: r.source, Host: host, Mean: r.o.Interval, Dense: r.dense(), Now: r.stdio.Now, Rand: rand.New(rand.NewPCG(seed, seed>>1))})
}

// retry is how often GPUs are looked at while none is free.
const retry = 2 * time.Second

// take waits until there are GPUs to take.
func (r *jobRun) take(ctx context.Context, request launch.Request, wait time.Duration) (*launch.Taken, error) {
	host := proc.New(proc.Options{})
	defer host.Close()
	sampler := r.sampler(host)
	line := newStatusLine(r.stdio)
	defer line.clear()
	if slices.Contains(os.Environ(), "CUDA_VISIBLE_DEVICES=") {
		return nil, WithHint(errors.New("choose GPUs: CUDA_VISIBLE_DEVICES is set to nothing, by which CUDA programs see no GPU"), "unset CUDA_VISIBLE_DEVICES, or name in it the GPUs to choose from")
	}
	var visible []string
	for word := range strings.SplitSeq(r.stdio.Getenv("CUDA_VISIBLE_DEVICES"), ",") {
		if word = strings.TrimSpace(word); word != "" {
			visible = append(visible, word)
		}
	}
	began := r.stdio.Now()
	for {
		sample := sampler.Sample(ctx)
		if len(sample.Devices) == 0 && ctx.Err() == nil {
			return nil, noGPUs(sample.Problems)
		}
		taken, err := request.Take(&sample, visible, launch.Locks{Dir: r.stdio.Getenv("PLIMSOLL_GPU_LOCKS")})
		few, isFew := errors.AsType[*launch.NotEnough](err)
		left := wait - r.stdio.Now().Sub(began)
		switch {
		case err == nil:
			return taken, nil
		case !isFew:
			return nil, err
		case wait == 0:
			return nil, WithHint(err, "--wait waits until there are enough; --free 20GiB takes one that others are on")
		case left <= 0:
			return nil, fmt.Errorf("after waiting for %v: %w", wait, err)
		}
		line.show(fmt.Sprintf("waiting for GPUs: %d of %d free", few.Have, few.Want))
		select {
		case <-ctx.Done():
			return nil, context.Canceled
		case <-time.After(min(retry, left)):
		}
	}
}

// recorder begins the recording, nil without --record.
func (r *jobRun) recorder() (*keeper, error) {
	if r.o.Record == "" {
		return nil, nil //nolint:nilnil // no recording was asked for
	}
	f, w, err := recordOptions{File: r.o.Record}.create()
	if err != nil {
		return nil, err
	}
	return &keeper{file: f, w: w}, nil
}

// watch takes samples until the command has ended.
func (r *jobRun) watch(ctx context.Context, command *launch.Command, keep *keeper) {
	host := proc.New(proc.Options{Roots: []int{command.PID()}})
	defer host.Close()
	r.job = job.New(command.PID(), r.taken.IDs(), r.o.Interval)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-command.Done()
		cancel()
	}()
	r.sampler(host).Run(ctx, func(s series.Sample) {
		if ctx.Err() != nil {
			return // cut short by the end
		}
		r.job.Add(&s)
		keep.add(&s)
	})
}

// answer writes what was seen.
func (r *jobRun) answer(ctx context.Context, end launch.End, began time.Time) error {
	rep := r.report(ctx, end, began)
	if r.o.HTML != "" {
		page, err := reports.Lookup("html")
		if err != nil {
			return err
		}
		o := report.OptionsFor(r.stdio.Getenv, false, 0)
		if err := writeFile(r.o.HTML, func(w io.Writer) error { return page.Render(w, rep, o) }); err != nil {
			return fmt.Errorf("write %s: %w", r.o.HTML, err)
		}
	}
	format, err := reports.Lookup(r.o.Format)
	if err != nil {
		return err
	}
	if r.o.File != "" {
		o := report.OptionsFor(r.stdio.Getenv, r.o.File == "-" && r.stdio.Colour(), r.stdio.OutWidth)
		return r.o.write(r.stdio, func(w io.Writer) error { return format.Render(w, rep, o) })
	}
	if r.o.Quiet {
		return nil
	}
	if r.o.Format == "text" {
		fmt.Fprintln(r.stdio.Err) // apart from what the command said
	}
	return format.Render(r.stdio.Err, rep, report.OptionsFor(r.stdio.Getenv, r.stdio.Progress(), r.stdio.ErrWidth))
}
