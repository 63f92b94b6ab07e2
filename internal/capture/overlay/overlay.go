// Package overlay keeps a program's writes away from the user's files. A C
// library, preloaded into the program and its children, sends what they write
// into a folder and shows them the result as if it were in place.
//
// The library stands between a program and libc. What makes system calls by
// itself (static binaries, programs in Go, io_uring) is not caught; README.md
// lists what is.
package overlay

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed csrc/*.c csrc/*.h
var sources embed.FS

// ErrNoCompiler means that the library has to be built and there is no C
// compiler to build it with.
var ErrNoCompiler = errors.New("no C compiler (cc or gcc) was found, and this plimsoll carries no prebuilt overlay")

// libraryName is what the library is called. The C knows it: a child whose
// LD_PRELOAD lacks it gets it back.
const libraryName = "libplimsoll-files.so"

var compileFlags = []string{"-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-pthread", "-shared"}

// Prepare returns the path of the library, from the cache folder, from what a
// release carries, or freshly built. progress, which may be nil, hears one
// sentence when something takes time.
func Prepare(ctx context.Context, cacheDir string, progress func(string)) (string, error) {
	key, err := key(runtime.GOARCH)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cacheDir, "overlay-"+key)
	library := filepath.Join(dir, libraryName)
	if _, err := os.Stat(library); err == nil {
		return library, nil
	}
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return "", fmt.Errorf("prepare the overlay: %w", err)
	}
	tmp, err := os.MkdirTemp(cacheDir, "build-*")
	if err != nil {
		return "", fmt.Errorf("prepare the overlay: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := unpack(key, filepath.Join(tmp, libraryName)); errors.Is(err, fs.ErrNotExist) {
		if progress != nil {
			progress("building the overlay for files (once, two seconds)")
		}
		if err := compile(ctx, tmp, nil); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	return library, move(tmp, dir, library)
}

// move puts a finished build into its place. Another process may have been
// faster; its build is as good.
func move(tmp, dir, library string) error {
	err := os.Rename(tmp, dir)
	if err == nil {
		return nil
	}
	if _, statErr := os.Stat(library); statErr == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil { // half of one, left by a killed process
		return fmt.Errorf("prepare the overlay: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("prepare the overlay: %w", err)
	}
	return nil
}

// key names a build by what goes into it.
func key(arch string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, arch, compileFlags)
	err := fs.WalkDir(sources, "csrc", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		fmt.Fprintln(h, path, len(text))
		h.Write(text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("prepare the overlay: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// findCompiler takes $CC, cc or gcc.
func findCompiler() ([]string, error) {
	for _, candidate := range []string{os.Getenv("CC"), "cc", "gcc", "clang"} {
		if words := strings.Fields(candidate); len(words) > 0 {
			if _, err := exec.LookPath(words[0]); err == nil {
				return words, nil
			}
		}
	}
	return nil, ErrNoCompiler
}

// compile leaves the library, and nothing else, in a folder.
func compile(ctx context.Context, dir string, cc []string) (err error) {
	if cc == nil {
		if cc, err = findCompiler(); err != nil {
			return err
		}
	}
	src := filepath.Join(dir, "src")
	if err := os.CopyFS(src, sources); err != nil {
		return fmt.Errorf("build the overlay: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(src, "csrc", "*.c"))
	if err != nil {
		return fmt.Errorf("build the overlay: %w", err)
	}
	args := slices.Concat(cc[1:], compileFlags, files, []string{"-ldl", "-o", filepath.Join(dir, libraryName)})
	cmd := exec.CommandContext(ctx, cc[0], args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "LD_PRELOAD=") })
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the overlay: %s: %w\n%s", cc[0], err, out)
	}
	if err := os.RemoveAll(src); err != nil {
		return fmt.Errorf("build the overlay: %w", err)
	}
	return nil
}
