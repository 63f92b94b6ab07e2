package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// pack writes a packed file; it is there, or in place of an older one, only when
// all of it is written.
func pack(path string, level int, fill func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	zip, err := gzip.NewWriterLevel(f, level)
	if err == nil {
		err = errors.Join(fill(zip), zip.Close())
	}
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// unpack reads a file, packed if its name says so.
func unpack(path string, read func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		in, err = gzip.NewReader(f)
	}
	if err == nil {
		err = read(in)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// open reads the tapes that are there already, so that some can be replaced.
func open(path string) (*symbolic.Collection, error) {
	c := symbolic.NewCollection()
	err := unpack(path, func(in io.Reader) (err error) {
		c, err = symbolic.ReadCollection(in)
		return err
	})
	if os.IsNotExist(err) {
		return c, nil
	}
	return c, err
}

func write(path string, c *symbolic.Collection) error {
	return pack(path, gzip.BestCompression, func(out io.Writer) error {
		_, err := c.WriteTo(out)
		return err
	})
}
