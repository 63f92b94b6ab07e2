package recordings

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Extension is what the names of packed files end with. Zstandard, since tapes of
// one family are alike and lie further apart than gzip looks back: files are half
// as large, and are read ten times as fast.
const Extension = ".sym.zst"

// window is further than any file is long, and most is more than any file has.
const (
	window = 8 << 20
	most   = 256 << 20
)

// Pack packs the text of a file, always to the same bytes.
func Pack(text []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(text, nil), z.Close()
}

// Unpack is the text of a packed file.
func Unpack(packed []byte) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return text, nil
}
