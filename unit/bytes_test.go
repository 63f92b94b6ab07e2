package unit

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestString(t *testing.T) {
	for _, c := range []struct {
		in   Bytes
		want string
	}{
		{0, "0 B"}, {1, "1 B"}, {512, "512 B"}, {1023, "1023 B"}, {KiB, "1.00 KiB"}, {1536, "1.50 KiB"},
		{10*KiB - 1, "10.0 KiB"}, {1010 * KiB, "1010 KiB"}, {MiB - 1, "1.00 MiB"}, {20 * MiB, "20.0 MiB"},
		{84929236173, "79.1 GiB"}, {80 * GiB, "80.0 GiB"}, {100 * GiB, "100 GiB"}, {2 * TiB, "2.00 TiB"},
		{-1536, "-1.50 KiB"}, {math.MaxInt64, "8.00 EiB"}, {math.MinInt64, "-8.00 EiB"},
	} {
		if got := c.in.String(); got != c.want {
			t.Errorf("Bytes(%d).String() = %q, want %q", int64(c.in), got, c.want)
		}
	}
}

func TestStringIsWithinHalfAPercent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Bytes(rapid.Int64Range(0, 1<<60).Draw(t, "n"))
		digits, name, _ := strings.Cut(n.String(), " ")
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			t.Fatal(err)
		}
		size, err := factor("1", name)
		if err != nil {
			t.Fatal(err)
		}
		if got := v * float64(size); math.Abs(got-float64(n)) > 0.0051*float64(n) {
			t.Fatalf("%d is written as %q", int64(n), n.String())
		}
		if len(strings.Trim(strings.ReplaceAll(digits, ".", ""), "0")) > 4 || v >= 1024 {
			t.Fatalf("%d is written as %q", int64(n), n.String())
		}
	})
}

func TestRoundUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := Bytes(1) << rapid.IntRange(0, 30).Draw(t, "log2 step")
		n := Bytes(rapid.Int64Range(0, 1<<45).Draw(t, "n"))
		got := n.RoundUp(step)
		if got < n || got-n >= step || got%step != 0 {
			t.Fatalf("RoundUp(%d, %d) = %d", n, step, got)
		}
	})
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Bytes
	}{
		{"40GiB", 40 * GiB}, {"40 GiB", 40 * GiB}, {" 512MiB ", 512 * MiB}, {"1073741824", GiB}, {"1.5gib", 3 * GiB / 2},
		{"0", 0}, {"12 B", 12}, {"7b", 7}, {"2TiB", 2 * TiB}, {"0.1KiB", 102},
	} {
		if got, err := Parse(c.in); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %d, %v, want %d", c.in, got, err, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"40GB", "write 40GiB"}, {"40G", "write 40GiB"}, {"1.5 m", "write 1.5MiB"}, {"40 apples", "unknown unit"},
		{"", "want a number"}, {"GiB", "want a number"}, {"-3GiB", "want a number"}, {"1..5GiB", "want a number"},
		{"1e3", "want a number"}, {"0.5", "fraction of a byte"}, {"99999999999999999999", "larger than any memory"},
		{"9EiB", "larger than any memory"}, {".", "want a number"}, {"1_000", "want a number"}, {"0x10", "want a number"},
	} {
		got, err := Parse(c.in)
		if err == nil {
			t.Errorf("Parse(%q) = %d, want an error", c.in, got)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q): %v, want %q in it", c.in, err, c.want)
		}
	}
}

func TestParseReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Bytes(rapid.Int64Range(0, 1<<60).Draw(t, "n"))
		got, err := Parse(n.String())
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != n.String() {
			t.Fatalf("%d is written as %s and read back as %d, %s", int64(n), n, int64(got), got)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"40GiB", "40GB", "1.5 MiB", "", "1..2", "9999999999999999999999EiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := Parse(s); err == nil && n < 0 {
			t.Fatalf("Parse(%q) = %d", s, n)
		}
	})
}
