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

	"github.com/plimsoll-dev/plimsoll/internal/capture"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/all"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// captureOptions is what `plimsoll capture` was asked.
type captureOptions struct {
	Output
	GPU         string
	Capacity    sizeFlag
	Context     sizeFlag
	Workspace   sizeFlag
	Steps       int
	Timeout     time.Duration
	Values      string
	KeepInit    bool
	AllowWrites bool
	World, Rank int
	AllocConf   string
	Python      string
	Snapshot    string
	Largest     string
	Vary        []string
	Symbolic    bool
	Strict      bool
	Verbose     bool

	Argv []string
	Dir  string
	Env  []string
}

// runCapture is capture.Run, or a test's.
type runCapture = capture.Runner

func newCaptureCommand(stdio IO) *cobra.Command {
	var o captureOptions
	cmd := &cobra.Command{
		Use:   "capture [flags] -- COMMAND [ARG...]",
		Short: "Run a training script on a virtual GPU and say what memory it takes",
		Long: `Run a training script, as it is, for a few optimizer steps on a virtual GPU, and
say whether it fits, what the peak is made of, and which lines made it.

PyTorch itself runs, with its own allocator; kernels are not computed, so no GPU
is used and a real batch size takes seconds. What the script would save or send
is kept from leaving the run, and listed.`,
		Example: `  plimsoll capture --gpu h100 -- python train.py --batch-size 32
  plimsoll capture --gpu a100x4 -- torchrun --nproc-per-node 4 train.py
  plimsoll capture --gpu 3090 --largest batch -- python train.py --batch-size {batch}
  plimsoll capture --vary batch=4,8,12 --symbolic -o run.sym -- python train.py --batch-size {batch}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return fmt.Errorf("find the working directory: %w", err)
			}
			o.Argv, o.Dir, o.Env = args, dir, os.Environ()
			return captureCommand(cmd.Context(), stdio, capture.Run, o)
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *captureOptions) flags(cmd *cobra.Command) {
	o.addFlags(cmd, all.Names()...)
	f := cmd.Flags()
	// What follows the first word of the command belongs to it.
	f.SetInterspersed(false)
	f.Lookup("output").Usage = "write the recording to `FILE` if it ends in .tape, formulas if in .sym, else the answer"
	f.StringVar(&o.GPU, "gpu", "", "`CARD` to run on, as h100, 3090 or a100x4; several joined by commas are run one after another")
	complete(cmd, "gpu", completeGPU)
	f.Var(&o.Capacity, "capacity", "`SIZE` of the card's memory in place of its own, as 40GiB")
	f.Var(&o.Context, "context", "`SIZE` that the process takes beside PyTorch's allocator, in place of the table's")
	f.Var(&o.Workspace, "cudnn-workspace", "`SIZE` that each convolution takes for its workspace")
	f.IntVar(&o.Steps, "steps", capture.DefaultSteps, "optimizer steps to run")
	f.DurationVar(&o.Timeout, "timeout", capture.DefaultTimeout, "stop the script after this time")
	f.StringVar(&o.Values, "values", "small", "which values are computed: `WHICH` is small (of small tensors, so that the script takes its real way) or none")
	f.BoolVar(&o.KeepInit, "keep-init", false, "fill large tensors on the CPU as the script says, which takes time and changes no size")
	f.BoolVar(&o.AllowWrites, "allow-writes", false, "let the script save files and send results; computed values are not real")
	f.IntVar(&o.World, "world", 0, "run one process as a rank of `N`, with collectives that do nothing")
	f.IntVar(&o.Rank, "rank", 0, "the rank to run as with --world")
	f.StringVar(&o.AllocConf, "alloc-conf", "", "allocator `SETTINGS`, exactly as in PYTORCH_CUDA_ALLOC_CONF")
	f.StringVar(&o.Python, "python", "", "the `INTERPRETER` that the command uses, where it cannot be found")
	f.StringVar(&o.Snapshot, "snapshot", "", "keep PyTorch's own memory snapshot as `FILE`")
	f.StringVar(&o.Largest, "largest", "", "find the largest number that fits in place of {`NAME`} in the command")
	f.StringArrayVar(&o.Vary, "vary", nil, "run with each of the values of `NAME=A,B,C` in place of {NAME}; may be given several times")
	f.BoolVar(&o.Symbolic, "symbolic", false, "solve sizes as formulas of what --vary names, joined by +, for plimsoll estimate; -o FILE.sym names the tape")
	f.BoolVar(&o.Strict, "strict", false, "exit with 3 when the answer has gaps")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "show the script's output on stderr, and all details")
}

// captureCommand is the whole command.
func captureCommand(ctx context.Context, stdio IO, run runCapture, o captureOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	cards, err := o.cards()
	if err != nil {
		return err
	}
	line := newStatusLine(stdio)
	defer line.clear()
	base := o.base(stdio, line)
	if o.Symbolic {
		return o.symbolic(ctx, stdio, run, base, cards, line)
	}
	if o.Largest != "" || len(o.Vary) > 0 {
		return o.sweep(ctx, stdio, run, base, cards, line)
	}
	var captures []*capture.Capture
	for i, card := range cards {
		base.Card = card
		base.Snapshot = numbered(o.Snapshot, card, i)
		c, err := run(ctx, base)
		if err != nil {
			line.clear()
			return scriptError(stdio, err)
		}
		captures = append(captures, c)
	}
	line.clear()
	for i, c := range captures {
		if err := o.keepTape(c, cards[i], i); err != nil {
			return err
		}
	}
	r := captureReport(captures, o)
	if err := o.render(stdio, r); err != nil {
		return err
	}
	return o.answer(captures)
}

// answer turns the verdicts into what the process exits with: no when any card
// says no, gaps only under --strict.
func (o captureOptions) answer(captures []*capture.Capture) error {
	gaps := false
	for _, c := range captures {
		if c.Result.Verdict == capture.DoesNotFit {
			return ErrNo
		}
		gaps = gaps || c.Result.HasGaps()
	}
	if gaps && o.Strict {
		return ErrGaps
	}
	return nil
}

func (o captureOptions) check() error {
	if err := o.checkSymbolic(); err != nil {
		return err
	}
	if o.File == "" || !isTape(o.File) {
		if err := o.validate(); err != nil {
			return err
		}
	}
	switch {
	case o.Steps < 1:
		return errors.New("--steps must be at least 1")
	case o.Capacity.Given && o.Capacity.Bytes < unit.MiB:
		return WithHint(fmt.Errorf("--capacity %s is less than 1 MiB", o.Capacity.Bytes), "write the unit, as 24GiB")
	case o.Timeout <= 0:
		return errors.New("--timeout must be more than nothing")
	case o.Largest != "" && len(o.Vary) > 0:
		return errors.New("--largest and --vary cannot be given together")
	case (o.Largest != "" || len(o.Vary) > 0) && (o.Snapshot != "" || isTape(o.File)):
		return errors.New("--snapshot and -o FILE.tape keep one run and cannot be given with --largest or --vary")
	case o.World < 0 || o.Rank < 0 || o.World > 0 && o.Rank >= o.World:
		return fmt.Errorf("--rank %d is not a rank of --world %d", o.Rank, o.World)
	case o.Values != "" && o.Values != "small" && o.Values != "none":
		return fmt.Errorf("--values %q is neither small nor none", o.Values)
	case o.Rank > 0 && o.World == 0:
		return WithHint(errors.New("--rank needs --world"), "--world 8 --rank 7")
	}
	return nil
}

// base is the capture that every card and trial starts from.
func (o captureOptions) base(stdio IO, line *statusLine) capture.Options {
	base := capture.Options{
		Argv: o.Argv, Dir: o.Dir, Environ: o.Env, Python: o.Python, Steps: o.Steps, Timeout: o.Timeout,
		Zeros: o.Values == "none", KeepInit: o.KeepInit, AllowWrites: o.AllowWrites, World: o.World, Rank: o.Rank, AllocConf: o.AllocConf,
		Context: o.Context.Bytes, ContextGiven: o.Context.Given, CuDNNWorkspace: -1, Others: commonCards(), Progress: line.progress, Plimsoll: buildVersion().Version,
	}
	if o.Workspace.Given {
		base.CuDNNWorkspace = o.Workspace.Bytes
	}
	if o.Verbose {
		base.Echo = stdio.Err
	}
	return base
}

// defaultCard is what a script runs on when the user names no card: large, so
// that most scripts run through, and common.
const defaultCard = "h100"

// cards are the cards to capture on.
func (o captureOptions) cards() ([]capture.Card, error) {
	names, note := o.GPU, ""
	if names == "" {
		names, note = defaultCard, "no --gpu was given, so a large card was taken"
	}
	choices, err := parseGPUs(names)
	if err != nil {
		return nil, err
	}
	var cards []capture.Card
	for i, c := range choices {
		word := strings.TrimSpace(strings.Split(names, ",")[i])
		given := c.Count > 1 || strings.HasSuffix(word, "x1")
		if note != "" {
			c.Note = note
		}
		cards = append(cards, capture.Card{Card: c.Card, Count: c.Count, CountGiven: given, Note: c.Note, Capacity: o.Capacity.Bytes})
	}
	return cards, nil
}

// common are the cards that people rent and own, small to large.
var common = []string{
	"Tesla T4", "GeForce RTX 3060 12GB", "GeForce RTX 3090", "GeForce RTX 4090", "Tesla V100 SXM2 16GB", "L4", "L40S",
	"A100 SXM4 40GB", "A100 SXM4 80GB", "H100 SXM5 80GB", "H200 SXM 141GB", "B200 SXM 180GB",
}

func commonCards() []gpu.Card {
	var cards []gpu.Card
	for _, name := range common {
		if c, err := gpu.Lookup(name); err == nil {
			cards = append(cards, c.Card)
		}
	}
	return cards
}

// render writes the report where the user wants it; a .tape file is not a
// place for it.
func (o captureOptions) render(stdio IO, r *report.Report) error {
	if isTape(o.File) || isSym(o.File) {
		o.File = ""
	}
	format, err := all.Lookup(o.Format)
	if err != nil {
		return err
	}
	shown := report.OptionsFor(stdio.Getenv, stdio.OutWidth > 0 && o.File == "", stdio.OutWidth)
	shown.Verbose = o.Verbose
	return o.write(stdio, func(w io.Writer) error { return format.Render(w, r, shown) })
}

// scriptError shows what the script printed before the error is told.
func scriptError(stdio IO, err error) error {
	e, ok := errors.AsType[*capture.Error](err)
	if !ok {
		return err
	}
	if e.Output != "" {
		fmt.Fprintln(stdio.Err, e.Output)
	}
	if e.Hint != "" {
		return WithHint(errors.New(e.Msg), e.Hint)
	}
	return errors.New(e.Msg)
}
