package overlay

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WritePrebuilt compiles the library for a processor ("amd64", "arm64") with
// a compiler for it, and writes it into a folder as the tag "prebuilt" embeds
// it.
func WritePrebuilt(ctx context.Context, dir, arch, cc string) error {
	key, err := key(arch)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "plimsoll-prebuild-*")
	if err != nil {
		return fmt.Errorf("prebuild the overlay: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := compile(ctx, tmp, strings.Fields(cc)); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(tmp, libraryName))
	if err != nil {
		return fmt.Errorf("prebuild the overlay: %w", err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(text)
	if err := errors.Join(err, z.Close(), os.MkdirAll(dir, 0o750)); err != nil {
		return fmt.Errorf("prebuild the overlay: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, prebuiltName(key)), packed.Bytes(), 0o600); err != nil {
		return fmt.Errorf("prebuild the overlay: %w", err)
	}
	return nil
}

func prebuiltName(key string) string { return "overlay-" + key + ".so.gz" }

// unpack takes the library out of the program, or fails with fs.ErrNotExist.
func unpack(key, file string) error {
	if prebuilt == nil {
		return fs.ErrNotExist
	}
	packed, err := prebuilt.Open("prebuilt/" + prebuiltName(key))
	if err != nil {
		return err
	}
	defer packed.Close() //nolint:errcheck // of memory
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return fmt.Errorf("unpack the overlay: %w", err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		return fmt.Errorf("unpack the overlay: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("unpack the overlay: %w", err)
	}
	return nil
}
