package text

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/corpus"
)

var update = flag.Bool("update", os.Getenv("PLIMSOLL_UPDATE") != "", "rewrite the golden files")

// ways are the options that have goldens, by the end of the file's name.
var ways = []struct {
	name    string
	options report.Options
}{
	{"w80", report.Options{}},
	{"w40", report.Options{Width: 40}},
	{"w200.verbose", report.Options{Width: 200, Verbose: true}},
	{"w80.ascii", report.Options{ASCII: true}},
	{"w80.color", report.Options{Color: true}},
}

func render(t *testing.T, r *report.Report, o report.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Render(&out, r, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	for _, e := range corpus.All() {
		for _, way := range ways {
			name := e.Name + "." + way.name + ".txt"
			t.Run(name, func(t *testing.T) {
				got := render(t, e.Report, way.options)
				file := filepath.Join("testdata", name)
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", file, diff)
				}
			})
		}
	}
}

func TestEveryLineFitsTheWidth(t *testing.T) {
	for _, e := range corpus.All() {
		for width := leastWidth; width <= 210; width += 10 {
			for _, ascii := range []bool{false, true} {
				out := render(t, e.Report, report.Options{Width: width, ASCII: ascii, Verbose: true})
				for line := range strings.Lines(out) {
					if n := cells(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%s at %d: %d columns: %q", e.Name, width, n, line)
					}
				}
			}
		}
	}
}

func TestNothingButTextComesOut(t *testing.T) {
	for _, e := range corpus.All() {
		for _, ascii := range []bool{false, true} {
			out := render(t, e.Report, report.Options{ASCII: ascii, Verbose: true})
			for i, r := range out {
				if r == '\n' {
					continue
				}
				if !unicode.IsPrint(r) || r == unicode.ReplacementChar || ascii && r > '~' {
					t.Fatalf("%s, ascii %v: %q in %q", e.Name, ascii, r, out[max(0, i-20):min(len(out), i+20)])
				}
			}
		}
	}
}

func TestColorOnlyAddsColor(t *testing.T) {
	for _, e := range corpus.All() {
		plain := render(t, e.Report, report.Options{})
		colored := render(t, e.Report, report.Options{Color: true})
		for _, sgr := range []string{bold, dim, red, green, yellow, cyan, "0"} {
			colored = strings.ReplaceAll(colored, fmt.Sprintf("\x1b[%sm", sgr), "")
		}
		var trimmed strings.Builder
		for line := range strings.Lines(colored) {
			trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		if diff := cmp.Diff(plain, trimmed.String()); diff != "" {
			t.Errorf("%s differs without its colours (-plain +colored):\n%s", e.Name, diff)
		}
	}
}

func TestTheShortAnswerFitsAScreen(t *testing.T) {
	for _, name := range []string{"fits", "does-not-fit"} {
		for _, e := range corpus.All() {
			if e.Name == name {
				if n := strings.Count(render(t, e.Report, report.Options{}), "\n"); n > 45 {
					t.Errorf("%s takes %d lines", name, n)
				}
			}
		}
	}
}
