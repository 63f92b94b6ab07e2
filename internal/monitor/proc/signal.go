package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Signal sends a signal to the process pid of this machine that began at started,
// clock ticks since boot. It holds the process while it looks, so that the signal
// reaches no other that was given its number in between.
func Signal(pid int, started uint64, signal unix.Signal) error {
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case errors.Is(err, unix.ENOSYS):
		// Before Linux 5.3; what was looked at may end before the signal comes.
		if err := began(pid, started); err != nil {
			return err
		}
		return told(pid, unix.Kill(pid, signal))
	case err != nil:
		return told(pid, err)
	}
	defer unix.Close(fd)
	if err := began(pid, started); err != nil {
		return err
	}
	return told(pid, unix.PidfdSendSignal(fd, signal, nil, 0))
}

// began reports a process that is not the one that began at started.
func began(pid int, started uint64) error {
	root, err := openProcess(pid)
	if err != nil {
		return told(pid, unix.ESRCH)
	}
	defer root.close()
	line, err := root.read("stat")
	if err != nil {
		return told(pid, unix.ESRCH)
	}
	if s, ok := parseStat(line); !ok || s.started != started {
		return fmt.Errorf("process %d has ended, and another has its number", pid)
	}
	return nil
}

func openProcess(pid int) (folder, error) {
	root := folder{fd: unix.AT_FDCWD}
	return root.open(fmt.Sprintf("/proc/%d", pid))
}

// told is the error of a system call on a process, for people.
func told(pid int, err error) error {
	switch {
	case errors.Is(err, unix.ESRCH):
		return fmt.Errorf("process %d has ended", pid)
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("process %d is another user's: you may not send it signals", pid)
	case err != nil:
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return nil
}
