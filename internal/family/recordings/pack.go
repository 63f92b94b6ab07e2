package recordings

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Extension is what the names of packed files end with. Zstandard, since tapes of
// one family are alike and lie further apart than gzip looks back: files are half
// as large, and are read ten times as fast.
const Extension = ".sym.zst"

// most is more than the text of any file has.
const most = 256 << 20

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
