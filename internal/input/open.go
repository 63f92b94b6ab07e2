package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	// ErrNotRegular says that what stands at a path is no file: a directory, a
	// pipe, a device.
	ErrNotRegular = errors.New("not a file")
	// ErrTooLarge says that a file has more bytes than such a file may have.
	ErrTooLarge = errors.New("too large")
)

// Open opens a regular file and returns its size. It looks before it opens,
// since opening a pipe waits for a writer, and again after, since the path may
// lead elsewhere by then. Errors are *fs.PathError.
func Open(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if err := regular(path, info); err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// regular is the error for what is no file, and says what it is.
func regular(path string, info fs.FileInfo) error {
	err := ErrNotRegular
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		err = fmt.Errorf("%w but a directory", ErrNotRegular)
	case mode&fs.ModeNamedPipe != 0:
		err = fmt.Errorf("%w but a pipe; write it to a file first", ErrNotRegular)
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// ReadFile reads a regular file of at most limit bytes. Of a larger one it
// returns the beginning, and ErrTooLarge, wrapped.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1)) // whatever its size was said to be
	if err == nil && int64(len(data)) > limit {
		return data[:limit], &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w (at most %d bytes)", ErrTooLarge, limit)}
	}
	return data, err
}
