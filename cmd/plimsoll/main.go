// Command plimsoll says how much GPU memory a program needs, and why.
package main

import (
	"os"

	"github.com/plimsoll-dev/plimsoll/internal/cli"
)

func main() {
	ctx, stop := cli.Interruptible()
	code := cli.Run(ctx, os.Args[1:], cli.ProcessIO())
	stop()
	os.Exit(int(code))
}
