package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// processClock is how long all threads of a process have run, in nanoseconds: the
// kernel's clock of it, whose number holds the PID (include/linux/posix-timers.h,
// MAKE_PROCESS_CPUCLOCK with CPUCLOCK_SCHED). Anyone may ask for anyone's. It costs a
// tenth of reading stat, and tells whether there is anything new to read there.
func processClock(pid int) (int64, bool) {
	const sched = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, false
	}
	return t.Nano(), true
}

// ran is how long a process has run; 0 where that is not known.
func (r *Reader) ran(pid int) int64 {
	if r.clock == nil {
		return 0
	}
	ns, _ := r.clock(pid)
	return ns
}

// isOwn reports whether a folder proc numbers processes as the kernel does for this
// one: that of another namespace of PIDs may be mounted there.
func (f *folder) isOwn() bool {
	var target [20]byte
	n, err := unix.Readlinkat(f.fd, "self", target[:])
	return err == nil && string(target[:n]) == strconv.Itoa(os.Getpid())
}
