package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/internal/family/recordings"
)

// printPlan prints FAMILY KEY of each tape that the flags ask for, one a line. What is there
// already is what -out has of the newest PyTorch. No families named are all of them.
func printPlan(out io.Writer, o options, families []string) error {
	if o.cached {
		return errors.New("-list with -cached: which recordings are in the cache depends on the versions that -python has; list without -cached")
	}
	folder, err := newest(o.out)
	if err != nil {
		return err
	}
	if len(families) == 0 {
		if families, err = allFamilies(o.rows, folder); err != nil {
			return err
		}
	}
	r := &recorder{options: o}
	for _, name := range families {
		rw, err := readRow(filepath.Join(o.rows, name+".json"))
		if err != nil {
			return err
		}
		c, err := open(filepath.Join(folder, name+recordings.Extension))
		if err != nil {
			return err
		}
		for _, v := range r.wanted(rw, c) {
			if _, err := fmt.Fprintln(out, name, v.key()); err != nil {
				return err
			}
		}
	}
	return nil
}

// newest is the folder of the newest PyTorch in a folder of recordings; where there is
// none, one that does not exist.
func newest(out string) (string, error) {
	found, err := filepath.Glob(filepath.Join(out, folderOf("*")))
	if err != nil || len(found) == 0 {
		return filepath.Join(out, folderOf("0")), err
	}
	return slices.MaxFunc(found, func(a, b string) int {
		return recordings.Compare(strings.TrimPrefix(filepath.Base(a), folderOf("")), strings.TrimPrefix(filepath.Base(b), folderOf("")))
	}), nil
}

// allFamilies are those that have a row, and torchvision's models that have a file.
func allFamilies(rows, folder string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(rows, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no *.json in %s: run this in the repository's root", rows)
	}
	pictures, err := filepath.Glob(filepath.Join(folder, visionFamily+"*"+recordings.Extension))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range append(paths, pictures...) {
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		names = append(names, name)
	}
	return names, nil
}
