package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/finding"
	"github.com/plimsoll-dev/plimsoll/internal/format/memstats"
	"github.com/plimsoll-dev/plimsoll/internal/input"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/all"
)

// explainOptions is what `plimsoll explain` was asked.
type explainOptions struct {
	Output
	Files   []string
	Compare bool
	Strict  bool
	Verbose bool

	Capacity sizeFlag // of the device of a recording
}

func newExplainCommand(stdio IO) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain FILE...",
		Short: "Say why the memory ran out, or what holds it",
		Long: `Say why the memory ran out, from a log of the crash or from a recording: a
memory snapshot of PyTorch, a trace of torch.profiler or a .tape of plimsoll
capture. The first line is the cause, the second the evidence, the third what to
change.

In a log it finds the messages of PyTorch, TensorFlow, JAX, vLLM, llama.cpp, NCCL,
Slurm and the kernel, whatever ranks, containers and terminals did to its lines,
and it says so when it was not the memory of the GPU. "-" reads a log from
standard input.`,
		Example: `  plimsoll explain train.log
  kubectl logs trainer-0 | plimsoll explain -
  plimsoll explain snapshot.pickle`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Files = args
			return runExplain(cmd.Context(), stdio, o)
		},
	}
	o.addFlags(cmd, all.Names()...)
	f := cmd.Flags()
	f.BoolVar(&o.Compare, "compare", false, "tell two recordings apart by call site")
	f.BoolVar(&o.Strict, "strict", false, "exit with 3 when a file is cut short or something in it could not be read")
	f.Var(&o.Capacity, "capacity", "`SIZE` of the device's memory as CUDA reports it, which recordings do not tell")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "show all there is, the messages themselves included")
	return cmd
}

// An explainDocument is the JSON of the command for one file.
type explainDocument struct {
	Schema          string            `json:"schema"` // plimsoll.explain/1
	Input           explainInput      `json:"input"`
	OOM             []oomDocument     `json:"oom"`
	MemoryStats     []memoryDocument  `json:"memory_stats,omitempty"`
	Snapshot        any               `json:"snapshot,omitempty"`
	Recording       any               `json:"recording,omitempty"`
	Findings        []finding.Finding `json:"findings"`
	Replay          any               `json:"replay,omitempty"`
	Counterfactuals []any             `json:"counterfactuals,omitempty"`
}

// An explainInput says what was read.
type explainInput struct {
	File string `json:"file"`
	Kind string `json:"kind"` // log, snapshot, tape
}

// An explanation is the answer about one file.
type explanation struct {
	document *explainDocument
	report   *report.Report
	gaps     bool
}

func runExplain(ctx context.Context, stdio IO, o explainOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.Compare {
		return runCompare(ctx, stdio, o)
	}
	if len(o.Files) == 1 && o.Files[0] != standardInput {
		if kind, err := kindOfFile(o.Files[0]); err == nil && kind == kindSamples {
			return runReplay(ctx, stdio, replayOptions{Output: o.Output, Path: o.Files[0], Name: o.Files[0], Strict: o.Strict, Verbose: o.Verbose})
		}
	}
	var list []*explanation
	var left []error // files that have no answer; of ranks, mostly one fails
	gaps := false
	for _, path := range o.Files {
		e, err := explainFile(ctx, stdio, o, path)
		if err != nil {
			if ctx.Err() != nil || len(o.Files) == 1 {
				return err
			}
			left = append(left, err)
			continue
		}
		list = append(list, e)
		gaps = gaps || e.gaps
	}
	if len(list) == 0 {
		return left[0]
	}
	r := list[0].report
	if len(o.Files) > 1 {
		r = togetherReport(list)
	}
	for _, err := range left {
		r.Warnings = append(r.Warnings, report.Warning{Code: "file-left", Message: err.Error(), Consequence: "this file is not explained"})
		gaps = true
	}
	if err := o.render(stdio, r); err != nil {
		return err
	}
	if gaps && o.Strict {
		return ErrGaps
	}
	return nil
}

// runCompare tells two recordings apart.
func runCompare(ctx context.Context, stdio IO, o explainOptions) error {
	if len(o.Files) != 2 {
		return WithHint(errors.New("--compare takes two recordings"), "plimsoll explain --compare before.pickle after.pickle")
	}
	doc, r, err := compareRecordings(ctx, stdio, o, o.Files[0], o.Files[1])
	if err != nil {
		return err
	}
	r.Data = doc
	return o.render(stdio, r)
}

func (o explainOptions) render(stdio IO, r *report.Report) error {
	format, err := all.Lookup(o.Format)
	if err != nil {
		return err
	}
	shown := report.OptionsFor(stdio.Getenv, stdio.OutWidth > 0 && o.File == "", stdio.OutWidth)
	shown.Verbose = o.Verbose
	return o.write(stdio, func(w io.Writer) error { return format.Render(w, r, shown) })
}

func explainFile(ctx context.Context, stdio IO, o explainOptions, path string) (*explanation, error) {
	if path == standardInput {
		// A recording is read twice, which a pipe does not allow.
		in := bufio.NewReaderSize(stdio.In, 4<<10)
		prefix, _ := in.Peek(4 << 10)
		if kind := recordingKind("", prefix); kind != "" {
			return nil, WithHint(fmt.Errorf("read standard input: it is a recording (%s), which has to be a file", kind), "write it to a file: plimsoll explain snapshot.pickle")
		}
		stdio.In = in
		return explainLog(ctx, stdio, path)
	}
	kind, err := kindOfFile(path)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "log":
		return explainLog(ctx, stdio, path)
	case "memory_stats":
		return explainMemory(path)
	case kindSamples:
		return nil, WithHint(fmt.Errorf("read %s: it is a recording of GPUs over time, which is explained alone", path), "plimsoll replay "+path)
	}
	doc, r, err := explainSnapshot(ctx, stdio, o, path)
	if err != nil {
		return nil, err
	}
	d := &explainDocument{
		Schema: "plimsoll.explain/1", Input: explainInput{path, kind}, OOM: []oomDocument{},
		Snapshot: doc.Snapshot, Recording: doc.Recording, Findings: doc.Findings, Replay: doc.Replay, Counterfactuals: doc.Counterfactuals,
	}
	if d.Findings == nil {
		d.Findings = []finding.Finding{}
	}
	r.Data = d
	return &explanation{d, r, doc.Gaps}, nil
}

// kindSamples is a file that replay explains.
const kindSamples = "samples"

// kindOfFile tells what a file is from its first bytes.
func kindOfFile(path string) (string, error) {
	f, _, err := input.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: there is no such file", path)
	}
	if errors.Is(err, input.ErrNotRegular) {
		return "", WithHint(fmt.Errorf("read %s: %w", path, err), "a log may come through a pipe: some-command | plimsoll explain -")
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	prefix := make([]byte, 4<<10)
	n, err := io.ReadFull(f, prefix)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if kind := recordingKind(path, prefix[:n]); kind != "" {
		return kind, nil
	}
	if memstats.Detect(prefix[:n]) {
		return "memory_stats", nil
	}
	if isSampleFile(prefix[:n]) {
		return kindSamples, nil
	}
	return "log", nil
}
