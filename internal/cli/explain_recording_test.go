package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/internal/explain"
)

// recordingFiles are snapshots of this repository and of the cases.
func recordingFiles(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{filepath.Join(explainFixtures, "*.pickle"), filepath.Join(os.Getenv("PLIMSOLL_CASES"), "snapshots", "*.pickle")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f, err = filepath.Abs(f); err != nil {
				t.Fatal(err)
			}
			list = append(list, f)
		}
	}
	return list
}

// What a change saves is the difference of two numbers that are printed.
func TestExplainSavingsAreDifferences(t *testing.T) {
	for _, file := range recordingFiles(t) {
		doc := explainJSON(t, ExitOK, file)
		var replay replayPart
		if err := json.Unmarshal(doc["replay"], &replay); err != nil {
			t.Fatal(err)
		}
		of := map[int]replayDevice{}
		for _, d := range replay.Devices {
			of[d.Device] = d
		}
		var list []counterfactualPart
		if doc["counterfactuals"] != nil {
			if err := json.Unmarshal(doc["counterfactuals"], &list); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range list {
			base := of[c.Device].Replayed.Reserved
			if c.Anew {
				base = of[c.Device].Anew.Reserved
			}
			if base-c.Reserved != c.Saves {
				t.Errorf("%s: %s comes to %d of %d, and saves %d", filepath.Base(file), c.Name, c.Reserved, base, c.Saves)
			}
		}
	}
}

// The short table has the row of each remedy, and no call sites that cannot
// be told apart.
func TestExplainShowsTheRowOfEachRemedy(t *testing.T) {
	for _, file := range recordingFiles(t) {
		f, err := readRecording(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := f.explain(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e := leadOf(list)
		o := explainOptions{Output: Output{Format: "text"}}
		s := counterfactualTable(e, o)
		if len(s.Table.Rows) > shortChanges+1 {
			t.Errorf("%s: %d rows", filepath.Base(file), len(s.Table.Rows))
		}
		shown := map[string]bool{}
		for _, r := range s.Table.Rows {
			shown[r[0].Text] = true
		}
		for i := range e.Counterfactuals {
			if c := &e.Counterfactuals[i]; e.Offers(c) && !shown[c.Name] && e.Check.Anew == nil {
				t.Errorf("%s: %q is advised, and its row is not shown", filepath.Base(file), c.Name)
			}
		}
	}
}

func TestExplainTellsCallSitesApart(t *testing.T) {
	for _, file := range recordingFiles(t) {
		stdio, out, errs := record()
		if exit := Run(t.Context(), []string{"explain", file}, stdio); exit != ExitOK {
			t.Fatalf("exit %d\n%s", exit, errs)
		}
		_, table, _ := strings.Cut(out.String(), "\nIn use ")
		table, _, _ = strings.Cut(table, "\n\n")
		seen := map[string]bool{}
		for _, line := range strings.Split(table, "\n") {
			for _, word := range strings.Fields(line) {
				if strings.Contains(word, "…") && strings.Contains(line, "forward") {
					if seen[word] {
						t.Errorf("%s: two rows read %q", filepath.Base(file), word)
					}
					seen[word] = true
				}
			}
		}
	}
}

// What was read of a file that is cut is told as a part in the first line.
func TestExplainHedgesWhatIsCut(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(explainFixtures, "steps.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.pickle")
	if err := os.WriteFile(cut, whole[:len(whole)-1000], 0o644); err != nil {
		t.Fatal(err)
	}
	stdio, out, errs := record()
	if exit := Run(t.Context(), []string{"explain", cut}, stdio); exit != ExitOK {
		t.Fatalf("exit %d\n%s", exit, errs)
	}
	first, _, _ := strings.Cut(out.String(), "\nwhy")
	first = strings.Join(strings.Fields(first), " ")
	if !strings.Contains(first, "as far as the file goes") || !strings.Contains(first, "cut at byte") {
		t.Errorf("%s", first)
	}
	out.Reset()
	if exit := Run(t.Context(), []string{"explain", "--compare", filepath.Join(explainFixtures, "steps.pickle"), cut}, stdio); exit != ExitOK {
		t.Fatalf("exit %d\n%s", exit, errs)
	}
	if !strings.HasPrefix(out.String(), "not comparable") {
		t.Errorf("%.300s", out)
	}
}

// What was there before the recording began is counted once: the warning and
// the verdict speak of what has no stack.
func TestExplainCountsWhatWasThereBeforeOnce(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	f, err := readRecording(filepath.Join(dir, "snapshots", "004-compile-context.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.explain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := list[0].Moment
	var unseen *explain.PlaceShare
	for i := range m.ByPlace {
		if s := &m.ByPlace[i]; strings.Contains(s.Place.String(), "before the recording") {
			unseen = s
		}
	}
	if unseen == nil || unseen.Bytes != m.Unseen || m.Unseen >= m.Before {
		t.Fatalf("%+v, of %d without a stack and %d in all", unseen, m.Unseen, m.Before)
	}
	for _, w := range adviceOf(list[0]) {
		if !strings.HasPrefix(w.Message, m.Unseen.String()) {
			t.Errorf("%s", w.Message)
		}
	}
}

// A recording on standard input is not searched for messages.
func TestExplainRefusesARecordingOnAPipe(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(explainFixtures, "steps.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	stdio, _, errs := record()
	stdio.In = bytes.NewReader(data)
	if exit := Run(t.Context(), []string{"explain", "-"}, stdio); exit != ExitFailed || !strings.Contains(errs.String(), "recording (snapshot)") {
		t.Errorf("exit %d, %s", exit, errs)
	}
}
