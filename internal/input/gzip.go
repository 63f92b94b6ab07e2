package input

import (
	"bytes"
	"compress/gzip"
	"io"
)

// IsGzip reports whether a file that begins with prefix is compressed by gzip.
func IsGzip(prefix []byte) bool { return bytes.HasPrefix(prefix, []byte("\x1f\x8b")) }

// Gunzipped is the beginning of what a file holds that begins with prefix: at
// most 4 KiB of a compressed one, else the prefix itself.
func Gunzipped(prefix []byte) []byte {
	if !IsGzip(prefix) {
		return prefix
	}
	z, err := gzip.NewReader(bytes.NewReader(prefix))
	if err != nil {
		return nil
	}
	out := make([]byte, 4<<10)
	n, _ := io.ReadFull(z, out) // the prefix ends in the middle
	return out[:n]
}
