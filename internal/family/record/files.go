package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

// place writes a file; it is there, or in place of an older one, only when all of
// it is written.
func place(path string, fill func(*os.File) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(fill(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// pack writes a file that is packed by gzip.
func pack(path string, level int, fill func(io.Writer) error) error {
	return place(path, func(f *os.File) error {
		zip, err := gzip.NewWriterLevel(f, level)
		if err != nil {
			return err
		}
		return errors.Join(fill(zip), zip.Close())
	})
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

// text is what stands in a file of tapes.
func text(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := recordings.Unpack(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// printTexts prints what stands in files of tapes.
func printTexts(out io.Writer, paths []string) error {
	for _, path := range paths {
		t, err := text(path)
		if err != nil {
			return err
		}
		if _, err := out.Write(t); err != nil {
			return err
		}
	}
	return nil
}

// open reads the tapes that are there already, so that some can be replaced.
func open(path string) (*symbolic.Collection, error) {
	t, err := text(path)
	if os.IsNotExist(err) {
		return symbolic.NewCollection(), nil
	}
	if err != nil {
		return nil, err
	}
	c, err := symbolic.ParseCollection(string(t))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// anew writes the tapes of a file's collection anew, so that equal bodies are alike,
// however they were written.
func anew(c *symbolic.Collection, path string) error {
	for _, key := range c.Keys {
		t, err := c.Tape(key)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		c.Add(key, t)
	}
	return nil
}

// write packs the text of tapes into a file.
func write(path string, c *symbolic.Collection) error {
	var text bytes.Buffer
	if _, err := c.WriteTo(&text); err != nil {
		return err
	}
	data, err := packed(text.Bytes())
	if err != nil {
		return err
	}
	return place(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}
