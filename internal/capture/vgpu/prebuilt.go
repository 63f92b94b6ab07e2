package vgpu

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Prebuilt says whether this program carries a virtual GPU that needs no
// compiler: a release does, which is built with the tag "prebuilt" after
// [WritePrebuilt].
func Prebuilt() bool { return prebuilt != nil }

// WritePrebuilt compiles all variants of the core for a processor ("amd64",
// "arm64") with a compiler for it, and writes them into a folder as the tag
// "prebuilt" embeds them.
func WritePrebuilt(ctx context.Context, dir, arch, cc string) error {
	ls, err := readLibraries(libraryTable)
	if err != nil {
		return fmt.Errorf("prebuild the virtual GPU: %w", err)
	}
	m, err := readManifest()
	if err != nil {
		return fmt.Errorf("prebuild the virtual GPU: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("prebuild the virtual GPU: %w", err)
	}
	for _, v := range variants {
		v.arch = arch
		if err := v.writePrebuilt(ctx, dir, cc, m.stubs(ls)); err != nil {
			return fmt.Errorf("prebuild the virtual GPU: %s: %w", v, err)
		}
	}
	return nil
}

func (v variant) writePrebuilt(ctx context.Context, dir, cc, stubs string) error {
	key, err := v.key(stubs)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "plimsoll-prebuild-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	c := compiler{command: strings.Fields(cc), defines: v.defines()}
	if err := c.build(ctx, tmp, stubs); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(tmp, coreName))
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, filepath.Base(prebuiltFile(key))), packed.Bytes())
}
