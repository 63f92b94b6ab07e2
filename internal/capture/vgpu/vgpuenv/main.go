// Command vgpuenv runs a program on the virtual GPU, without the rest of a
// capture, or prints the environment for it. It is a tool for developers:
//
//	go run ./internal/capture/vgpu/vgpuenv --python PYTHON [flags] -- python script.py
//	go run ./internal/capture/vgpu/vgpuenv --python PYTHON [flags]      # prints NAME='value' lines
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/capture/vgpu"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "vgpuenv:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("vgpuenv", flag.ExitOnError)
	python := flags.String("python", "python3", "interpreter whose PyTorch is to be served")
	cache := flags.String("cache", "", "cache folder; default the user's")
	verbose := flags.Bool("v", false, "say how the library came to be")
	c := vgpu.Config{}
	flags.StringVar(&c.Name, "name", "NVIDIA A100-SXM4-80GB", "device name")
	flags.IntVar(&c.Count, "devices", 1, "devices")
	flags.IntVar(&c.Capability, "gpu-cc", 80, "compute capability, 90 is 9.0")
	flags.IntVar(&c.Multiprocessors, "sms", 108, "multiprocessors")
	flags.Int64Var((*int64)(&c.Capacity), "capacity", 84987740160, "bytes that CUDA reports as total")
	flags.Int64Var((*int64)(&c.Context), "context", 0, "bytes of the context")
	flags.Int64Var((*int64)(&c.CuDNNWorkspace), "cudnn-workspace", 0, "bytes per convolution plan")
	flags.StringVar(&c.Log, "log", "", "file for refusals and notes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	lib, err := prepare(ctx, *python, *cache)
	if err != nil {
		return err
	}
	if *verbose {
		fmt.Fprintf(os.Stderr, "%s: cached %t, %.2f s, %d symbols, %d libraries, capacity %s, %d without a row in the manifest\n",
			lib.Dir, lib.Report.Cached, lib.Report.Seconds, lib.Report.Symbols, lib.Report.Sonames, c.Capacity, len(lib.Report.Unlisted))
	}
	env := append(c.Env(), lib.Env()...)
	if flags.NArg() > 0 {
		cmd := exec.CommandContext(ctx, flags.Arg(0), flags.Args()[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), env...)
		return cmd.Run()
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		fmt.Printf("%s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return nil
}

func prepare(ctx context.Context, python, cache string) (vgpu.Library, error) {
	t, err := vgpu.Probe(ctx, python)
	if err != nil {
		return vgpu.Library{}, err
	}
	if cache == "" {
		if cache, err = vgpu.CacheDir(); err != nil {
			return vgpu.Library{}, err
		}
	}
	return vgpu.Prepare(ctx, t, cache, func(s string) { fmt.Fprintln(os.Stderr, "vgpuenv:", s) })
}
