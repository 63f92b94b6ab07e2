// Package cli is the command line: flags, wiring and exit statuses.
//
// A command is an options struct, its flags, and a function that takes a
// context, an IO and the options. It prints its answer to IO.Out, never exits,
// and says no by returning ErrNo.
//
// Nothing is computed here: a command calls one package and hands the value to
// a renderer.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/internal/capture/child"
)

// commands is every command: before a run, after one, during one, and the rest.
func commands(stdio IO) []*cobra.Command {
	return []*cobra.Command{
		newCaptureCommand(stdio),
		newEstimateCommand(stdio),
		newModelsCommand(stdio),
		newExplainCommand(stdio),
		newWhatifCommand(stdio),
		newLintCommand(stdio),
		newViewCommand(stdio),
		newTopCommand(stdio),
		newRunCommand(stdio),
		newRecordCommand(stdio),
		newReplayCommand(stdio),
		newExporterCommand(stdio),
		newGPUsCommand(stdio),
		newVersionCommand(stdio),
	}
}

// Run parses args (without the program's name), runs the command and returns
// what the process should exit with. Errors are printed here and nowhere else.
func Run(ctx context.Context, args []string, stdio IO) Exit {
	if len(args) == 1 && args[0] == child.Verb {
		// A capture has started this program again, to stand between itself
		// and the script.
		return Exit(child.Supervise())
	}
	root := newRoot(stdio)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if status, ok := errors.AsType[*commandStatus](err); ok {
		// Somebody else's command has run, and its status is ours.
		if status.err != nil {
			tell(stdio, status.err, Exit(status.code), wantsJSON(args))
		}
		return Exit(status.code)
	}
	if ctx.Err() != nil {
		// Whatever failed, it failed because the user stopped it.
		err = context.Canceled
	}
	exit := exitOf(err)
	if exit == ExitFailed || exit == ExitInterrupted {
		tell(stdio, err, exit, wantsJSON(args))
	}
	return exit
}

func newRoot(stdio IO) *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "Know how much GPU memory a training script needs before renting the GPU",
		Long: `Plimsoll says how much GPU memory training needs, and why.

Of a known model it says so in milliseconds, from recordings. An unmodified
script it runs for a few steps on a virtual GPU, on a machine that has none, and
reports what PyTorch's own allocator did. While a training runs it says whether the
GPU is used, and if not, why; after a crash, why the memory ran out.`,
		Example: `  plimsoll estimate llama-3.1-8b --batch 2 --seq 4096 --dtype bf16 --gpu h100
  plimsoll capture --gpu h100 -- python train.py --batch-size 32
  plimsoll top
  plimsoll explain train.log`,
		Version:       buildVersion().Version,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(stdio.In)
	root.SetOut(stdio.Out)
	root.SetErr(stdio.Err)
	root.SetVersionTemplate("plimsoll {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(commands(stdio)...)
	return root
}

// unknownCommand refuses words that are no command; cobra's own message
// spreads its suggestions over several lines.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return WithHint(fmt.Errorf("%q is not a command of %s", args[0], cmd.CommandPath()), hint)
}

// complete attaches a completion function to a flag that must exist.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // a flag that this program itself did not define: found by any test
	}
}

// tell prints an error for people, or as one JSON object for programs.
func tell(stdio IO, err error, exit Exit, asJSON bool) {
	message, hint := err.Error(), hintOf(err)
	if exit == ExitInterrupted {
		message, hint = "interrupted", ""
	}
	if asJSON {
		enc := json.NewEncoder(stdio.Err)
		enc.SetEscapeHTML(false)
		enc.Encode(errorDocument{"plimsoll.error/1", message, hint, exit}) //nolint:errcheck // stderr is the last resort
		return
	}
	fmt.Fprintln(stdio.Err, "plimsoll: "+message)
	if hint != "" {
		fmt.Fprintln(stdio.Err, "hint: "+hint)
	}
}

type errorDocument struct {
	Schema  string `json:"schema"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Exit    Exit   `json:"exit"`
}

// wantsJSON looks for --format json among plimsoll's own words, even when they
// could not be parsed; what follows "--" belongs to the user's script.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	for i, arg := range args {
		if arg == "--format=json" || arg == "--format" && i+1 < len(args) && args[i+1] == "json" {
			return true
		}
	}
	return false
}
