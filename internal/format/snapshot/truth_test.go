package snapshot

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/tape"
	"github.com/plimsoll-dev/plimsoll/unit"
)

// truth is what testdata/make.py knows about a file that it made. Layouts
// are lines as layoutOf writes them.
type truth struct {
	Devices []struct {
		Device         uint8
		Events         int
		Initial, Final []string
	}
}

func TestStateBeforeTheFirstEvent(t *testing.T) { checkTruths(t, "testdata") }

// The files of this machine's Python need not have the same bytes as ours.
func TestFilesOfThisPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, "testdata/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkTruths(t, dir)
}

func checkTruths(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".truth.json")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want truth
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			checkTruth(t, readFile(t, filepath.Join(dir, name+".pickle")), want)
		})
	}
}

func checkTruth(t *testing.T, s *Snapshot, want truth) {
	t.Helper()
	if len(s.Tapes) != len(want.Devices) {
		t.Fatalf("got %d tapes, want %d", len(s.Tapes), len(want.Devices))
	}
	for i, w := range want.Devices {
		if s.Devices[i] != w.Device || s.Tapes[i].Len() != w.Events {
			t.Errorf("got device %d with %d events, want %d with %d", s.Devices[i], s.Tapes[i].Len(), w.Device, w.Events)
		}
		if diff := cmp.Diff(layoutOf(s.Tapes[i], s.Tapes[i].Initial), w.Initial); diff != "" {
			t.Errorf("device %d before the first event, -got +want\n%s", w.Device, diff)
		}
		if diff := cmp.Diff(layoutOf(s.Tapes[i], s.Final[i]), w.Final); diff != "" {
			t.Errorf("device %d at the end, -got +want\n%s", w.Device, diff)
		}
	}
}

func layoutOf(tp *tape.Tape, segments []tape.Segment) []string {
	names := map[tape.State]string{tape.Active: "active_allocated", tape.PendingFree: "active_pending_free"}
	out := []string{}
	for _, s := range segments {
		line := fmt.Sprintf("%d %d stream %d %s", s.Addr, s.Bytes, tp.StreamHandle(s.Stream), map[bool]string{true: "small", false: "large"}[s.Small])
		if s.Expandable {
			line += " expandable"
		}
		out = append(out, line)
		var free unit.Bytes
		for _, b := range s.Blocks {
			if b.State == tape.Inactive {
				free += b.Bytes
				continue
			}
			out = appendFree(out, free)
			free = 0
			out = append(out, fmt.Sprintf("  %d %d %d %s", b.Addr, b.Bytes, b.Requested, names[b.State]))
		}
		out = appendFree(out, free)
	}
	return out
}

// appendFree tells of free memory, whose pieces are one for the tests.
func appendFree(out []string, size unit.Bytes) []string {
	if size == 0 {
		return out
	}
	return append(out, fmt.Sprintf("  %d free", size))
}
