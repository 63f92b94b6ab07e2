package input

import (
	"errors"
	"io"
)

// ErrLarge says that a value takes more bytes than one may.
var ErrLarge = errors.New("value is too large")

// A Guard bounds how much of a file one value may take, for decoders that hold a
// value as a whole. Who reads values sets Left before each.
type Guard struct {
	Src  io.Reader
	Left int64 // bytes that may still be read
}

// Read reads from the source, and is ErrLarge once nothing is left.
func (g *Guard) Read(p []byte) (int, error) {
	if g.Left <= 0 {
		return 0, ErrLarge
	}
	n, err := g.Src.Read(p)
	g.Left -= int64(n)
	return n, err
}
