package capture

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture/child"
)

// failureOf says why a script that has ended gives no answer, nil when it
// gives one.
func failureOf(all []written, done finished, o Options) error {
	used := false
	for _, w := range all {
		if w.result.End == endOOM {
			return nil // running out of memory is an answer
		}
		used = used || w.usedGPU()
	}
	for _, w := range all {
		if w.result.End == endException && w.result.Exception != nil {
			return scriptRaised(w, done)
		}
	}
	for _, w := range all {
		if w.result.End == endExit && w.result.ExitCode != 0 {
			return scriptEnded(fmt.Sprintf("the script ended with exit status %d before it had made %d steps", w.result.ExitCode, o.Steps), done)
		}
	}
	switch {
	case done.hung && (!used || !answered(all)):
		e := &Error{Msg: fmt.Sprintf("the script did not stop within %v and was killed", o.Timeout+o.Lateness), Output: done.tail}
		e.Hint = "--timeout gives it longer, -v shows what it does"
		return e
	case used && answered(all):
		return nil
	case done.exit.Signal != "":
		return killedBy(done)
	case done.exit.Code != 0:
		return scriptEnded(fmt.Sprintf("the script failed with exit status %d%s", done.exit.Code, whenUnused(len(all) > 0)), done)
	case used:
		return scriptEnded("the script ended without leaving its recording", done)
	}
	return &Error{
		Msg:    "the script ended without allocating anything on the GPU, so there is nothing to say about its memory",
		Hint:   "see with -v what it does; it may need a flag such as --device cuda, or end before it builds its model",
		Output: "",
	}
}

// answered reports whether every process that used the GPU left its result.
func answered(all []written) bool {
	for _, w := range all {
		if w.result.End == endKilled {
			return false
		}
	}
	return true
}

func whenUnused(used bool) string {
	if used {
		return ""
	}
	return " before it used the GPU"
}

func scriptRaised(w written, done finished) error {
	x := w.result.Exception
	first, _, _ := strings.Cut(strings.TrimSpace(x.Message), "\n")
	e := &Error{Msg: "the script failed: " + x.Type, Output: done.tail}
	if first != "" {
		e.Msg += ": " + first
	}
	if x.Traceback != "" {
		// What the script printed holds it too, but between a launcher's words.
		e.Output = strings.TrimRight(x.Traceback, "\n")
	}
	e.Output, e.Msg = child.Printable(e.Output), child.Printable(e.Msg)
	return e
}

func scriptEnded(msg string, done finished) error { return &Error{Msg: msg, Output: done.tail} }

// killedBy explains the signals that scripts die of.
func killedBy(done finished) error {
	e := &Error{Msg: "the script was ended by " + done.exit.Signal, Output: done.tail}
	switch done.exit.Signal {
	case "SIGKILL":
		e.Msg += ", as happens when the machine runs out of memory"
		e.Hint = "build the model on the device (with torch.device(\"cuda\"):), so that it takes no host memory"
	case "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT":
		e.Hint = "a library may have asked the virtual GPU for something it does not answer; -v shows what came before"
	}
	return e
}
