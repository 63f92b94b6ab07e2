// Command overlayprebuild compiles the overlay for a release, which then needs
// no compiler where it is used:
//
//	go run ./internal/capture/overlay/overlayprebuild
//	go run ./internal/capture/overlay/overlayprebuild --arch arm64 --cc aarch64-linux-gnu-gcc
//	go build -tags prebuilt ./cmd/plimsoll
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/plimsoll-dev/plimsoll/internal/capture/overlay"
)

func main() {
	arch := flag.String("arch", "amd64", "processor, as Go names it")
	cc := flag.String("cc", "cc", "C compiler for that processor")
	dir := flag.String("dir", "internal/capture/overlay/prebuilt", "where to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := overlay.WritePrebuilt(ctx, *dir, *arch, *cc)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "overlayprebuild:", err)
		os.Exit(2)
	}
}
