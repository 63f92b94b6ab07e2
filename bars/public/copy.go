package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// copyCheckout copies the files of a checkout, but for Git's own.
func copyCheckout(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case d.Type().IsRegular():
			return copyFile(path, target)
		}
		return nil
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// A state is what every file below some folders holds.
type state map[string]string

func stateOf(folders ...string) (state, error) {
	s := state{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			s[path], err = digest(path, d)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func digest(path string, d fs.DirEntry) (string, error) {
	if !d.Type().IsRegular() {
		return d.Type().String(), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// changed lists the paths that are not the same in both.
func (s state) changed(later state) []string {
	var out []string
	for path, was := range s {
		if is, ok := later[path]; !ok {
			out = append(out, "gone "+path)
		} else if is != was {
			out = append(out, "changed "+path)
		}
	}
	for path := range later {
		if _, ok := s[path]; !ok {
			out = append(out, "new "+path)
		}
	}
	slices.Sort(out)
	return out
}
