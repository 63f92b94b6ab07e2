package text

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

// words that differ in how many columns and bytes their letters take.
var anyText = rapid.StringOf(rapid.SampledFrom([]rune("ab /.:é日本🙂e\u0301 12 GiB %")))

func TestCutTextsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := report.Printable(anyText.Draw(t, "s")), rapid.IntRange(0, 30).Draw(t, "n")
		for _, g := range []glyphs{unicodeGlyphs, asciiGlyphs} {
			for what, cut := range map[string]string{"end": g.cutEnd(s, n), "start": g.cutStart(s, n), "middle": g.cutMiddle(s, n)} {
				if cells(cut) > n {
					t.Fatalf("cut at the %s to %d: %q has %d", what, n, cut, cells(cut))
				}
				if cells(s) <= n && cut != s {
					t.Fatalf("cut at the %s: %q was short enough", what, s)
				}
			}
		}
	})
}

func TestWrappedTextsFitAndKeepTheirWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := report.Printable(anyText.Draw(t, "s")), rapid.IntRange(2, 30).Draw(t, "n")
		lines := wrap(s, n)
		for _, l := range lines {
			if cells(l) > n {
				t.Fatalf("wrapped to %d: %q has %d", n, l, cells(l))
			}
		}
		bare := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if bare(strings.Join(lines, "")) != bare(strings.Join(strings.Fields(s), "")) {
			t.Fatalf("%q became %q", s, lines)
		}
	})
}

func TestNumbersStayWithTheirUnits(t *testing.T) {
	got := strings.Join(wrap("the card offers 10.9 GiB, of which 62 % is used", 20), "|")
	if want := "the card offers|10.9 GiB, of which|62 % is used"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
