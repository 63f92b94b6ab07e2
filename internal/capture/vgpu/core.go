package vgpu

import (
	"compress/gzip"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// coreName is the file and soname of the library that carries every symbol.
const coreName = "libplimsoll-vgpu.so"

// A coreMaker brings the core into being: from the cache, from what a release
// carries, or by compiling it.
type coreMaker struct {
	variant  variant
	stubs    string
	cacheDir string
	progress func(string)
	why      string // what the progress says it is for
}

// core returns the path of the core and whether it was there already.
func (c coreMaker) core(ctx context.Context) (file string, cached bool, err error) {
	key, err := c.variant.key(c.stubs)
	if err != nil {
		return "", false, err
	}
	file = filepath.Join(c.cacheDir, "core-"+key+".so")
	if exists(file) {
		return file, true, nil
	}
	unlock, err := lockFile(ctx, filepath.Join(c.cacheDir, "core-"+key+".lock"))
	if err != nil {
		return "", false, err
	}
	defer unlock()
	if exists(file) {
		return file, true, nil
	}
	err = c.unpack(key, file)
	if errors.Is(err, fs.ErrNotExist) {
		err = c.compile(ctx, file)
	}
	return file, false, err
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// unpack takes the core out of the program, or fails with fs.ErrNotExist.
func (c coreMaker) unpack(key, file string) error {
	if prebuilt == nil {
		return fs.ErrNotExist
	}
	packed, err := prebuilt.Open(prebuiltFile(key))
	if err != nil {
		return err
	}
	defer func() { _ = packed.Close() }()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return fmt.Errorf("unpack the virtual GPU: %w", err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return fmt.Errorf("unpack the virtual GPU: %w", err)
	}
	return writeWhole(file, text)
}

func prebuiltFile(key string) string { return path.Join("prebuilt", "core-"+key+".so.gz") }

// compile builds the core in a folder of its own and moves it into place.
func (c coreMaker) compile(ctx context.Context, file string) error {
	cc, err := findCompiler()
	if err != nil {
		return err
	}
	c.progress(fmt.Sprintf("building the virtual GPU for %s (once, some seconds)", c.why))
	tmp, err := os.MkdirTemp(c.cacheDir, "build-*")
	if err != nil {
		return fmt.Errorf("build the virtual GPU: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	cc.defines = c.variant.defines()
	if err := cc.build(ctx, tmp, c.stubs); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(tmp, coreName), file); err != nil {
		return fmt.Errorf("build the virtual GPU: %w", err)
	}
	return nil
}

// writeWhole writes a file so that nobody ever sees a part of it.
func writeWhole(file string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), "part-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(text)
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// definedSymbols lists the functions that a library defines: true for those of
// csrc, false for generated ones, which are weak.
func definedSymbols(file string) (map[string]bool, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read symbols of %s: %w", file, err)
	}
	defer func() { _ = f.Close() }()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("read symbols of %s: %w", file, err)
	}
	defined := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			defined[s.Name] = elf.ST_BIND(s.Info) == elf.STB_GLOBAL
		}
	}
	return defined, nil
}
