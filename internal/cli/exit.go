package cli

import (
	"context"
	"errors"
)

// Exit is the status that the process ends with. The numbers are a promise to
// scripts: they never change meaning.
type Exit int

// Every status that plimsoll ends with.
const (
	ExitOK          Exit = 0   // the answer is yes, or there was nothing to answer
	ExitNo          Exit = 1   // the answer is no: it does not fit
	ExitFailed      Exit = 2   // usage, unreadable input, a script or a set-up that failed
	ExitGaps        Exit = 3   // answered, with gaps, under --strict
	ExitInterrupted Exit = 130 // stopped by the user
)

// What a command returns when it has printed its answer in full and only the
// exit status is left to say. Nothing more is printed for these two.
var (
	// ErrNo says that the answer is no: the script does not fit.
	ErrNo = errors.New("the answer is no")
	// ErrGaps says that the answer has gaps and that the user asked for --strict.
	ErrGaps = errors.New("the answer has gaps")
)

// exitOf is the one place where an error becomes an exit status.
func exitOf(err error) Exit {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrNo):
		return ExitNo
	case errors.Is(err, ErrGaps):
		return ExitGaps
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	default:
		return ExitFailed
	}
}
