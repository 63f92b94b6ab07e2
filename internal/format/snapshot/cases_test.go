package snapshot

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/internal/input"
)

func TestPublicRecordings(t *testing.T) {
	dir := os.Getenv("PLIMSOLL_CASES")
	if dir == "" {
		t.Skip("PLIMSOLL_CASES is not set")
	}
	text, err := os.ReadFile(filepath.Join(dir, "snapshots", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]Facts
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for name, w := range want {
		t.Run(name, func(t *testing.T) {
			got := readFile(t, filepath.Join(dir, "snapshots", name)).Facts
			if diff := cmp.Diff(got, w); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

func readFile(t testing.TB, path string) *Snapshot {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(bytes.NewReader(data), int64(len(data)), filepath.Base(path), input.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
