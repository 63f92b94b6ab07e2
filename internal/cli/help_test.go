package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand calls f with each command that a user can reach.
func everyCommand(t *testing.T, f func(t *testing.T, cmd *cobra.Command)) {
	t.Helper()
	stdio, _, _ := record()
	root := newRoot(stdio)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "-"), func(t *testing.T) { f(t, cmd) })
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk(root)
}

func TestEveryCommandExplainsItself(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || len(cmd.Short) > 80 {
			t.Errorf("short help %q is empty, ends with a stop or is long", cmd.Short)
		}
		if examples := strings.Count(cmd.Example, "plimsoll "); examples < 2 {
			t.Errorf("%d examples, want at least 2", examples)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("--%s: help %q is empty or ends with a stop", f.Name, f.Usage)
			}
		})
	})
}

// Help is what users read first, so a change of it is seen in review.
// PLIMSOLL_UPDATE=1 writes it anew.
func TestHelp(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		stdio, out, _ := record()
		words := strings.Fields(cmd.CommandPath() + " --help")
		args := words[1:]
		if exit := Run(t.Context(), args, stdio); exit != ExitOK {
			t.Fatalf("exit %d", exit)
		}
		name := filepath.Join("testdata", "help", strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".txt")
		if os.Getenv("PLIMSOLL_UPDATE") != "" {
			if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatalf("%v; make golden writes it", err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("help changed (want -, got +):\n%s", diff)
		}
	})
}
