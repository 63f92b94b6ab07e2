// Package safetensors reads the headers of safetensors files: the names, types
// and shapes of a checkpoint's tensors. It never reads the tensors.
//
// A header is a claim of a file that nobody vouches for. Lengths are bounded
// before anything is read by them, and offsets that leave holes, overlap or do
// not fit their shapes are refused, as the format demands.
//
// What a checkpoint stores is not what a model has: tied weights are stored
// once, buffers are stored, too. Parameters says what is left without those.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

// LengthBytes is how many bytes at the beginning of a file say how long its
// header is.
const LengthBytes = 8

// Limits of a header. The format allows 100 MB; the largest published ones,
// with one file for 50,000 tensors, have 8.
const (
	MaxHeaderBytes = 64 << 20
	maxTensors     = 1 << 20
	maxDimensions  = 16
	maxNameBytes   = 1 << 10
)

// A Tensor is what a header says of one tensor.
type Tensor struct {
	Name       string
	DType      DType
	Shape      []int64
	Begin, End int64 // bytes after the header
}

// Elements is the product of the shape; one for a scalar.
func (t Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d // checked to stay below 2^60 when the header was read
	}
	return n
}

// A Header lists the tensors of one file, in the order in which they lie.
type Header struct {
	Tensors  []Tensor
	Metadata map[string]string // what the writer noted, "format": "pt"
}

// Detect reports whether a file that begins with prefix looks like
// safetensors. Nine bytes are enough.
func Detect(prefix []byte) bool {
	if len(prefix) <= LengthBytes {
		return false
	}
	n := binary.LittleEndian.Uint64(prefix)
	return n >= 2 && n <= MaxHeaderBytes && prefix[LengthBytes] == '{'
}

// HeaderLength reads the first eight bytes of a file: how many bytes of
// header follow. name is what errors call the file.
func HeaderLength(name string, prefix []byte) (int64, error) {
	if len(prefix) < LengthBytes {
		return 0, fmt.Errorf("%s: byte %d: %w", name, len(prefix), input.ErrTruncated)
	}
	n := binary.LittleEndian.Uint64(prefix)
	if n < 2 || n > MaxHeaderBytes {
		return 0, syntax(name, 0, "header of %d bytes: 2 to %d are believed; is this a safetensors file?", n, MaxHeaderBytes)
	}
	return int64(n), nil
}

// Read reads the header of a file of size bytes.
func Read(src io.ReaderAt, size int64, name string) (*Header, error) {
	prefix := make([]byte, min(LengthBytes, max(size, 0)))
	if err := readAt(src, prefix, 0, name); err != nil {
		return nil, err
	}
	n, err := HeaderLength(name, prefix)
	if err != nil {
		return nil, err
	}
	if n > size-LengthBytes {
		return nil, fmt.Errorf("%s: byte %d: %w: its header would have %d bytes", name, size, input.ErrTruncated, n)
	}
	text := make([]byte, n)
	if err := readAt(src, text, LengthBytes, name); err != nil {
		return nil, err
	}
	return Parse(name, text, size-LengthBytes-n)
}

func readAt(src io.ReaderAt, b []byte, off int64, name string) error {
	n, err := src.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: byte %d: %w", name, off+int64(n), input.ErrTruncated)
	}
	return fmt.Errorf("read %s at byte %d: %w", name, off+int64(n), err)
}

// Parse reads the text of a header. data is how many bytes of tensors follow
// it in the file, or negative when that is not known.
func Parse(name string, text []byte, data int64) (*Header, error) {
	p := &parser{name: name, dec: json.NewDecoder(bytes.NewReader(text))}
	p.dec.UseNumber()
	h, err := p.header()
	if err != nil {
		return nil, p.explain(err, len(text))
	}
	if err := checkLayout(name, h.Tensors, data); err != nil {
		return nil, err
	}
	return h, nil
}

// checkLayout demands that the tensors fill the file without holes.
func checkLayout(name string, tensors []Tensor, data int64) error {
	slices.SortFunc(tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End), cmp.Compare(a.Name, b.Name))
	})
	end := int64(0)
	for _, t := range tensors {
		switch {
		case t.Begin < end:
			return syntax(name, -1, "tensor %q begins at byte %d, inside the one before it", shortened(t.Name), t.Begin)
		case t.Begin > end:
			return syntax(name, -1, "nothing describes bytes %d to %d", end, t.Begin)
		}
		end = t.End
	}
	if data >= 0 && end > data {
		return fmt.Errorf("%s: %w: its tensors have %d bytes, %d are there", name, input.ErrTruncated, end, data)
	}
	if data >= 0 && end < data {
		return syntax(name, -1, "%d bytes stand behind the last tensor", data-end)
	}
	return nil
}

func syntax(name string, offset int64, format string, args ...any) error {
	return &input.SyntaxError{File: name, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// shortened bounds what an error quotes.
func shortened(s string) string {
	const limit = 80
	if len(s) > limit {
		return s[:limit] + "..."
	}
	return s
}

// product is the number of elements of a shape, or false when it is absurd.
func product(shape []int64) (int64, bool) {
	n := int64(1)
	for _, d := range shape {
		if d != 0 && n > math.MaxInt64/8/max(d, 1) {
			return 0, false
		}
		n *= d
	}
	return n, n <= 1<<60
}
