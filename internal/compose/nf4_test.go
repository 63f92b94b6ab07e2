package compose

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/symbolic/kernel"
	"github.com/plimsoll-dev/plimsoll/tape"
)

func TestNF4(t *testing.T) {
	var file struct {
		Device kernel.Device
		Cases  []struct {
			ID      string
			Nested  bool
			Element int64
			Shapes  [][]int64
			Steps   []string
		}
	}
	unpack(t, "testdata/nf4-0.50.json.gz", &file)
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			var w tape.Writer
			q := NF4{Nested: c.Nested, Device: file.Device}
			at := 0
			for i, want := range c.Steps {
				kept := q.Quantize(&w, Param{Shape: c.Shapes[i], Element: c.Element})
				got := words(w.Tape(), at)
				at = w.Tape().Len()
				if got, want := settle(got), settle(strings.Fields(want)); !slices.Equal(got, want) {
					t.Errorf("%v: %s", c.Shapes[i], difference(got, want))
				}
				for _, b := range kept {
					if w.Tape().Block(b).Free >= 0 {
						t.Errorf("%v: block %d does not stay", c.Shapes[i], b)
					}
				}
			}
		})
	}
}
