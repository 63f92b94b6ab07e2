package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic"
)

func readRow(path string) (*row, error) {
	if model, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ".json"), visionFamily); ok {
		return visionRow(model), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &row{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// open reads the tapes that are there already, so that some can be replaced.
func open(path string) (*symbolic.Collection, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return symbolic.NewCollection(), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return symbolic.ReadCollection(zip)
}

func write(path string, c *symbolic.Collection) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := path + ".part"
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	zip, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	_, err = c.WriteTo(zip)
	if err := errors.Join(err, zip.Close(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, path)
}
