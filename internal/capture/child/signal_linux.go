package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName is "SIGSEGV" for 11.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}
