package all_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/report"
	"github.com/plimsoll-dev/plimsoll/internal/report/all"
	"github.com/plimsoll-dev/plimsoll/internal/report/corpus"
)

// TestEveryFormatRendersEveryReport is the contract of a renderer.
func TestEveryFormatRendersEveryReport(t *testing.T) {
	for _, f := range all.Formats() {
		for _, e := range corpus.All() {
			t.Run(f.Name+"/"+e.Name, func(t *testing.T) {
				var first, second bytes.Buffer
				if err := f.Render(&first, e.Report, report.Options{}); err != nil {
					t.Fatal(err)
				}
				if err := f.Render(&second, e.Report, report.Options{}); err != nil {
					t.Fatal(err)
				}
				if first.String() != second.String() {
					t.Error("two prints of one report differ")
				}
				full := errors.New("disk is full")
				if err := f.Render(errWriter{full}, e.Report, report.Options{}); first.Len() > 0 && !errors.Is(err, full) {
					t.Errorf("the writer's error came back as %v", err)
				}
			})
		}
	}
}

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

func TestLookup(t *testing.T) {
	for _, name := range all.Names() {
		f, err := all.Lookup(name)
		if err != nil || f.Name != name || f.Help == "" {
			t.Errorf("Lookup(%q) = %q, %v", name, f.Name, err)
		}
	}
	_, err := all.Lookup("yaml")
	if err == nil || !strings.Contains(err.Error(), "text, json, html") {
		t.Errorf("Lookup of an unknown format: %v", err)
	}
}
