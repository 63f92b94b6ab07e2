package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/view/viewtest"
	"github.com/plimsoll-dev/plimsoll/unit"
)

func viewJSON(t *testing.T, args ...string) viewDocument {
	t.Helper()
	stdio, out, errs := record()
	if exit := Run(t.Context(), append([]string{"view", "--format", "json"}, args...), stdio); exit != ExitOK {
		t.Fatalf("exit %d\n%s", exit, errs)
	}
	checkSchema(t, "view.schema.json", out.Bytes())
	var doc viewDocument
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestViewOfHostileTape(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hostile.tape")
	if err := writeTape(file, viewtest.Hostile()); err != nil {
		t.Fatal(err)
	}
	doc := viewJSON(t, file)
	var sum unit.Bytes
	for _, l := range doc.Devices[0].Lines {
		sum += l.Bytes
	}
	if peak := doc.Devices[0].Peak; sum != peak.Allocated || doc.Devices[0].PeakReserved != nil {
		t.Errorf("the lines hold %d of %d bytes", sum, peak.Allocated)
	}
	for _, format := range viewFormats[1:] {
		stdio, _, errs := record()
		out := filepath.Join(t.TempDir(), "out")
		if exit := Run(t.Context(), []string{"view", file, "--format", format, "-o", out}, stdio); exit != ExitOK {
			t.Errorf("%s: exit %d\n%s", format, exit, errs)
		}
	}
}

// TestViewTellsWhatIsMissing cuts a snapshot: what is there is shown, and
// --strict says that it is not all.
func TestViewTellsWhatIsMissing(t *testing.T) {
	cases := os.Getenv("PLIMSOLL_CASES")
	if cases == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	text, err := os.ReadFile(filepath.Join(cases, "snapshots", "003-forward-only.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cut.pickle")
	if err := os.WriteFile(file, text[:len(text)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	doc := viewJSON(t, file)
	if d := doc.Devices[0]; len(d.Warnings) == 0 || d.Blocks == 0 {
		t.Errorf("%d blocks and %d warnings", d.Blocks, len(d.Warnings))
	}
	stdio, _, _ := record()
	if exit := Run(t.Context(), []string{"view", "--strict", "--format", "json", file}, stdio); exit != ExitGaps {
		t.Errorf("exit %d, want %d", exit, ExitGaps)
	}
}
