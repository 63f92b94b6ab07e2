// Command plimsoll says how much GPU memory a program needs, and why.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/plimsoll-dev/plimsoll/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], cli.ProcessIO())
	stop()
	os.Exit(int(code))
}
