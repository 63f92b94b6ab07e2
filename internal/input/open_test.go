package input

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpen must end: opening a pipe that nobody writes to waits for ever.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	pipe, file, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path, says string
		is         error
	}{
		{pipe, "not a file but a pipe", ErrNotRegular},
		{link, "not a file but a pipe", ErrNotRegular},
		{dir, "not a file but a directory", ErrNotRegular},
		{os.DevNull, "not a file", ErrNotRegular},
		{filepath.Join(dir, "nothing"), "no such file", fs.ErrNotExist},
	} {
		_, err := ReadFile(tc.path, 10)
		var e *fs.PathError
		if !errors.Is(err, tc.is) || !errors.As(err, &e) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.path, err)
		}
	}
	f, size, err := Open(file)
	if err != nil || size != 5 {
		t.Fatalf("%d bytes, %v", size, err)
	}
	f.Close()
	if data, err := ReadFile(file, 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := ReadFile(file, 4); !errors.Is(err, ErrTooLarge) || string(data) != "1234" {
		t.Errorf("%q, %v", data, err)
	}
}
