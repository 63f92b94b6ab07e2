package unit

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestColumn(t *testing.T) {
	c := NewColumn(27*GiB+100*MiB, 900*MiB, 3*MiB, 0)
	for _, tc := range []struct {
		in   Bytes
		want string
	}{
		{27*GiB + 100*MiB, "27.1 GiB"}, {900 * MiB, "0.9 GiB"}, {3 * MiB, "<0.1 GiB"}, {-3 * MiB, ">-0.1 GiB"}, {0, "0.0 GiB"},
	} {
		if got := c.Format(tc.in); got != tc.want {
			t.Errorf("Format(%d) = %q, want %q", int64(tc.in), got, tc.want)
		}
	}
	if got := NewColumn().Format(0); got != "0 B" {
		t.Errorf("an empty column writes zero as %q", got)
	}
	if got := NewColumn(200 * GiB).Format(MiB); got != "<1 GiB" {
		t.Errorf("a column of large amounts writes 1 MiB as %q", got)
	}
}

func TestColumnHasOnePrefixAndNoFalseZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Map(rapid.Int64Range(-1<<50, 1<<50), func(n int64) Bytes { return Bytes(n) }), 1, 8).Draw(t, "amounts")
		c := NewColumn(amounts...)
		point := -1
		for _, a := range amounts {
			s := c.Number(a)
			if a != 0 && isZero(s) {
				t.Fatalf("%d is written as %q", int64(a), s)
			}
			after := len(s) - strings.IndexByte(s+".", '.')
			if point >= 0 && after != point {
				t.Fatalf("%v: %q has another number of decimals", amounts, s)
			}
			point = after
		}
	})
}
