package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
)

// merge adds to the files of tapes of one folder the tapes of another's that they lack,
// or that differ less from what was recorded, and says how many each file gets.
func merge(out io.Writer, into, from string) error {
	paths, err := filepath.Glob(filepath.Join(from, "*"+recordings.Extension))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s has no files of tapes", from)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		added, err := mergeFile(filepath.Join(into, name), path)
		if err != nil {
			return err
		}
		if added > 0 {
			fmt.Fprintf(out, "%s: %d tapes\n", name, added)
		}
	}
	return nil
}

// mergeFile adds tapes of one file to another.
func mergeFile(into, from string) (added int, err error) {
	have, err := open(into)
	if err != nil {
		return 0, err
	}
	more, err := open(from)
	if err != nil {
		return 0, err
	}
	if len(have.Keys) > 0 && !slices.Equal(have.Meta, more.Meta) {
		return 0, fmt.Errorf("%s was recorded with %v, %s with %v", into, have.Meta, from, more.Meta)
	}
	have.Meta, have.Symbols = more.Meta, more.Symbols
	if err := anew(have, into); err != nil {
		return 0, err
	}
	for _, key := range more.Keys {
		t, err := more.Tape(key)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", from, err)
		}
		if was, err := have.Tape(key); err == nil && !closer(t, was) {
			continue
		}
		have.Add(key, t)
		added++
	}
	if added == 0 {
		return 0, nil
	}
	return added, write(into, have)
}
