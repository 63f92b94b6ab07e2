package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const explainFixtures = "../explain/testdata"

// explainJSON runs explain and returns its document, checked by the schema.
func explainJSON(t *testing.T, exit Exit, args ...string) map[string]json.RawMessage {
	t.Helper()
	stdio, out, errs := record()
	if got := Run(t.Context(), append([]string{"explain", "--format", "json"}, args...), stdio); got != exit {
		t.Fatalf("exit %d, want %d\n%s", got, exit, errs)
	}
	checkSchema(t, "explain.schema.json", out.Bytes())
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestExplainGivesTheFactsOfSnapshots(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "snapshots", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		t.Run(name, func(t *testing.T) {
			doc := explainJSON(t, ExitOK, "--strict", filepath.Join(dir, "snapshots", name))
			var got any
			if err := json.Unmarshal(doc["snapshot"], &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, w); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
			var replay struct {
				Exact   bool
				Devices []struct{ Checked, Exact bool }
			}
			if err := json.Unmarshal(doc["replay"], &replay); err != nil {
				t.Fatal(err)
			}
			for _, d := range replay.Devices {
				if d.Checked && !d.Exact {
					t.Errorf("the replay is not exact: %s", doc["replay"])
				}
			}
		})
	}
}

// The answers for people, word by word. PLIMSOLL_UPDATE=1 writes them anew.
func TestExplainRecordingsInWords(t *testing.T) {
	for _, name := range []string{"holes", "stream", "full", "leak", "hoard", "steps"} {
		t.Run(name, func(t *testing.T) {
			stdio, out, errs := record()
			t.Chdir(explainFixtures)
			if exit := Run(t.Context(), []string{"explain", name + ".pickle"}, stdio); exit != ExitOK {
				t.Fatalf("exit %d\n%s", exit, errs)
			}
			checkGolden(t, "../../cli/testdata/explain/"+name+".txt", out.Bytes())
		})
	}
}

func checkGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if os.Getenv("PLIMSOLL_UPDATE") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A file that is cut tells what it can, from where on it is missing, and ends
// with 3 under --strict.
func TestExplainAFileThatIsCut(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(explainFixtures, "leak.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.pickle")
	told, nothing := 0, 0
	for n := 0; n < len(whole); n += max(1, len(whole)/97) {
		if err := os.WriteFile(cut, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		stdio, out, errs := record()
		switch exit := Run(t.Context(), []string{"explain", "--strict", cut}, stdio); exit {
		case ExitGaps:
			told++
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "the file ends early, at byte") {
				t.Errorf("cut at %d: the answer does not say where\n%s", n, out)
			}
		case ExitFailed:
			nothing++
			if !strings.Contains(errs.String(), "byte") && !strings.Contains(errs.String(), "empty") {
				t.Errorf("cut at %d: %s", n, errs)
			}
		default:
			t.Fatalf("cut at %d: exit %d", n, exit)
		}
	}
	if told < 50 || nothing == 0 {
		t.Errorf("%d cuts tell something, %d nothing", told, nothing)
	}
}

func TestExplainRefusesWhatIsNoSnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		data, says string
	}{
		"a global":         {"\x80\x04cos\nsystem\n(\x8c\x02lstR.", `byte 2: opcode GLOBAL of "os.system" is refused`},
		"a huge length":    {"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f", "byte"},
		"deep nesting":     {"\x80\x04" + strings.Repeat("(", 1_000_000) + ".", "nested more than"},
		"a wild memo":      {"\x80\x02]r\xff\xff\xff\x7f.", "memo slot 2147483647"},
		"another pickle":   {"\x80\x04]\x94.", "nothing was allocated"},
		"an empty file":    {"", "the file is empty"},
		"a zip archive":    {"PK\x03\x04", "ZIP archive"},
		"a later protocol": {"\x80\x09.", "protocol 9"},
		"protocol 0":       {"cos\nsystem\n(S'ls'\ntR.", "neither a pickle of protocol 2 to 5 nor JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "hostile.pickle")
			if err := os.WriteFile(file, []byte(c.data), 0o644); err != nil {
				t.Fatal(err)
			}
			stdio, out, errs := record()
			exit := Run(t.Context(), []string{"explain", file}, stdio)
			if exit != ExitFailed || out.Len() > 0 || !strings.Contains(errs.String(), c.says) {
				t.Errorf("exit %d, %q, %q", exit, out, errs)
			}
		})
	}
}

