//go:build cgo

package pyast

import (
	"slices"
	"strings"
	"testing"
)

func TestReadingIsTheTree(t *testing.T) {
	for _, src := range []string{"", "x", everything, "def f(:\n  x = (\nclass", strings.Repeat("(", 900), strings.Repeat("\n", 300) + "  x = 'ä' # ö\n"} {
		whole, err := parseTree([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		r := whole.pack(len(src))
		if got := r.unpack(); !slices.Equal(got.nodes, whole.nodes) {
			t.Errorf("%.40q: %d nodes come back as others", src, len(whole.nodes))
		}
		if most := 40 + 6*len(whole.nodes); r.Size() > most {
			t.Errorf("%.40q: %d bytes for %d nodes", src, r.Size(), len(whole.nodes))
		}
	}
	m, r, err := ParseKeeping([]byte("x = 1\n"))
	if err != nil || len(m.Body) != 1 {
		t.Fatal(m, err)
	}
	if other, err := r.Parse([]byte("x = 1\ny = 2\n")); err != nil || len(other.Body) != 2 {
		t.Error("the reading of one file was used for another", err)
	}
}
