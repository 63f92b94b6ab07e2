package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/estimate"
	"github.com/plimsoll-dev/plimsoll/internal/gpu"
	"github.com/plimsoll-dev/plimsoll/internal/recipe"
	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/all"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// estimateOptions is what `plimsoll estimate` was asked.
type estimateOptions struct {
	Output
	recipeFlags
	Model    string
	GPU      string
	Capacity sizeFlag
	Context  sizeFlag
	Assume   string
	Set      []string
	Offline  bool
	Formula  bool
	Explain  bool
	Strict   bool
	Verbose  bool
}

func newEstimateCommand(stdio IO) *cobra.Command {
	var o estimateOptions
	cmd := &cobra.Command{
		Use:   "estimate MODEL [flags]",
		Short: "Say in milliseconds what memory a known model takes",
		Long: `Say what memory training or serving a known model takes, whether it fits a card,
what the peak is made of and what would help. Nothing is run and no GPU is used.

MODEL is a name that plimsoll models lists, a Hugging Face id, a config.json or
its directory, or a tape of a script that plimsoll capture --symbolic made. What
operators allocate was recorded from PyTorch and solved for the model's
dimensions; what the allocator makes of it is replayed.`,
		Example: `  plimsoll estimate gpt2 --batch 8 --seq 1024 --amp fp16 --gpu "RTX 3090"
  plimsoll estimate resnet50 --batch 64 --image 224 --optimizer sgd-momentum --gpu "Tesla T4"
  plimsoll estimate ./config.json --batch 2 --seq 4096 --dtype bf16 --checkpoint full --lora r=16,targets=q_proj+v_proj --gpu rtx4090
  plimsoll estimate meta-llama/Llama-3.1-8B --mode infer --batch 8 --seq 8192 --gpu a10`,
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Model = args[0]
			o.given = func(name string) bool { return cmd.Flags().Changed(name) }
			return estimateCommand(cmd.Context(), stdio, newCatalog(stdio), o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return modelNames(newCatalog(stdio)), cobra.ShellCompDirectiveDefault
		},
	}
	o.flags(cmd)
	return cmd
}

// oneModel says what is missing better than cobra's count of arguments.
func oneModel(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return WithHint(errors.New("there is no model to estimate"), "plimsoll estimate gpt2 --batch 8; plimsoll models lists the names")
	case 1:
		return nil
	}
	return WithHint(fmt.Errorf("one model at a time: %q is one too many", args[1]), "flags begin with --, as --batch 8")
}

func (o *estimateOptions) flags(cmd *cobra.Command) {
	o.addFlags(cmd, all.Names()...)
	f := cmd.Flags()
	f.Lookup("output").Usage = "write what was played to `FILE` if it ends in .tape, for plimsoll whatif; else the answer"
	f.StringVar(&o.GPU, "gpu", "", "`CARD` to judge, as h100, 3090 or h100x8; without it, the smallest on which it fits")
	complete(cmd, "gpu", completeGPU)
	f.Var(&o.Capacity, "capacity", "`SIZE` of the card's memory in place of its own, as 40GiB")
	f.Var(&o.Context, "context", "`SIZE` that the process takes beside PyTorch's allocator, in place of the table's")
	f.StringVar(&o.Assume, "assume", "", "read an unknown architecture as one of `FAMILY`")
	f.StringArrayVar(&o.Set, "set", nil, "values of what a script was captured with, `NAME=N` joined by +, as width=64+depth=3")
	f.BoolVar(&o.Offline, "offline", false, "do not ask the hub: built-in models, files and the local cache only")
	f.BoolVar(&o.Formula, "formula", false, "show the closed form of every category")
	f.BoolVar(&o.Explain, "explain", false, "show how each line adds up, and every cure")
	f.BoolVar(&o.Strict, "strict", false, "exit with 3 when the answer has gaps")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "show all details")
	o.addRecipeFlags(cmd)
}

// estimateCommand is the whole command.
func estimateCommand(ctx context.Context, stdio IO, known modelFinder, o estimateOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	r, err := o.recipe()
	if err != nil {
		return err
	}
	target, err := o.target(&r)
	if err != nil {
		return err
	}
	source, err := o.source(ctx, known, &r, target)
	if err != nil {
		return withEstimateHint(err)
	}
	e, err := o.answer(ctx, source, r, target)
	if err != nil {
		return withEstimateHint(err)
	}
	if isTape(o.File) {
		if err := keepPlayed(o.File, e); err != nil {
			return err
		}
		o.File = ""
	}
	if err := o.render(stdio, e); err != nil {
		return err
	}
	switch {
	case e.Verdict == estimate.DoesNotFit:
		return ErrNo
	case o.Strict && e.HasGaps():
		return ErrGaps
	}
	return nil
}

