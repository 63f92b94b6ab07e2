package vgpu

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

//go:embed csrc/*.c csrc/*.h
var sources embed.FS

// ErrNoCompiler means that the virtual GPU has to be built and there is no C
// compiler to build it with.
var ErrNoCompiler = errors.New("no C compiler (cc or gcc) was found, and this plimsoll carries no prebuilt virtual GPU")

// compileFlags are the same for every file. Only what is marked is visible, so
// that no name of ours can meet one of PyTorch's.
var compileFlags = []string{"-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-pthread"}

type compiler struct {
	command []string
	defines []string
}

// findCompiler takes $CC, cc or gcc.
func findCompiler() (compiler, error) {
	for _, candidate := range []string{os.Getenv("CC"), "cc", "gcc", "clang"} {
		words := strings.Fields(candidate)
		if len(words) == 0 {
			continue
		}
		if _, err := exec.LookPath(words[0]); err == nil {
			return compiler{command: words}, nil
		}
	}
	return compiler{}, ErrNoCompiler
}

func (c compiler) run(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, c.command[0], append(c.command[1:len(c.command):len(c.command)], args...)...)
	cmd.Dir = dir
	cmd.Env = withoutPreload(os.Environ())
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the virtual GPU: %s %s: %w\n%s", c.command[0], strings.Join(args, " "), err, out)
	}
	return nil
}

// writeSources puts csrc and the generated file into a folder and returns the
// names of the C files.
func writeSources(dir, stubs string) ([]string, error) {
	entries, err := sources.ReadDir("csrc")
	if err != nil {
		return nil, fmt.Errorf("build the virtual GPU: %w", err)
	}
	var files []string
	for _, e := range entries {
		text, err := sources.ReadFile("csrc/" + e.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, e.Name()), text, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("build the virtual GPU: %w", err)
		}
		if strings.HasSuffix(e.Name(), ".c") && !separate[e.Name()] {
			files = append(files, e.Name())
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "stubs.c"), []byte(stubs), 0o600); err != nil {
		return nil, fmt.Errorf("build the virtual GPU: %w", err)
	}
	return append(files, "stubs.c"), nil
}

// separate are files of csrc that become libraries of their own.
var separate = map[string]bool{"files.c": true}

// compileAll compiles files of a folder to objects, as many at a time as there
// are processors.
func (c compiler) compileAll(ctx context.Context, dir string, files []string) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan string)
	errs := make(chan error, len(files))
	var wg sync.WaitGroup
	for range runtime.NumCPU() {
		wg.Go(func() {
			for file := range work {
				flags := append(append([]string{"-c"}, compileFlags...), c.defines...)
				if err := c.run(ctx, dir, append(flags, file, "-o", file+".o")...); err != nil {
					errs <- err
					cancel()
				}
			}
		})
	}
	var objects []string
	for _, file := range files {
		work <- file
		objects = append(objects, file+".o")
	}
	close(work)
	wg.Wait()
	select {
	case err := <-errs:
		return nil, err
	default:
		return objects, nil
	}
}

// build leaves the core in a folder, and much else.
func (c compiler) build(ctx context.Context, dir, stubs string) error {
	files, err := writeSources(dir, stubs)
	if err != nil {
		return err
	}
	objects, err := c.compileAll(ctx, dir, files)
	if err != nil {
		return err
	}
	args := append([]string{"-shared", "-pthread", "-Wl,-soname," + coreName, "-Wl,-Bsymbolic-functions", "-Wl,--gc-sections", "-o", coreName}, objects...)
	return c.run(ctx, dir, append(args, "-ldl", "-lm")...)
}