func TestExplainATape(t *testing.T) {
	var whole bytes.Buffer
	f, err := readRecording(filepath.Join(explainFixtures, "steps.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.inputs[0].Tape.WriteTo(&whole); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "steps.tape")
	if err := os.WriteFile(name, whole.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	doc := explainJSON(t, ExitOK, name)
	if !bytes.Contains(doc["input"], []byte(`"tape"`)) || !bytes.Contains(doc["replay"], []byte(`"exact": true`)) || doc["snapshot"] != nil {
		t.Errorf("%s, %s", doc["input"], doc["replay"])
	}
}

func TestCompareRecordings(t *testing.T) {
	stdio, out, errs := record()
	a, b := filepath.Join(explainFixtures, "leak.pickle"), filepath.Join(explainFixtures, "hoard.pickle")
	if exit := Run(t.Context(), []string{"explain", "--compare", "--format", "json", a, b}, stdio); exit != ExitOK {
		t.Fatalf("exit %d\n%s", exit, errs)
	}
	checkSchema(t, "comparison.schema.json", out.Bytes())
	t.Chdir(explainFixtures)
	out.Reset()
	if exit := Run(t.Context(), []string{"explain", "--compare", "leak.pickle", "hoard.pickle"}, stdio); exit != ExitOK {
		t.Fatalf("exit %d\n%s", exit, errs)
	}
	checkGolden(t, "../../cli/testdata/explain/compare.txt", out.Bytes())
}

func TestRanksAreExplainedTogether(t *testing.T) {
	t.Chdir(explainFixtures)
	stdio, out, errs := record()
	if exit := Run(t.Context(), []string{"explain", "leak.pickle", "hoard.pickle"}, stdio); exit != ExitOK {
		t.Fatalf("exit %d\n%s", exit, errs)
	}
	checkGolden(t, "../../cli/testdata/explain/ranks.txt", out.Bytes())
}

func TestExplainATraceOfTheProfiler(t *testing.T) {
	t.Chdir("../format/kineto/testdata")
	stdio, out, errs := record()
	if exit := Run(t.Context(), []string{"explain", "stacks.json.gz"}, stdio); exit != ExitOK {
		t.Fatalf("exit %d\n%s", exit, errs)
	}
	checkGolden(t, "../../../cli/testdata/explain/trace.txt", out.Bytes())
	t.Chdir("../../../cli")
	doc := explainJSON(t, ExitOK, "../format/kineto/testdata/plain.json.gz")
	if !bytes.Contains(doc["input"], []byte(`"trace"`)) || !bytes.Contains(doc["replay"], []byte(`"exact": false`)) || doc["counterfactuals"] != nil {
		t.Errorf("%s, %s", doc["input"], doc["replay"])
	}
}

// With the size of the device it is told what others take of it.
func TestExplainTellsWhatOthersTake(t *testing.T) {
	doc := explainJSON(t, ExitOK, "--capacity", "400MiB", filepath.Join(explainFixtures, "holes.pickle"))
	var got recordingPart
	if err := json.Unmarshal(doc["recording"], &got); err != nil {
		t.Fatal(err)
	}
	// 200 MiB are reserved and 56 MiB free by the driver.
	if o := got.Devices[0].Failures[0].Outside; o == nil || *o != 144<<20 {
		t.Errorf("others take %v", o)
	}
}

// People compress snapshots; they are unpacked on the way.
func TestExplainACompressedSnapshot(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(explainFixtures, "holes.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	pack := func(data []byte) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "holes.pickle.gz")
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	doc := explainJSON(t, ExitOK, pack(data))
	if !bytes.Contains(doc["input"], []byte(`"snapshot"`)) || !bytes.Contains(doc["replay"], []byte(`"exact": true`)) {
		t.Errorf("%s, %s", doc["input"], doc["replay"])
	}
	stdio, _, errs := record()
	bomb := append([]byte("\x80\x04X\x00\x00\x00\x7f"), make([]byte, 8<<20)...)
	if exit := Run(t.Context(), []string{"explain", pack(bomb)}, stdio); exit != ExitFailed || !strings.Contains(errs.String(), "times its size") {
		t.Errorf("exit %d, %s", exit, errs)
	}
}
