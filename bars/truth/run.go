package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// A job is one case of one file.
type job struct {
	file *file
	id   string
	want measured
}

type runner struct{ plimsoll, python, script string }

// document is what is read of a capture's answer.
type document struct {
	Peak struct {
		Allocated int64 `json:"allocated_bytes"`
		Reserved  int64 `json:"reserved_bytes"`
	} `json:"peak"`
	OOM *struct {
		Message string `json:"message"`
	} `json:"oom"`
	Replay struct {
		Equal bool `json:"equal"`
	} `json:"replay"`
}

// An outcome is how a capture compares with its recording.
type outcome int

const (
	differs outcome = iota
	equal
	equalWithoutValues
)

// run captures one case and says in a line how it compares. The recordings
// were made without computing any value, so where a value steers the model
// (Transformers looks whether positions rise by one before it leaves out a
// mask) a second capture does the same and must be equal.
func (r *runner) run(j job) (line string, o outcome) {
	line, same := r.capture(j, "small")
	if same {
		return line, equal
	}
	zeros, same := r.capture(j, "none")
	if !same {
		return line + "\n  without values: " + zeros, differs
	}
	return line + ": equal when no value is computed", equalWithoutValues
}

// capture runs one case and says in a line what came of it.
func (r *runner) capture(j job, values string) (line string, same bool) {
	name := j.file.GPU + " " + j.id
	cmd := exec.Command(r.plimsoll, "capture", "--format", "json", "--steps", "3", "--values", values,
		"--gpu", j.file.GPU, "--capacity", j.file.Device.Capacity, "--context", "0",
		"--", r.python, r.script, j.file.path, j.id)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return fmt.Sprintf("%-70s failed: %s", name, lastLine(exit)), false
	}
	var got document
	if err := json.Unmarshal(out, &got); err != nil {
		return fmt.Sprintf("%-70s unreadable answer: %v", name, err), false
	}
	if j.want.OutOfMemory != "" {
		message := ""
		if got.OOM != nil {
			message = plain(got.OOM.Message)
		}
		if message == plain(j.want.OutOfMemory) {
			return fmt.Sprintf("%-70s out of memory, same message", name), true
		}
		return fmt.Sprintf("%-70s out of memory\n  recorded %q\n  captured %q", name, plain(j.want.OutOfMemory), message), false
	}
	da, dr := got.Peak.Allocated-j.want.Allocated, got.Peak.Reserved-j.want.Reserved
	replay := ""
	if !got.Replay.Equal {
		replay = ", our replay differs"
	}
	return fmt.Sprintf("%-70s allocated %d %+d, reserved %d %+d%s", name, j.want.Allocated, da, j.want.Reserved, dr, replay),
		da == 0 && dr == 0 && got.Replay.Equal
}

func lastLine(e *exec.ExitError) string {
	if e == nil {
		return "not started"
	}
	lines := strings.Split(strings.TrimSpace(string(e.Stderr)), "\n")
	return lines[len(lines)-1]
}

// The recordings were made without a list of processes, so their text lacks
// the sentence on this one, and they were cut before the advice.
var (
	process = regexp.MustCompile(`(Including non-PyTorch memory, this process has|Process \d+ has) [^ ]+ [A-Za-z]+ memory in use\. `)
	advice  = regexp.MustCompile(` If reserved.*`)
)

func plain(message string) string {
	message = process.ReplaceAllString(message, "")
	return strings.TrimSpace(advice.ReplaceAllString(strings.ReplaceAll(message, "\n", " "), ""))
}
