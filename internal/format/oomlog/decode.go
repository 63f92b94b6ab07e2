package oomlog

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

const decodeSize = 64 << 10

// Decoded reads a log as UTF-8 where a byte order mark says that it is in
// UTF-16: PowerShell redirects programs into such files. Any other log is
// returned as it is; then offsets are those of the file.
func Decoded(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, decodeSize)
	mark, _ := b.Peek(2)
	order := markOf(mark)
	if order == nil {
		return b
	}
	_, _ = b.Discard(len(mark)) // it was peeked at
	return &decoder{in: b, order: order}
}

// markOf is the order of bytes that a mark says, nil for none.
func markOf(mark []byte) binary.ByteOrder {
	switch string(mark) {
	case "\xff\xfe":
		return binary.LittleEndian
	case "\xfe\xff":
		return binary.BigEndian
	}
	return nil
}

// A decoder reads UTF-16. Half a pair becomes the mark of what cannot be read.
type decoder struct {
	in    io.Reader
	order binary.ByteOrder
	raw   [decodeSize / 2]byte
	kept  int    // bytes of raw that are still to be decoded
	out   []byte // decoded, and not yet read
	err   error
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (int, error) {
	for len(d.out) == 0 && d.err == nil {
		n, err := io.ReadAtLeast(d.in, d.raw[d.kept:], 1)
		d.kept += n
		d.err = err
		d.decode()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, d.err
}

// decode decodes what is whole of raw and keeps the rest.
func (d *decoder) decode() {
	at := 0
	d.out = d.out[:0]
	for at+2 <= d.kept {
		r := rune(d.order.Uint16(d.raw[at:]))
		size := 2
		if utf16.IsSurrogate(r) {
			if at+4 > d.kept && d.err == nil {
				break
			}
			if at+4 <= d.kept {
				if pair := utf16.DecodeRune(r, rune(d.order.Uint16(d.raw[at+2:]))); pair != utf8.RuneError {
					r, size = pair, 4
				}
			}
		}
		d.out = utf8.AppendRune(d.out, r) // half a pair is written as U+FFFD
		at += size
	}
	d.kept = copy(d.raw[:], d.raw[at:d.kept])
}
