package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestOutputGoesToTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "answer.txt")
	stdio, out, _ := record()
	if err := (&Output{File: name}).write(stdio, writeText("yes\n")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got) != "yes\n" || out.Len() > 0 {
		t.Errorf("file %q, %v, standard output %q", got, err, out)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestAFailedAnswerLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "answer.txt")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	stdio, _, _ := record()
	failure := errors.New("half way")
	err := (&Output{File: name}).write(stdio, func(w io.Writer) error {
		return firstError(writeText("new")(w), failure)
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
	got, readErr := os.ReadFile(name)
	entries, dirErr := os.ReadDir(dir)
	if readErr != nil || string(got) != "old" || dirErr != nil || len(entries) != 1 {
		t.Errorf("file %q, %v; %d entries, %v", got, readErr, len(entries), dirErr)
	}
}

func TestOutputToADevice(t *testing.T) {
	stdio, _, _ := record()
	if err := (&Output{File: os.DevNull}).write(stdio, writeText("nothing")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s became a file: %v, %v", os.DevNull, info.Mode(), err)
	}
}
