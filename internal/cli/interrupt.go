package cli

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Interruptible is a context that ends when somebody wants the program to end: by
// Ctrl-C, by a request to terminate, or since the terminal or the connection that it
// belongs to is gone. What nohup keeps from the program stays kept from it.
func Interruptible() (ctx context.Context, stop func()) {
	signals := []os.Signal{os.Interrupt, unix.SIGTERM}
	if !signal.Ignored(unix.SIGHUP) {
		signals = append(signals, unix.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), signals...)
}