func (o estimateOptions) answer(ctx context.Context, source estimate.Source, r recipe.Recipe, target *estimate.Target) (*estimate.Estimate, error) {
	options := estimate.Options{Formula: o.Formula || o.Explain || o.Format != "text", Tape: o.Format == "html" || isTape(o.File), Reserved: o.Format == "html", Remedies: o.Explain}
	if target != nil {
		return estimate.On(ctx, source, r, *target, options)
	}
	var cards []gpu.Card
	for _, c := range gpu.All() {
		if c.Capturable() == nil {
			cards = append(cards, c)
		}
	}
	return estimate.Smallest(ctx, source, r, cards, options)
}

// target is the card that the flags name, nil for none. Several cards share
// the work of training as plain data parallelism does, unless the recipe says
// how.
func (o estimateOptions) target(r *recipe.Recipe) (*estimate.Target, error) {
	if o.Capacity.Given && o.Capacity.Bytes < unit.MiB {
		return nil, WithHint(fmt.Errorf("--capacity %s is less than 1 MiB", o.Capacity.Bytes), "write the unit, as 24GiB")
	}
	if o.GPU == "" {
		switch {
		case o.Capacity.Given || o.Context.Given:
			return nil, WithHint(errors.New("--capacity and --context change a card, and none is named"), "add --gpu, as --gpu h100")
		case r.Shard != "":
			return nil, WithHint(fmt.Errorf("--shard %s shares the work among cards, and none is named", r.Shard), "add --gpu with their number, as --gpu h100x8")
		}
		return nil, nil
	}
	choices, err := parseGPUs(o.GPU)
	if err != nil {
		return nil, err
	}
	if len(choices) > 1 {
		return nil, WithHint(errors.New("--gpu takes one card here"), "without --gpu the smallest cards on which it fits are listed")
	}
	t := estimate.TargetOf(choices[0].Card, choices[0].Count)
	t.Note = choices[0].Note
	switch {
	case t.Count == 1 && r.Shard != "":
		return nil, WithHint(fmt.Errorf("--shard %s shares the work among cards, and --gpu names one", r.Shard), fmt.Sprintf("--gpu %sx8", choices[0].Card.ShortNames()[0]))
	case t.Count > 1 && r.Shard == "" && (r.Mode == "" || r.Mode == recipe.Train):
		r.Shard = "ddp"
	}
	if o.Capacity.Given {
		t.Capacity = o.Capacity.Bytes
	}
	if o.Context.Given {
		t.Context = gpu.Interval{Low: o.Context.Bytes, Typical: o.Context.Bytes, High: o.Context.Bytes}
	}
	return &t, nil
}

// withEstimateHint hands on what an error of an estimate says to try.
func withEstimateHint(err error) error {
	if hint := estimate.HintOf(err); hint != "" {
		return WithHint(err, hint)
	}
	return err
}

// librariesMeta is the part of a recording's context that is no card's own, such as
// NCCL's buffers.
const librariesMeta = "libraries_bytes"

// keepPlayed writes the run as a recording that plimsoll whatif reads. What
// libraries take outside of PyTorch's allocator stands there with the context.
func keepPlayed(name string, e *estimate.Estimate) error {
	t := e.Tape
	for key, value := range map[string]string{
		"torch": e.RecordedWith.Torch, "gpu": e.GPU.Name, "alloc_conf": e.Recipe.AllocConf,
		"capacity_bytes": fmt.Sprint(int64(e.GPU.Capacity)), "context_bytes": fmt.Sprint(int64(e.Beside)), librariesMeta: fmt.Sprint(int64(e.Libraries)),
	} {
		t.SetMeta(key, value)
	}
	return writeTape(name, t)
}

func (o estimateOptions) render(stdio IO, e *estimate.Estimate) error {
	format, err := all.Lookup(o.Format)
	if err != nil {
		return err
	}
	shown := report.OptionsFor(stdio.Getenv, stdio.OutWidth > 0 && o.File == "", stdio.OutWidth)
	shown.Verbose = o.Verbose
	return o.write(stdio, func(w io.Writer) error { return format.Render(w, estimateReport(e, o), shown) })
}
