package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/plimsoll-dev/plimsoll/internal/format/samples"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/all"
	"github.com/plimsoll-dev/plimsoll/internal/words"
	"github.com/plimsoll-dev/plimsoll/series"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// recordOptions is what `plimsoll record` was asked.
type recordOptions struct {
	watchedOptions
	File   string
	Append bool
	For    time.Duration
	Format string
}

func newRecordCommand(stdio IO) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Record GPUs, the processes on them and the host to a small file",
		Long: `Record what plimsoll top shows to a file, until Ctrl-C or --for: GPUs, the
processes on them and the host. A day of 8 GPUs at a sample a second takes less
than 30 MB.

The file can be replayed while it is written. A kill costs the samples of the last
10 seconds at most.

With --host it records other machines over ssh, where nothing is installed: a shell
runs nvidia-smi there and reads /proc. One that fails delays no other.`,
		Example: `  plimsoll record -o run.series
  plimsoll record --for 10m --interval 200ms -o steps.series
  plimsoll record --host node1,node2 -o nodes.series`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRecord(cmd.Context(), stdio, o)
		},
	}
	o.addFlags(cmd)
	o.Machine.addHostFlag(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.File, "output", "o", "", "record to `FILE`; the default is named after the host and the time")
	f.BoolVar(&o.Append, "append", false, "go on with a recording that is there")
	f.DurationVar(&o.For, "for", 0, "stop after this `TIME`, as 10m")
	f.StringVar(&o.Format, "format", "text", "form of the answer: text, json")
	complete(cmd, "format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// A recordDocument is the JSON of the command.
type recordDocument struct {
	Schema  string    `json:"schema"` // plimsoll.record/1
	File    string    `json:"file"`
	Bytes   int64     `json:"bytes"`
	Samples int       `json:"samples"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Seconds float64   `json:"seconds"`
	Hosts   []string  `json:"hosts"`
	Devices int       `json:"devices"`
	Unread  []string  `json:"unread"` // of --gpu
}

// A recorder writes samples and counts them.
type recorder struct {
	w       *samples.Writer
	each    bool // write every sample at once
	doc     recordDocument
	hosts   map[string]bool
	devices map[string]bool
	first   time.Duration
}

func runRecord(ctx context.Context, stdio IO, o recordOptions) error {
	format, err := all.Lookup(o.Format)
	if err != nil {
		return err
	}
	if o.For < 0 {
		return WithHint(fmt.Errorf("--for %v is no length of time", o.For), "--for 10m records for ten minutes; without it, until Ctrl-C")
	}
	m, err := o.open(ctx, stdio)
	if err != nil {
		return err
	}
	defer m.stop()
	if o.File == "" {
		o.File = defaultRecording(stdio.Now())
	}
	f, w, err := o.create()
	if err != nil {
		return err
	}
	// With long intervals a sample would wait for the next one.
	r := &recorder{w: w, each: o.Interval > samples.KeepFor/4, hosts: map[string]bool{}, devices: map[string]bool{}}
	failed := r.run(ctx, stdio, o, m)
	failed = firstError(failed, w.Close())
	if info, err := f.Stat(); err == nil {
		r.doc.Bytes = info.Size()
	}
	failed = firstError(failed, f.Close())
	if failed != nil {
		return WithHint(fmt.Errorf("write %s: %w", o.File, failed), "what was written before can be replayed")
	}
	r.doc.Schema, r.doc.File, r.doc.Unread = "plimsoll.record/1", o.File, append([]string{}, m.gpus.unread()...)
	rep := r.report()
	if err := format.Render(stdio.Out, rep, report.OptionsFor(stdio.Getenv, stdio.OutWidth > 0, stdio.OutWidth)); err != nil {
		return err
	}
	if len(r.doc.Unread) > 0 || r.doc.Devices == 0 {
		return ErrNo
	}
	return nil
}

// run records until ctx or the time that was asked for ends.
func (r *recorder) run(ctx context.Context, stdio IO, o recordOptions, m *watched) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.For > 0 {
		timer := time.AfterFunc(o.For, cancel)
		defer timer.Stop()
	}
	status := newStatusLine(stdio)
	defer status.clear()
	var failed error
	m.run(ctx, func(s series.Sample) {
		if failed != nil {
			return
		}
		if failed = r.add(&s); failed != nil {
			cancel()
		}
		status.show(fmt.Sprintf("recording to %s, %s, Ctrl-C ends it", o.File, plural(r.doc.Samples, "sample")))
	})
	return failed
}

func (r *recorder) add(s *series.Sample) error {
	if r.doc.Samples == 0 {
		r.doc.From, r.first = s.Wall, s.Since
	}
	r.doc.To, r.doc.Seconds = s.Wall, (s.Since - r.first).Seconds()
	r.doc.Samples++
	if !r.hosts[s.Host.Name] {
		r.hosts[s.Host.Name] = true
		r.doc.Hosts = append(r.doc.Hosts, s.Host.Name)
	}
	for i := range s.Devices {
		r.devices[s.Host.Name+"\x00"+s.Devices[i].ID] = true
	}
	r.doc.Devices = len(r.devices)
	err := r.w.Write(s)
	if err == nil && r.each {
		err = r.w.Flush()
	}
	return err
}

// report is the answer for people.
func (r *recorder) report() *report.Report {
	d := &r.doc
	rep := &report.Report{Command: "record", Subject: d.File, Data: d}
	rep.Verdict = report.Verdict{
		Word:     "recorded",
		Sentence: fmt.Sprintf("%s of %s in %s to %s, %s", plural(d.Samples, "sample"), plural(d.Devices, "device"), words.About(d.To.Sub(d.From)), d.File, unit.Bytes(d.Bytes)),
	}
	rep.Remedies = []report.Remedy{{Action: "plimsoll replay " + d.File}}
	if d.Devices == 0 {
		rep.Verdict.Answer, rep.Verdict.Word = report.No, "recorded no GPU"
	}
	if len(d.Unread) > 0 {
		rep.Verdict.Answer = report.No
		rep.Warnings = append(rep.Warnings, report.Warning{Code: "gpu-unread", Message: "--gpu " + strings.Join(d.Unread, ",") + " never answered", Consequence: "it is not in the recording, or only with what went wrong"})
	}
	return rep
}

// defaultRecording is the name of a recording that was given none.
func defaultRecording(now time.Time) string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "plimsoll"
	}
	return host + now.Format("-20060102-150405") + ".series"
}

// create opens the file and begins to write, behind what is there under --append.
func (o recordOptions) create() (*os.File, *samples.Writer, error) {
	flags := os.O_RDWR | os.O_CREATE
	if !o.Append {
		flags |= os.O_EXCL
	}
	f, err := os.OpenFile(o.File, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil, WithHint(fmt.Errorf("record to %s: the file exists", o.File), "--append goes on with a recording")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("record to %s: %w", o.File, err)
	}
	w, err := begin(f, o.File)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, w, nil
}

// begin begins to write f, or goes on behind its last whole frame.
func begin(f *os.File, name string) (*samples.Writer, error) {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, WithHint(fmt.Errorf("record to %s: another recorder writes to it", name), "give this one a file of its own")
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("record to %s: %w", name, err)
	}
	if info.Size() == 0 {
		w, err := samples.NewWriter(f)
		if err != nil {
			return nil, fmt.Errorf("record to %s: %w", name, err)
		}
		return w, nil
	}
	r, err := samples.NewReader(f, info.Size(), name)
	if _, foreign := errors.AsType[*input.SyntaxError](err); foreign {
		return nil, WithHint(fmt.Errorf("go on with %w", err), "--append takes a recording of plimsoll record")
	}
	if err != nil {
		return nil, fmt.Errorf("go on with %w", err)
	}
	defer r.Close()
	end, err := r.End()
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(end); err != nil { // half a frame of a recorder that was killed
		return nil, fmt.Errorf("record to %s: %w", name, err)
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return nil, fmt.Errorf("record to %s: %w", name, err)
	}
	return samples.Continue(f)
}
