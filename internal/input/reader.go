// Package input reads files that nobody vouches for: forward, through a small
// window, knowing the name and the offset of what it reads.
//
// A length that stands in the file is a claim, not a fact. Nothing here
// allocates by such a claim: it is compared with what the file can still
// hold and with the limits first.
//
// It knows no format; each format has a package of its own above this one.
package input

import (
	"errors"
	"fmt"
	"io"
)

// windowSize is how many bytes a Reader asks for at once. Larger windows did
// not read faster.
const windowSize = 256 << 10

// A Reader reads a file once from front to back. Slices that it returns stay
// valid until the next call.
type Reader struct {
	src    io.ReaderAt
	name   string
	size   int64
	lim    Limits
	base   int64 // offset of window[0]
	window []byte
	pos    int // next unread byte of window
}

// NewReader returns a Reader over the first size bytes of src. The name is
// the one the user gave; it stands in every error.
func NewReader(src io.ReaderAt, size int64, name string, lim Limits) *Reader {
	return &Reader{src: src, name: name, size: max(size, 0), lim: lim.WithDefaults()}
}

// Limits returns the limits in force, defaults filled in.
func (r *Reader) Limits() Limits { return r.lim }

// Name returns the name of the file as the user gave it.
func (r *Reader) Name() string { return r.name }

// Size returns the length of the file in bytes.
func (r *Reader) Size() int64 { return r.size }

// Offset returns the offset of the next unread byte.
func (r *Reader) Offset() int64 { return r.base + int64(r.pos) }

// Remaining returns the number of bytes that were not read yet.
func (r *Reader) Remaining() int64 { return r.size - r.Offset() }

// Rewind goes back to the first byte. The window is kept for reuse.
func (r *Reader) Rewind() {
	r.base, r.pos, r.window = 0, 0, r.window[:0]
}

// Part returns another Reader, over the bytes from first up to last. Both may
// be used at the same time by different goroutines, as io.ReaderAt allows.
func (r *Reader) Part(first, last int64) *Reader {
	return &Reader{src: r.src, name: r.name, size: last, lim: r.lim, base: first}
}

// Peek reads len(p) bytes at an offset, wherever the Reader stands, and
// reports whether they are there.
func (r *Reader) Peek(p []byte, offset int64) bool {
	n, _ := r.src.ReadAt(p, offset)
	return n == len(p) && offset+int64(n) <= r.size
}

// Window returns unread bytes without consuming them: at least min of them
// unless the file ends before, and usually many more. min must not exceed
// 64 KiB.
func (r *Reader) Window(min int) ([]byte, error) {
	if len(r.window)-r.pos >= min {
		return r.window[r.pos:], nil
	}
	if err := r.fill(); err != nil {
		return nil, err
	}
	return r.window[r.pos:], nil
}

// Advance consumes n bytes of the window that Window returned.
func (r *Reader) Advance(n int) { r.pos += n }

// Next consumes n bytes. It returns ErrTruncated, wrapped, when the file
// holds fewer, and a SyntaxError when n is over the limit for one string.
func (r *Reader) Next(n int64) ([]byte, error) {
	if int64(len(r.window)-r.pos) >= n && n >= 0 {
		b := r.window[r.pos : r.pos+int(n)]
		r.pos += int(n)
		return b, nil
	}
	if n < 0 || n > r.lim.MaxString {
		return nil, r.Errorf(r.Offset(), "string of %d bytes is over the limit of %d", uint64(n), r.lim.MaxString)
	}
	if n > r.Remaining() {
		return nil, r.Truncated()
	}
	if n <= windowSize/2 {
		if err := r.fill(); err != nil {
			return nil, err
		}
		if int64(len(r.window)-r.pos) < n {
			return nil, r.Truncated()
		}
		b := r.window[r.pos : r.pos+int(n)]
		r.pos += int(n)
		return b, nil
	}
	return r.long(n)
}

// long reads a string that does not fit the window, growing only as data
// arrives, since the size of the file may be a claim as well.
func (r *Reader) long(n int64) ([]byte, error) {
	off := r.Offset()
	b, err := io.ReadAll(io.NewSectionReader(r.src, off, n))
	if err != nil {
		return nil, fmt.Errorf("read %s at byte %d: %w", r.name, off, err)
	}
	r.base, r.pos, r.window = off+int64(len(b)), 0, r.window[:0]
	if int64(len(b)) < n {
		return nil, r.Truncated()
	}
	return b, nil
}

// Skip consumes n bytes without looking at them.
func (r *Reader) Skip(n int64) error {
	if n < 0 || n > r.Remaining() {
		return r.Truncated()
	}
	if int64(len(r.window)-r.pos) >= n {
		r.pos += int(n)
		return nil
	}
	r.base, r.pos, r.window = r.Offset()+n, 0, r.window[:0]
	return nil
}

// Errorf returns a SyntaxError at the given offset.
func (r *Reader) Errorf(offset int64, format string, args ...any) error {
	return &SyntaxError{File: r.name, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// Truncated returns the error for a file that ends before what it promised.
func (r *Reader) Truncated() error {
	return fmt.Errorf("%s: byte %d: %w", r.name, r.size, ErrTruncated)
}

// fill moves the unread bytes to the front of the window and reads as many
// as fit behind them.
func (r *Reader) fill() error {
	if r.window == nil {
		r.window = make([]byte, 0, windowSize)
	}
	rest := copy(r.window[:cap(r.window)], r.window[r.pos:])
	r.base += int64(r.pos)
	r.pos, r.window = 0, r.window[:rest]
	for len(r.window) < cap(r.window) {
		off := r.base + int64(len(r.window))
		want := min(int64(cap(r.window)-len(r.window)), r.size-off)
		if want <= 0 {
			return nil
		}
		n, err := r.src.ReadAt(r.window[len(r.window):len(r.window)+int(want)], off)
		r.window = r.window[:len(r.window)+n]
		if errors.Is(err, io.EOF) {
			r.size = off + int64(n) // the file is shorter than its size said
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s at byte %d: %w", r.name, off, err)
		}
	}
	return nil
}
