package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/gpu"
)

// gpusOptions is what `plimsoll gpus` was asked.
type gpusOptions struct {
	Output
	Filter string // words that a row must have
	All    bool   // also cards that no capture can imitate
}

func newGPUsCommand(stdio IO) *cobra.Command {
	var o gpusOptions
	cmd := &cobra.Command{
		Use:   "gpus [NAME]",
		Short: "List the graphics cards that Plimsoll knows",
		Long: `List the graphics cards that Plimsoll knows: what CUDA reports as their memory,
their multiprocessors, and what a process takes beside PyTorch.

With a NAME, only the cards that the name may mean; --gpu takes the same names.`,
		Example: "  plimsoll gpus\n  plimsoll gpus a100\n  plimsoll gpus --all --format csv",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Filter = args[0]
			}
			return runGPUs(stdio, o)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return gpuFamilies(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.addFlags(cmd, "text", "json", "csv")
	cmd.Flags().BoolVar(&o.All, "all", false, "also cards of other makers and those without memory of their own")
	return cmd
}

func runGPUs(stdio IO, o gpusOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	cards := gpu.All()
	if o.Filter != "" {
		found, err := gpu.Find(o.Filter)
		if err != nil {
			return gpuHint(err)
		}
		cards = found
	} else if !o.All {
		cards = slices.DeleteFunc(slices.Clone(cards), func(c gpu.Card) bool { return c.Capturable() != nil })
	}
	renderers := map[string]func(io.Writer, []gpu.Card) error{
		"text": renderGPUsText,
		"json": renderGPUsJSON,
		"csv":  renderGPUsCSV,
	}
	return o.write(stdio, func(w io.Writer) error { return renderers[o.Format](w, cards) })
}
