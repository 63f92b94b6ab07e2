package report_test

import (
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/report"
)

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0 %", 0.001: "<1 %", 0.59: "59 %", 0.999: ">99 %", 1: "100 %", 1.18: "118 %", 1e9: ">9999 %", -0.5: "-50 %",
	} {
		if got := report.Percent(share); got != want {
			t.Errorf("Percent(%g) = %q, want %q", share, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -1 << 63: "-9,223,372,036,854,775,808",
	} {
		if got := report.Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestOptionsFor(t *testing.T) {
	for _, c := range []struct {
		name     string
		env      map[string]string
		terminal bool
		color    bool
		ascii    bool
	}{
		{"a terminal in a UTF-8 locale", map[string]string{"LANG": "de_DE.UTF-8"}, true, true, false},
		{"a file", map[string]string{"LANG": "C.utf8"}, false, false, false},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, true, false, false},
		{"a dumb terminal", map[string]string{"TERM": "dumb"}, true, false, false},
		{"LC_ALL overrules LANG", map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, true, true, true},
		{"a Latin-1 locale", map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1"}, true, true, true},
		{"no locale at all", nil, true, true, false},
	} {
		o := report.OptionsFor(func(k string) string { return c.env[k] }, c.terminal, 100)
		if o.Color != c.color || o.ASCII != c.ascii || o.Width != 100 {
			t.Errorf("%s: %+v", c.name, o)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"train.py", "a\x1b[31m", "\u202e", "\xff", "é", "\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := report.Printable(s)
		for _, r := range out {
			if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r == 0x2028 {
				t.Fatalf("Printable(%q) has %q", s, r)
			}
		}
		if report.Printable(out) != out {
			t.Fatalf("Printable(%q) changes when done twice", s)
		}
	})
}
