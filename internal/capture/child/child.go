// Package child runs one command so that nothing of it is left when it ends,
// however it ends.
//
// Between plimsoll and the command stands a supervisor: the same program,
// started again. It is the reaper of everything that the command starts, also
// of what detaches itself, and it holds a pipe to plimsoll. When the command
// ends, when plimsoll asks, or when plimsoll is killed and the pipe closes, it
// kills what is left and, in the last case, removes the run folder.
//
// Whoever uses this package must answer the Verb on the command line by
// calling Supervise, before anything else is done.
package child

import (
	"errors"
	"io"
)

// Verb is the first argument of a supervisor's command line.
const Verb = "__supervise"

// A Spec is a command to run.
type Spec struct {
	Argv   []string // Argv[0] is an absolute path
	Env    []string
	Dir    string
	Folder string    // removed by the supervisor when plimsoll dies
	Output io.Writer // gets stdout and stderr, mixed as they come
}

// An Exit is how a command ended.
type Exit struct {
	Code   int    // exit status; 128 + signal when a signal ended it
	Signal string // name of that signal, "" when none
	Left   int    // processes that were still there and were killed
}

// ErrUnsupported says that this system has no way to run a capture.
var ErrUnsupported = errors.New("a capture needs Linux: the virtual GPU stands under PyTorch's CUDA build, which exists for Linux only")

// order is what a supervisor is told to do.
type order struct {
	Argv   []string `json:"argv"`
	Env    []string `json:"env"`
	Dir    string   `json:"dir"`
	Folder string   `json:"folder"`
}

// answer is what a supervisor says before it ends.
type answer struct {
	Code   int    `json:"code"`
	Signal int    `json:"signal"`
	Left   int    `json:"left"`
	Error  string `json:"error"`
}
