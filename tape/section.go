package tape

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The file is a magic number, a version and a list of sections; see
// docs/tape-format.md.
const (
	magic   = "\x89PLMTAPE"
	version = 1

	maxSection   = 16 << 20 // bytes of a section's content
	fullSection  = 1 << 20  // the writer begins a new section here
	maxExpansion = 32       // content bytes for each stored byte, at most
	slack        = 1 << 12  // content bytes that need no such proof
)

// Tags of sections. Upper case must be understood, lower case may be skipped.
const (
	tagMeta    = 'M'
	tagStrings = 'S'
	tagFrames  = 'F'
	tagStacks  = 'T'
	tagStreams = 'H'
	tagLanes   = 'L'
	tagInitial = 'I'
	tagEvents  = 'E'
	tagMarks   = 'K'
	tagEnd     = 'Z'
)

// How a section's content is stored.
const (
	plain    = 0
	deflated = 1
)

// A SyntaxError reports a tape file that is not what its format promises.
type SyntaxError struct {
	Offset int64  // where the section begins, in bytes
	Msg    string // what is wrong
}

// Error says where and what.
func (e *SyntaxError) Error() string { return fmt.Sprintf("tape: byte %d: %s", e.Offset, e.Msg) }

// ErrTruncated marks a tape file that ends early. Read returns what came
// before the end together with it.
var ErrTruncated = errors.New("tape: file ends early")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A sectionWriter frames and compresses sections.
type sectionWriter struct {
	w       io.Writer
	n       int64
	packed  bytes.Buffer
	levels  [2]*flate.Writer // default, and Huffman only
	scratch []byte
}

func (s *sectionWriter) write(tag byte, content []byte) error {
	stored, method, err := s.pack(content)
	if err != nil {
		return err
	}
	head := append(s.scratch[:0], tag, method)
	head = binary.AppendUvarint(head, uint64(len(content)))
	head = binary.AppendUvarint(head, uint64(len(stored)))
	s.scratch = head
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, stored)
	for _, part := range [][]byte{head, stored, binary.LittleEndian.AppendUint32(nil, sum)} {
		n, err := s.w.Write(part)
		s.n += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// pack compresses content. Content that shrinks more than a reader accepts
// is coded without back references, which never shrinks it below an eighth.
func (s *sectionWriter) pack(content []byte) (stored []byte, method byte, err error) {
	for i, level := range []int{flate.DefaultCompression, flate.HuffmanOnly} {
		if s.levels[i] == nil {
			if s.levels[i], err = flate.NewWriter(&s.packed, level); err != nil {
				return nil, 0, err
			}
		}
		s.packed.Reset()
		s.levels[i].Reset(&s.packed)
		if _, err = s.levels[i].Write(content); err != nil {
			return nil, 0, err
		}
		if err = s.levels[i].Close(); err != nil {
			return nil, 0, err
		}
		if s.packed.Len() >= len(content) {
			return content, plain, nil
		}
		if !tooDense(uint64(len(content)), uint64(s.packed.Len())) {
			break
		}
	}
	return s.packed.Bytes(), deflated, nil
}

// tooDense reports whether so few stored bytes may not claim so much content.
func tooDense(content, stored uint64) bool { return content > maxExpansion*stored+slack }

// A sectionReader reads sections and trusts no length.
type sectionReader struct {
	r       *bufio.Reader
	off     int64
	head    []byte
	stored  []byte
	content []byte
	inflate io.ReadCloser
}

func (s *sectionReader) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.off++
		s.head = append(s.head, b)
	}
	return b, err
}

// next returns the next section; its content is valid until the next call.
func (s *sectionReader) next() (tag byte, content []byte, err error) {
	start := s.off
	s.head = s.head[:0]
	if tag, err = s.ReadByte(); err != nil {
		return 0, nil, truncated(err)
	}
	method, err := s.ReadByte()
	if err != nil {
		return 0, nil, truncated(err)
	}
	size, err := binary.ReadUvarint(s)
	if err == nil {
		var n uint64
		if n, err = binary.ReadUvarint(s); err == nil {
			return s.body(start, tag, method, size, n)
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, nil, ErrTruncated
	}
	return 0, nil, &SyntaxError{start, "section length: " + err.Error()}
}

func (s *sectionReader) body(start int64, tag, method byte, size, n uint64) (byte, []byte, error) {
	switch {
	case size > maxSection || n > size:
		return 0, nil, &SyntaxError{start, fmt.Sprintf("section of %d bytes is over the limit of %d", max(size, n), maxSection)}
	case method > deflated || method == plain && n != size:
		return 0, nil, &SyntaxError{start, fmt.Sprintf("unknown way %d to store a section", method)}
	case tooDense(size, n):
		return 0, nil, &SyntaxError{start, fmt.Sprintf("%d stored bytes claim to hold %d", n, size)}
	}
	var err error
	if s.stored, err = readAll(s.stored[:0], s.r, int(n)+4); err != nil {
		return 0, nil, truncated(err)
	}
	s.off += int64(n) + 4
	stored, sum := s.stored[:n], binary.LittleEndian.Uint32(s.stored[n:])
	if crc32.Update(crc32.Checksum(s.head, castagnoli), castagnoli, stored) != sum {
		return 0, nil, &SyntaxError{start, "checksum does not match"}
	}
	if method == plain {
		return tag, stored, nil
	}
	in := bytes.NewReader(stored)
	if s.inflate == nil {
		s.inflate = flate.NewReader(in)
	} else if err = s.inflate.(flate.Resetter).Reset(in, nil); err != nil {
		return 0, nil, &SyntaxError{start, err.Error()}
	}
	if s.content, err = readAll(s.content[:0], s.inflate, int(size)); err != nil {
		return 0, nil, &SyntaxError{start, "compressed section is damaged"}
	}
	return tag, s.content, nil
}

// readAll reads exactly n bytes and grows buf only as they arrive.
func readAll(buf []byte, r io.Reader, n int) ([]byte, error) {
	for len(buf) < n {
		have := len(buf)
		step := min(n-have, max(have, 64<<10))
		buf = append(buf, make([]byte, step)...)
		got, err := io.ReadFull(r, buf[have:])
		if err != nil {
			return buf[:have+got], err
		}
	}
	return buf, nil
}

// truncated turns the end of the input into ErrTruncated and keeps other
// errors of the reader.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTruncated
	}
	return err
}
