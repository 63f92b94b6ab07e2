// Package launch runs somebody's command while it is watched: it chooses GPUs for
// it that nobody else takes, passes signals on, and says how it ended.
//
// The command stays in the terminal's group of processes and has the terminal's
// own streams, so that it behaves as without it. If plimsoll is killed the command
// goes on.
package launch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Spec is what to run.
type Spec struct {
	Argv     []string
	Env      []string
	In       io.Reader
	Out, Err io.Writer
}

// A Command is one that runs.
type Command struct {
	cmd     *exec.Cmd
	signals chan os.Signal
	done    chan struct{}
	ours    int64 // KiB that we had at most when it was started
	end     End
}

// An End is how a command ended.
type End struct {
	Code   int    // as a shell says it: 128 and the signal's number for one that was killed
	Signal string // "SIGKILL" for one that was killed, else ""
	// CPU is processor time and MaxResident the most memory of one process, in
	// bytes, 0 where it is not known; both of the command and of what it waited for.
	CPU         time.Duration
	MaxResident int64
}

// passed are the signals that are passed on. The terminal sends stops and
// continuations to the command itself.
var passed = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2}

// lastWords is how long output is still passed on after the command has ended, if
// something that it left behind keeps the stream open.
const lastWords = time.Second

// Exit codes of a shell for commands that cannot be started.
const (
	NotExecutable = 126
	NotFound      = 127
)

// Start starts a command. An error comes with the code that a shell would give.
func Start(s Spec) (*Command, int, error) {
	c := &Command{cmd: exec.Command(s.Argv[0], s.Argv[1:]...), signals: make(chan os.Signal, 16), done: make(chan struct{})}
	c.cmd.Env, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = s.Env, s.In, s.Out, s.Err
	c.cmd.WaitDelay = lastWords
	// From here on signals are the command's, also those that come before it runs.
	signal.Notify(c.signals, passed...)
	if err := c.cmd.Start(); err != nil {
		signal.Stop(c.signals)
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return nil, NotFound, err
		}
		return nil, NotExecutable, err
	}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		c.ours = usage.Maxrss
	}
	go c.wait()
	return c, 0, nil
}

// PID is the command's.
func (c *Command) PID() int { return c.cmd.Process.Pid }

// Done is closed when the command has ended.
func (c *Command) Done() <-chan struct{} { return c.done }

// End is how it ended; it waits for that.
func (c *Command) End() End {
	<-c.done
	return c.end
}

func (c *Command) wait() {
	defer close(c.done)
	ended := make(chan struct{})
	go c.pass(ended)
	c.cmd.Wait() //nolint:errcheck // the state says it
	close(ended)
	signal.Stop(c.signals)
	state := c.cmd.ProcessState
	c.end = End{Code: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		c.end.MaxResident = c.memory(usage)
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		c.end.Code = 128 + int(status.Signal())
		c.end.Signal = unix.SignalName(status.Signal())
	}
}

// memory is the most that a process of the command had. Linux counts what we had when
// we started it as the command's own; no more than that says nothing of it.
func (c *Command) memory(of *syscall.Rusage) int64 {
	if of.Maxrss <= c.ours {
		return 0
	}
	return of.Maxrss << 10 // in KiB
}

// pass passes signals on until the command ends.
func (c *Command) pass(ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case s := <-c.signals:
			if (s == unix.SIGINT || s == unix.SIGQUIT) && foreground() {
				continue // the terminal has sent it to the command, too
			}
			c.cmd.Process.Signal(s) //nolint:errcheck // it has ended
		}
	}
}

// foreground reports whether keys of a terminal send signals to this group of
// processes.
func foreground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
