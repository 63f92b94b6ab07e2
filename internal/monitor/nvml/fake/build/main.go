// Command build makes the scripted libnvidia-ml.so.1 in a folder, for trying tools
// by hand.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/plimsoll-dev/plimsoll/internal/monitor/nvml/fake"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: build DIR [SYMBOL TO LEAVE OUT]...")
		os.Exit(2)
	}
	if err := fake.Build(context.Background(), os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
