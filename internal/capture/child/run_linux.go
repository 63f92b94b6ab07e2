package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// stopGrace is how long a supervisor may take to kill everything before it is
// killed itself.
const stopGrace = 15 * time.Second

// Run starts the command and waits until it and all that it started are gone.
// When ctx ends first, everything is killed and the context's cause returned.
func Run(ctx context.Context, s Spec) (Exit, error) {
	cmd := exec.Command("/proc/self/exe", Verb)
	cmd.Args[0] = os.Args[0]
	cmd.Stdout, cmd.Stderr = s.Output, s.Output
	// A session of its own keeps the terminal's Ctrl-C away: what is stopped,
	// and in which order, is decided here.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	lifeline, err := orders(cmd, s)
	if err != nil {
		return Exit{}, err
	}
	defer lifeline.Close()
	answers, answerEnd, err := os.Pipe()
	if err != nil {
		return Exit{}, err
	}
	defer answers.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, answerEnd)
	err = cmd.Start()
	answerEnd.Close()
	cmd.ExtraFiles[0].Close()
	if err != nil {
		return Exit{}, fmt.Errorf("start a supervisor: %w", err)
	}
	if err := json.NewEncoder(lifeline).Encode(order{s.Argv, s.Env, s.Dir, s.Folder}); err != nil {
		cmd.Process.Kill() //nolint:errcheck // it is gone already
	}
	done := make(chan struct{})
	var a answer
	var unanswered error
	go func() {
		defer close(done)
		unanswered = json.NewDecoder(answers).Decode(&a)
		cmd.Wait() //nolint:errcheck // the answer says it all
	}()
	select {
	case <-done:
	case <-ctx.Done():
		stop(cmd, lifeline, done)
		return Exit{}, context.Cause(ctx)
	}
	return exitOf(a, unanswered)
}

// orders makes the pipe to the supervisor and puts its reading end into cmd.
func orders(cmd *exec.Cmd, s Spec) (*os.File, error) {
	if len(s.Argv) == 0 {
		return nil, errors.New("run: no command")
	}
	readEnd, writeEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{readEnd}
	return writeEnd, nil
}

// stop asks the supervisor to kill everything, and kills it if it does not.
func stop(cmd *exec.Cmd, lifeline io.Writer, done <-chan struct{}) {
	lifeline.Write([]byte{'k'}) //nolint:errcheck // a supervisor that is gone has killed everything
	select {
	case <-done:
	case <-time.After(stopGrace):
		cmd.Process.Kill() //nolint:errcheck // nothing else is left to try
		<-done
	}
}

func exitOf(a answer, err error) (Exit, error) {
	switch {
	case err != nil:
		return Exit{}, fmt.Errorf("the supervisor of the script was killed: %w", err)
	case a.Error != "":
		return Exit{}, errors.New(a.Error)
	case a.Signal != 0:
		return Exit{Code: 128 + a.Signal, Signal: signalName(syscall.Signal(a.Signal)), Left: a.Left}, nil
	}
	return Exit{Code: a.Code, Left: a.Left}, nil
}
