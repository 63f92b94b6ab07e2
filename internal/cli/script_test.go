package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts call plimsoll as a command of its own: the test binary
// then runs the program, with the process's own streams.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"plimsoll": func() {
			ctx, _ := Interruptible()
			os.Exit(int(Run(ctx, os.Args[1:], ProcessIO())))
		},
	})
}

// TestScripts runs testdata/script/*.txtar. Each is a session at the command
// line with the files that it needs; they are examples of the documentation,
// too. PLIMSOLL_UPDATE=1 writes the expected output anew.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("PLIMSOLL_UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
