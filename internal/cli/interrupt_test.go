package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// record is an IO whose output a test can read.
func record() (IO, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	return IO{
		In:     strings.NewReader(""),
		Out:    &out,
		Err:    &err,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Unix(0, 0) },
	}, &out, &err
}

func TestAnInterruptedCommandSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stdio, _, stderr := record()
	if got := Run(ctx, []string{"gpus", "no such card"}, stdio); got != ExitInterrupted {
		t.Errorf("exit %d, want %d", got, ExitInterrupted)
	}
	if got, want := stderr.String(), "plimsoll: interrupted\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
}
