package child

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// The supervisor's end of the two pipes.
const (
	orderFD  = 3
	answerFD = 4
)

// Supervise is the supervisor's whole life; it returns its exit status. It
// must run on the process's first goroutine.
func Supervise() int {
	// The command dies with the thread that started it (Pdeathsig).
	runtime.LockOSThread()
	syscall.CloseOnExec(orderFD)
	syscall.CloseOnExec(answerFD)
	// Caught, not ignored: the command would inherit that, and a program whose
	// children do not end on SIGTERM waits for them for ever.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	orders := bufio.NewReader(os.NewFile(orderFD, "orders"))
	answers := os.NewFile(answerFD, "answers")
	line, err := orders.ReadBytes('\n')
	var o order
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err != nil {
		return 2 // started by hand, or by a plimsoll that is gone
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return tell(answers, answer{Error: "become a reaper: " + err.Error()})
	}
	pid, err := start(o)
	if err != nil {
		return tell(answers, answer{Error: err.Error()})
	}
	mine, stop, done := newHoldings(os.Getpid()), make(chan struct{}), make(chan struct{})
	go mine.follow(stop, done)
	a, orphaned := watch(pid, orders)
	close(stop)
	<-done
	a.Left = killAll(os.Getpid())
	sweepShared(mine.held)
	if orphaned {
		os.RemoveAll(o.Folder) // nobody is left to tell of an error
	}
	return tell(answers, a)
}

func tell(w io.Writer, a answer) int {
	if err := json.NewEncoder(w).Encode(a); err != nil {
		return 1
	}
	return 0
}

// start runs the command in a process group of its own with no input.
func start(o order) (int, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	pid, err := syscall.ForkExec(o.Argv[0], o.Argv, &syscall.ProcAttr{
		Dir: o.Dir, Env: o.Env,
		Files: []uintptr{null.Fd(), 1, 2},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", o.Argv[0], err)
	}
	return pid, nil
}

// watch waits for the command, for an order to kill it, or for plimsoll's
// death, whichever comes first. It reaps every orphan meanwhile.
func watch(pid int, orders io.Reader) (a answer, orphaned bool) {
	ended := make(chan answer, 1)
	go reap(pid, ended)
	ordered := make(chan bool, 1)
	go func() {
		_, err := orders.Read(make([]byte, 1))
		ordered <- err != nil
	}()
	select {
	case a := <-ended:
		return a, false
	case orphaned := <-ordered:
		return answer{Signal: int(syscall.SIGKILL)}, orphaned
	}
}

// reap collects every child until none is left, and reports the command's end.
func reap(pid int, ended chan<- answer) {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return // no children: the command has been reported
		case got != pid:
		case ws.Signaled():
			ended <- answer{Signal: int(ws.Signal())}
		default:
			ended <- answer{Code: ws.ExitStatus()}
		}
	}
}
