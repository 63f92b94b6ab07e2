//go:build cgo

package pyast

import (
	"os"
	"testing"
)

// BenchmarkParse reads the file that PLIMSOLL_PYTHON_FILE names, or a small
// one again and again.
func BenchmarkParse(b *testing.B) {
	src := []byte(everything)
	if name := os.Getenv("PLIMSOLL_PYTHON_FILE"); name != "" {
		raw, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		src = raw
	}
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(src); err != nil {
			b.Fatal(err)
		}
	}
}
